/**
 * One line of the table that `npm run bench` prints: a figure beside a limit or peer measured in the same run.
 */
export interface BenchRow {
  /** Which bar, such as `B2`. */
  readonly id: string;
  readonly what: string;
  /** The measured figure with its unit, as text for people. */
  readonly figure: string;
  /** What it is measured against, with its figure in the same run. */
  readonly peer: string;
  /** Figure over peer; the bar is about this number. */
  readonly ratio: number;
  /** The bar as written, such as `≤ 1.6`. */
  readonly bar: string;
  readonly ok: boolean;
}
