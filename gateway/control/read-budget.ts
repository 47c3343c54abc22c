/**
 * How much may be read from all callers of one socket: who sends more is read later, so that none keeps the door process
 * busy with what it is told.
 *
 * An honest caller never meets it: a snapshot of 100 000 credentials is read in some ten seconds.
 */
const bytesPerSecond = 8_000_000;
const linesPerSecond = 400;
/** What may come at once, in seconds of the above. */
const burstSeconds = 2;

export class ReadBudget {
  readonly #now: () => number;
  /** When everything that was read is paid for, ms. */
  #paidAt = 0;

  /** @param now monotonic, ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** @returns how long nothing more must be read, ms. */
  spend(bytes: number, lines: number): number {
    const now = this.#now();
    const costMs = (bytes / bytesPerSecond + lines / linesPerSecond) * 1_000;
    this.#paidAt = Math.max(this.#paidAt, now) + costMs;
    return Math.max(0, this.#paidAt - now - burstSeconds * 1_000);
  }
}
