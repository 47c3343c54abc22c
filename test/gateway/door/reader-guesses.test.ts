import { describe, expect, it } from 'vitest';
import { isLocked, restoreGuesses, saveGuesses } from '#gateway/door/guess-limiter.ts';
import {
  countRefusal,
  endEpisodes,
  nextEpisodeEnd,
  noGuesses,
  type ReaderGuesses,
  type RefusalCounted,
  resumeGuesses,
} from '#gateway/door/reader-guesses.ts';
import type { RefusalCode } from '#shared/code.ts';
import { refusals } from '#shared/code.ts';
import { type MonoMs, monoMs } from '#shared/instant.ts';

const at = (seconds: number): MonoMs => monoMs(1_000_000 + seconds * 1_000);

/** Refuses once at each of the seconds. */
function refuse(start: ReaderGuesses, code: RefusalCode, carriesPin: boolean, seconds: readonly number[]) {
  const counted: RefusalCounted[] = [];
  let state = start;
  for (const second of seconds) {
    const step = countRefusal(endEpisodes(state, at(second)).state, at(second), { code, carriesPin });
    counted.push(step);
    state = step.state;
  }
  return { state, counted };
}

describe('wrong PINs', () => {
  const locked = refuse(noGuesses, 'CREDENTIAL_UNKNOWN', true, [0, 1, 2, 3, 4]);

  it('are an entry each until the fifth, which locks the reader', () => {
    expect(locked.counted.map(({ record }) => record)).toEqual(Array(5).fill('entry'));
    expect(locked.counted.map(({ locks }) => locks)).toEqual([false, false, false, false, true]);
    expect(isLocked(locked.state.pins, at(5))).toBe(true);
  });

  it('during the lock-out are counted, and the episode is one entry with their number', () => {
    const { state, counted } = refuse(locked.state, 'READER_LOCKED_OUT', true, [5, 6, 7]);
    expect(counted.every(({ record }) => record === 'counted')).toBe(true);
    expect(nextEpisodeEnd(state)).toBe(at(64));
    expect(endEpisodes(state, at(63)).ended).toEqual([]);
    expect(endEpisodes(state, at(64)).ended).toEqual([{ kind: 'lock-out', count: 3, lastedMs: 60_000 }]);
    expect(endEpisodes(endEpisodes(state, at(64)).state, at(65)).ended).toEqual([]);
  });

  it('do not slow cards, and cards do not lock PINs', () => {
    expect(locked.state.slowing).toBeUndefined();
    const cards = refuse(noGuesses, 'CREDENTIAL_UNKNOWN', false, [0, 1, 2, 3, 4, 5, 6, 7]);
    expect(isLocked(cards.state.pins, at(8))).toBe(false);
  });

  it('go on being locked out after a restart, as an episode of its own', () => {
    const pins = restoreGuesses(saveGuesses(locked.state.pins, at(10)), monoMs(3));
    const resumed = resumeGuesses(pins, monoMs(3));
    expect(nextEpisodeEnd(resumed)).toBe(3 + 54_000);
    expect(resumeGuesses(noGuesses.pins, monoMs(3))).toEqual(noGuesses);
  });
});

describe('unknown cards', () => {
  const slowed = refuse(noGuesses, 'CREDENTIAL_MALFORMED', false, [0, 1, 2, 3, 4]);

  it('are answered at once and recorded until the fifth within a minute', () => {
    expect(slowed.counted.every(({ record, answerAfterMs }) => record === 'entry' && answerAfterMs === 0)).toBe(true);
    expect(refuse(noGuesses, 'CREDENTIAL_UNKNOWN', false, [0, 20, 40, 60, 80, 100]).state.slowing).toBeUndefined();
  });

  it('then wait longer and longer for their refusal, and are only counted', () => {
    const { counted } = refuse(slowed.state, 'CREDENTIAL_UNKNOWN', false, [5, 6, 7, 8, 9]);
    expect(counted.map(({ answerAfterMs }) => answerAfterMs)).toEqual([1_000, 2_000, 4_000, 8_000, 8_000]);
    expect(counted.every(({ record }) => record === 'counted')).toBe(true);
  });

  it('end their episode with a minute of quiet', () => {
    const { state } = refuse(slowed.state, 'CREDENTIAL_UNKNOWN', false, [5, 30]);
    expect(nextEpisodeEnd(state)).toBe(at(90));
    const { ended, state: after } = endEpisodes(state, at(90));
    expect(ended).toEqual([{ kind: 'slowing', count: 2, lastedMs: 86_000 }]);
    expect(refuse(after, 'CREDENTIAL_UNKNOWN', false, [91]).counted[0]?.record).toBe('entry');
  });

  it('slow no card that is known: its refusals are entries, at once', () => {
    const { counted } = refuse(slowed.state, 'OUTSIDE_SCHEDULE', false, [5, 6, 7]);
    expect(counted.every(({ record, answerAfterMs }) => record === 'entry' && answerAfterMs === 0)).toBe(true);
  });
});

describe('what counts as guessing', () => {
  const counting = ['CREDENTIAL_MALFORMED', 'CREDENTIAL_UNKNOWN', 'CREDENTIAL_TAMPERED', 'SECOND_FACTOR_WRONG'];

  it.each(Object.keys(refusals) as RefusalCode[])('%s', (code) => {
    const { state } = refuse(noGuesses, code, true, [0, 1, 2, 3, 4]);
    expect(state.lockOut !== undefined).toBe(counting.includes(code));
  });
});

it('the nearest of two episodes ends first', () => {
  const both = refuse(
    refuse(noGuesses, 'CREDENTIAL_UNKNOWN', true, [0, 0, 0, 0, 0]).state,
    'CREDENTIAL_UNKNOWN',
    false,
    [10, 10, 10, 10, 10],
  );
  expect(nextEpisodeEnd(both.state)).toBe(at(60));
  expect(nextEpisodeEnd(endEpisodes(both.state, at(60)).state)).toBe(at(70));
  expect(nextEpisodeEnd(noGuesses)).toBeUndefined();
});
