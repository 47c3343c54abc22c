/**
 * What a poll is answered with, from what the gateway's door process signed last and how far the feed reaches.
 *
 * The query comes from edge and proves nothing. So statements are made only for the epoch that a signed ack named: a lying
 * edge cannot collect changes for a snapshot that is yet to come.
 */
export interface PollFacts {
  readonly query: { readonly epoch: number; readonly after: number };
  /** The last signed ack; `undefined` before the first. */
  readonly acked: { readonly epoch: number; readonly cursor: number; readonly isSame: boolean } | undefined;
  readonly headSeq: number;
  /** The oldest change that is still kept; `headSeq + 1` where none is. */
  readonly oldestSeq: number;
}

export type PollAnswer =
  /** Nothing can be built upon what it has: a whole snapshot. Commands and urgent rows go with it all the same. */
  | { readonly kind: 'snapshot-needed' }
  | {
      readonly kind: 'feed';
      /** Changes after `from`; without any the poll waits. */
      readonly from: number;
      /** It is more than one batch behind: current rows of all restrictions go first. The caller knows the batch. */
      readonly behind: number;
      /** Its acked state is the head's: this nonce may be answered with contact. */
      readonly isAtHead: boolean;
    };

export function judgePoll({ query, acked, headSeq, oldestSeq }: PollFacts): PollAnswer {
  if (query.epoch === 0 || acked === undefined || query.epoch !== acked.epoch) return { kind: 'snapshot-needed' };
  if (query.after > headSeq || query.after + 1 < oldestSeq) return { kind: 'snapshot-needed' };
  const isAtHead = acked.cursor === headSeq && query.after === headSeq && acked.isSame;
  return { kind: 'feed', from: query.after, behind: headSeq - query.after, isAtHead };
}
