/** Which gateway of which facility: whose feed, whose history. */
export interface QueueOwner {
  readonly facilityId: string;
  readonly gatewayId: string;
}
