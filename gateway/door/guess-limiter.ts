/**
 * Slows PIN guessing at one reader.
 *
 * A sliding window: five failures within a minute lock the reader for PINs for a minute; each further lock doubles, up to
 * 15 minutes. A success never empties the window, since an attacker may hold a valid PIN of their own.
 * Not promised: protection of the lock itself, or of cards (their space is not guessable at the door).
 *
 * Pure: time arrives as `at`; the caller keeps the state with the entry it belongs to. Saved as spans, not as instants,
 * so that neither a wrong clock nor a restart unlocks a reader.
 */
import type { CanonicalValue } from '#shared/canonical.ts';
import { later, type MonoMs } from '#shared/instant.ts';

export interface GuessLimiter {
  /** Times of the failures that still count, oldest first; at most `failuresMax`. */
  readonly failures: readonly MonoMs[];
  /** No PIN is heard before this time; `undefined` = never locked. */
  readonly lockedUntil: MonoMs | undefined;
  /** How long the next lock lasts. */
  readonly nextLockMs: number;
}

export type GuessStep =
  | { readonly kind: 'heard'; readonly state: GuessLimiter }
  | { readonly kind: 'locked'; readonly state: GuessLimiter; readonly until: MonoMs };

export const failuresMax = 5;
export const windowMs = 60_000;
const firstLockMs = 60_000;
const longestLockMs = 15 * 60_000;

export const unlimited: GuessLimiter = { failures: [], lockedUntil: undefined, nextLockMs: firstLockMs };

/** Whether a PIN entered `at` may be looked up at all. */
export function isLocked(state: GuessLimiter, at: MonoMs): boolean {
  return state.lockedUntil !== undefined && at < state.lockedUntil;
}

/** Counts one failure. The fifth within the window locks; quiet for the longest lock forgives the doubling. */
export function stepFailure(state: GuessLimiter, at: MonoMs): GuessStep {
  const { lockedUntil } = state;
  const failures = [...state.failures.filter((t) => at - t < windowMs), at].slice(-failuresMax);
  const isForgiven = lockedUntil !== undefined && at - lockedUntil > longestLockMs;
  const nextLockMs = isForgiven ? firstLockMs : state.nextLockMs;
  if (failures.length < failuresMax) return { kind: 'heard', state: { failures, lockedUntil, nextLockMs } };
  const until = later(at, nextLockMs);
  const doubledMs = Math.min(nextLockMs * 2, longestLockMs);
  return { kind: 'locked', until, state: { failures: [], lockedUntil: until, nextLockMs: doubledMs } };
}

/** What outlives a restart: whole milliseconds before `at`. The time the machine is off does not count. */
export function saveGuesses({ failures, lockedUntil, nextLockMs }: GuessLimiter, at: MonoMs): CanonicalValue {
  return {
    failedAgoMs: failures.map((t) => Math.round(at - t)),
    unlockedAgoMs: lockedUntil === undefined ? null : Math.round(at - lockedUntil),
    nextLockMs,
  };
}

/** The state as saved, going on `at`. What was not written by `saveGuesses` locks the reader: it may hide a lock. */
export function restoreGuesses(saved: CanonicalValue | undefined, at: MonoMs): GuessLimiter {
  if (saved === undefined) return unlimited;
  const distrusted: GuessLimiter = { failures: [], lockedUntil: later(at, longestLockMs), nextLockMs: longestLockMs };
  if (!isSaved(saved)) return distrusted;
  return {
    failures: saved.failedAgoMs.map((agoMs) => later(at, -agoMs)),
    lockedUntil: saved.unlockedAgoMs === null ? undefined : later(at, -saved.unlockedAgoMs),
    nextLockMs: saved.nextLockMs,
  };
}

interface Saved {
  readonly failedAgoMs: readonly number[];
  readonly unlockedAgoMs: number | null;
  readonly nextLockMs: number;
}

function isSaved(value: CanonicalValue): value is CanonicalValue & Saved {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  const { failedAgoMs, unlockedAgoMs, nextLockMs } = value as Readonly<Record<keyof Saved, CanonicalValue | undefined>>;
  const areFailures = Array.isArray(failedAgoMs) && failedAgoMs.every((agoMs) => typeof agoMs === 'number');
  const isUnlock = unlockedAgoMs === null || typeof unlockedAgoMs === 'number';
  return areFailures && isUnlock && typeof nextLockMs === 'number' && nextLockMs >= firstLockMs;
}
