/** What a verb wrote, as far as gateways must hear of it: ids, by kind. */
export interface Touched {
  /** Whether the facility’s own row may have changed. */
  readonly facility?: boolean;
  readonly schedules?: readonly string[];
  readonly holidays?: readonly string[];
  readonly doors?: readonly string[];
  readonly readers?: readonly string[];
  /** With all their credentials and grants. */
  readonly holders?: readonly string[];
}
