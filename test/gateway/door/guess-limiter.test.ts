import { describe, expect, it } from 'vitest';
import {
  type GuessLimiter,
  isLocked,
  restoreGuesses,
  saveGuesses,
  stepFailure,
  unlimited,
} from '#gateway/door/guess-limiter.ts';
import { monoMs } from '#shared/instant.ts';

const second = 1_000;
const at = (seconds: number) => monoMs(5_000_000 + seconds * second);

/** Fails at each of the given seconds and returns what is left. */
function afterFailures(...seconds: readonly number[]): GuessLimiter {
  return seconds.reduce((state, s) => stepFailure(state, at(s)).state, unlimited);
}

/** Fails five times at once, again and again as soon as the lock ends; how long each lock lasts, in minutes. */
function locks(rounds: number, pauseMs = 0): readonly number[] {
  let state = unlimited;
  let now = at(0);
  return Array.from({ length: rounds }, () => {
    for (let guess = 0; guess < 5; guess += 1) state = stepFailure(state, now).state;
    const lasts = ((state.lockedUntil ?? now) - now) / 60_000;
    now = monoMs((state.lockedUntil ?? now) + pauseMs);
    return lasts;
  });
}

describe('the guess limiter', () => {
  it('hears four failures in a minute', () => {
    expect(isLocked(afterFailures(0, 1, 2, 3), at(4))).toBe(false);
  });

  it('locks for a minute at the fifth', () => {
    const state = afterFailures(0, 1, 2, 3, 4);
    expect(isLocked(state, at(63.999))).toBe(true);
    expect(isLocked(state, at(64))).toBe(false);
  });

  it('forgets failures a minute old, by a window that slides', () => {
    expect(isLocked(afterFailures(0, 1, 2, 3, 60), at(60))).toBe(false);
    expect(isLocked(afterFailures(0, 30, 31, 32, 61, 62), at(62))).toBe(true);
  });

  it('doubles each further lock, up to fifteen minutes', () => {
    expect(locks(6)).toEqual([1, 2, 4, 8, 15, 15]);
  });

  it('forgives the doubling after a quarter of an hour without a lock', () => {
    expect(locks(3, 15 * 60_000)).toEqual([1, 2, 4]);
    expect(locks(3, 15 * 60_000 + 1)).toEqual([1, 1, 1]);
  });
});

describe('a restart', () => {
  const rebooted = monoMs(17);

  it('shortens no lock, forgets no failure and no doubling', () => {
    const locked = restoreGuesses(saveGuesses(afterFailures(0, 1, 2, 3, 4), at(24)), rebooted);
    expect(isLocked(locked, monoMs(17 + 39_999))).toBe(true);
    expect(isLocked(locked, monoMs(17 + 40_000))).toBe(false);
    expect(locked.nextLockMs).toBe(120_000);
    const failed = restoreGuesses(saveGuesses(afterFailures(0, 1, 2, 3), at(4)), rebooted);
    expect(stepFailure(failed, monoMs(18)).kind).toBe('locked');
  });

  it('keeps whole numbers, as the journal does', () => {
    const saved = saveGuesses(stepFailure(unlimited, monoMs(0.25)).state, monoMs(10.9));
    expect(saved).toEqual({ failedAgoMs: [11], unlockedAgoMs: null, nextLockMs: 60_000 });
  });

  it('with nothing saved starts free; with something else than was saved, locked', () => {
    expect(isLocked(restoreGuesses(undefined, rebooted), rebooted)).toBe(false);
    for (const strange of [null, 7, [], {}, { failedAgoMs: 'none', unlockedAgoMs: null, nextLockMs: 60_000 }]) {
      expect(isLocked(restoreGuesses(strange, rebooted), monoMs(rebooted + 15 * 60_000 - 1))).toBe(true);
    }
  });
});
