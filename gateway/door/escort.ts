/**
 * Two persons: the first granted holder waits at the door, the second within 15 s opens it.
 *
 * The first request is refused with ESCORT_REQUIRED and starts the wait; the same holder again only renews it.
 * Waits live in memory: after a restart both present again.
 */
import type { HolderId } from '#shared/identifier.ts';
import { later, type MonoMs } from '#shared/instant.ts';
import type { Decision } from './decision.ts';

/** How long the first holder waits for the second, ms. */
const escortWaitMs = 15_000;

export interface EscortWait {
  readonly holder: HolderId;
  /** The wait is over at this moment. */
  readonly until: MonoMs;
}

/** Who waits at this door `at`; goes into the facts. */
export function escortWaiting(wait: EscortWait | undefined, at: MonoMs): HolderId | undefined {
  return wait !== undefined && at < wait.until ? wait.holder : undefined;
}

/** Whether a second holder is still missing. */
export function isEscortMissing(waiting: HolderId | undefined, presenting: HolderId): boolean {
  return waiting === undefined || waiting === presenting;
}

/** The wait after a decision at this door. A grant uses it up; other refusals leave it. */
export function stepEscort(wait: EscortWait | undefined, decision: Decision, at: MonoMs): EscortWait | undefined {
  if (decision.verdict === 'granted') return undefined;
  if (decision.code !== 'ESCORT_REQUIRED' || decision.holder === undefined) return wait;
  return { holder: decision.holder, until: later(at, escortWaitMs) };
}
