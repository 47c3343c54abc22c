/**
 * What refusals at one reader add up to: a lock-out of PINs, or slowing of cards that fail; and what becomes an entry.
 *
 * Each refusal is an entry until an episode begins, then it is only counted, and the episode ends with one entry:
 * nobody can flood the journal by failing. Known cards are decided at once throughout; only failing reads wait for
 * their refusal. Not promised: the count of an episode that a restart cuts short.
 */
import type { RefusalCode } from '#shared/code.ts';
import { later, type MonoMs } from '#shared/instant.ts';
import { failuresMax, type GuessLimiter, isLocked, stepFailure, unlimited, windowMs } from './guess-limiter.ts';

/** Refusals that tell of guessing. A known credential that may not enter now is not a guess. */
const guesses: ReadonlySet<RefusalCode> = new Set([
  'CREDENTIAL_UNKNOWN',
  'CREDENTIAL_MALFORMED',
  'CREDENTIAL_TAMPERED',
  'SECOND_FACTOR_WRONG',
]);

/** A slowed read waits this long for its refusal, doubling with each up to the longest. */
const firstDelayMs = 1_000;
const longestDelayMs = 8_000;

interface Slowing {
  readonly since: MonoMs;
  readonly lastAt: MonoMs;
  readonly count: number;
}

interface LockOut {
  readonly since: MonoMs;
  readonly until: MonoMs;
  readonly count: number;
}

export interface ReaderGuesses {
  readonly pins: GuessLimiter;
  readonly lockOut: LockOut | undefined;
  /** Times of failing card reads within the window, before slowing starts. */
  readonly cards: readonly MonoMs[];
  readonly slowing: Slowing | undefined;
}

/** For one entry, `access.refusals-counted`. */
export interface Episode {
  readonly kind: 'lock-out' | 'slowing';
  /** Refusals that have no entry of their own. */
  readonly count: number;
  readonly lastedMs: number;
}

export interface RefusalCounted {
  readonly state: ReaderGuesses;
  /** Whether this refusal gets an entry of its own. */
  readonly record: 'entry' | 'counted';
  /** How long the reader withholds the refusal, ms. */
  readonly answerAfterMs: number;
  /** This refusal locked the reader: raise READER_LOCKED. It clears with the episode. */
  readonly locks: boolean;
}

export const noGuesses: ReaderGuesses = { pins: unlimited, lockOut: undefined, cards: [], slowing: undefined };

/** A reader whose PIN lock outlived a restart. */
export function resumeGuesses(pins: GuessLimiter, at: MonoMs): ReaderGuesses {
  const { lockedUntil } = pins;
  const isOn = lockedUntil !== undefined && isLocked(pins, at);
  return { ...noGuesses, pins, lockOut: isOn ? { since: at, until: lockedUntil, count: 0 } : undefined };
}

/** Ends what is over `at`. To be called when due, and before a refusal is counted. */
export function endEpisodes(
  state: ReaderGuesses,
  at: MonoMs,
): { readonly state: ReaderGuesses; readonly ended: readonly Episode[] } {
  const { lockOut, slowing } = state;
  const ended: Episode[] = [];
  let next = state;
  if (lockOut !== undefined && at >= lockOut.until) {
    next = { ...next, lockOut: undefined };
    ended.push({ kind: 'lock-out', count: lockOut.count, lastedMs: Math.round(lockOut.until - lockOut.since) });
  }
  if (slowing !== undefined && at >= later(slowing.lastAt, windowMs)) {
    next = { ...next, slowing: undefined, cards: [] };
    const lastedMs = Math.round(slowing.lastAt + windowMs - slowing.since);
    ended.push({ kind: 'slowing', count: slowing.count, lastedMs });
  }
  return { state: next, ended };
}

/** When `endEpisodes` is due; `undefined` = no episode is on. */
export function nextEpisodeEnd({ lockOut, slowing }: ReaderGuesses): MonoMs | undefined {
  const slowingEnd = slowing === undefined ? undefined : later(slowing.lastAt, windowMs);
  if (lockOut === undefined) return slowingEnd;
  return slowingEnd === undefined || lockOut.until < slowingEnd ? lockOut.until : slowingEnd;
}

/** Counts one refusal. Episodes that are over have been ended before. */
export function countRefusal(
  state: ReaderGuesses,
  at: MonoMs,
  refusal: { readonly code: RefusalCode; readonly carriesPin: boolean },
): RefusalCounted {
  const { code, carriesPin } = refusal;
  if (code === 'READER_LOCKED_OUT' && state.lockOut !== undefined) {
    const lockOut = { ...state.lockOut, count: state.lockOut.count + 1 };
    return { ...plain({ ...state, lockOut }), record: 'counted' };
  }
  if (!guesses.has(code)) return plain(state);
  return carriesPin ? countPin(state, at) : countCard(state, at);
}

const plain = (state: ReaderGuesses): RefusalCounted => ({ state, record: 'entry', answerAfterMs: 0, locks: false });

function countPin(state: ReaderGuesses, at: MonoMs): RefusalCounted {
  const step = stepFailure(state.pins, at);
  if (step.kind === 'heard') return plain({ ...state, pins: step.state });
  const lockOut: LockOut = { since: at, until: step.until, count: 0 };
  return { ...plain({ ...state, pins: step.state, lockOut }), locks: true };
}

function countCard(state: ReaderGuesses, at: MonoMs): RefusalCounted {
  const { slowing } = state;
  if (slowing !== undefined) {
    const slower: Slowing = { ...slowing, lastAt: at, count: slowing.count + 1 };
    const answerAfterMs = Math.min(firstDelayMs * 2 ** Math.min(slowing.count, 10), longestDelayMs);
    return { state: { ...state, slowing: slower }, record: 'counted', answerAfterMs, locks: false };
  }
  const cards = [...state.cards.filter((t) => at - t < windowMs), at].slice(-failuresMax);
  const isSlowed = cards.length === failuresMax;
  return plain({ ...state, cards, slowing: isSlowed ? { since: at, lastAt: at, count: 0 } : undefined });
}
