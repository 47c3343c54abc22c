/**
 * How much of the door process's time and disk whoever relays may take: a bucket for each kind of work, refilled steadily.
 *
 * An honest relay never meets it. Not promised: fairness between two relays; there is one.
 */
import { elapsedMs, type MonoMs } from '#shared/instant.ts';

const budgets = {
  /** Questions, each a signature or a few reads. */
  ask: { perSecond: 20, burst: 60 },
  /** Stretches of history read from the disk. */
  journal: { perSecond: 10, burst: 20 },
  /** Whole kinds of rows summed. */
  sums: { perSecond: 0.5, burst: 8 },
  /** Statements to prove. */
  deliver: { perSecond: 50, burst: 200 },
  /** Their characters. */
  characters: { perSecond: 8_000_000, burst: 24_000_000 },
} as const;
export type RelayWork = keyof typeof budgets;

export class RelayBudget {
  readonly #now: () => MonoMs;
  readonly #left = new Map<RelayWork, { readonly amount: number; readonly at: MonoMs }>();

  constructor(now: () => MonoMs) {
    this.#now = now;
  }

  /** @returns false where too much was asked for of late; then nothing is taken. */
  take(work: RelayWork, amount = 1): boolean {
    const { perSecond, burst } = budgets[work];
    const at = this.#now();
    const before = this.#left.get(work) ?? { amount: burst, at };
    const left = Math.min(burst, before.amount + (elapsedMs(before.at, at) / 1_000) * perSecond);
    const isGiven = left >= amount;
    this.#left.set(work, { amount: isGiven ? left - amount : left, at });
    return isGiven;
  }
}
