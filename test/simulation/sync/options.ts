/** Which things go wrong in one world, and how often. Each seed draws its own mixture: a world where all goes wrong at once hides much. */
import type { Random } from './random.ts';

/** Small, so that being behind by more than one batch is common. */
export const cutBatchLimits = { changesMax: 5, bytesMax: 1_000 };
export const uploadMax = 8;

export interface SimulationOptions {
  readonly activeMs: number;
  readonly cloudCrash: number;
  readonly doorCrash: number;
  readonly edgeCrash: number;
  readonly loss: number;
  readonly duplication: number;
  /** Milliseconds, usual and at worst. */
  readonly delayMs: number;
  readonly delayMaxMs: number;
  readonly hasPartitions: boolean;
  readonly hasLyingEdge: boolean;
  readonly diskError: number;
  /** Chance that the dispatcher comes late. */
  readonly lag: number;
  readonly hasClockJumps: boolean;
  readonly hasOldDisk: boolean;
  readonly hasLostTail: boolean;
  readonly hasLostReplica: boolean;
  readonly hasOldDatabase: boolean;
  readonly hasDrift: boolean;
  readonly hasShortRetention: boolean;
  readonly hasJournalBudget: boolean;
  readonly changeEveryMs: number;
  readonly swipeEveryMs: number;
}

export function drawOptions(random: Random): SimulationOptions {
  const often = (probability: number, value: number) => (random.chance(probability) ? value : 0);
  return {
    activeMs: random.int(60, 180) * 1_000,
    cloudCrash: often(0.5, random.next() * 0.02),
    doorCrash: often(0.5, random.next() * 0.02),
    edgeCrash: often(0.5, random.next() * 0.02),
    loss: often(0.5, random.next() * 0.2),
    duplication: often(0.5, random.next() * 0.2),
    delayMs: random.int(5, 200),
    delayMaxMs: random.chance(0.3) ? random.int(1_000, 12_000) : 300,
    hasPartitions: random.chance(0.4),
    hasLyingEdge: random.chance(0.35),
    diskError: often(0.25, random.next() * 0.08),
    lag: often(0.3, random.next()),
    hasClockJumps: random.chance(0.2),
    hasOldDisk: random.chance(0.1),
    hasLostTail: random.chance(0.1),
    hasLostReplica: random.chance(0.15),
    hasOldDatabase: random.chance(0.1),
    hasDrift: random.chance(0.15),
    hasShortRetention: random.chance(0.3),
    hasJournalBudget: random.chance(0.2),
    changeEveryMs: random.int(300, 6_000),
    swipeEveryMs: random.int(500, 3_000),
  };
}
