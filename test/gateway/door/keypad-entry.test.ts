import { describe, expect, it } from 'vitest';
import {
  type EnteredPin,
  emptyKeypad,
  type KeypadEntry,
  type KeypadInput,
  nextKeypadDeadline,
  stepKeypad,
} from '#gateway/door/keypad-entry.ts';
import { monoMs } from '#shared/instant.ts';
import { card } from './access-scenario.ts';

type Timed = KeypadInput extends infer Input ? (Input extends unknown ? Omit<Input, 'at'> : never) : never;

const keys = (pressed: string): Timed => ({ kind: 'keys', keys: pressed });
const challenge: Timed = { kind: 'challenged', card };

/** Takes the inputs at the given moments, ms. */
function type(...script: readonly (readonly [number, Timed])[]) {
  let state: KeypadEntry = emptyKeypad;
  const entered: EnteredPin[] = [];
  let challengesOver = 0;
  for (const [at, input] of script) {
    const step = stepKeypad(state, { ...input, at: monoMs(at) } as KeypadInput);
    state = step.state;
    entered.push(...step.entered);
    if (step.isChallengeOver) challengesOver += 1;
  }
  return { state, entered, pins: entered.map(({ presented }) => presented.digits), challengesOver };
}

describe('keys at a reader', () => {
  it('become a PIN with #, whether they come one by one or together', () => {
    expect(type([0, keys('4711#')]).pins).toEqual(['4711']);
    expect(type([0, keys('4')], [100, keys('71')], [200, keys('1')], [300, keys('#')])).toMatchObject({
      entered: [{ presented: { kind: 'pin', digits: '4711' }, receivedAt: 300 }],
      state: emptyKeypad,
    });
  });

  it('may hold two PINs in one string', () => {
    expect(type([0, keys('4711#0815#')]).pins).toEqual(['4711', '0815']);
  });

  it('are forgotten with *', () => {
    expect(type([0, keys('9999*4711#')]).pins).toEqual(['4711']);
  });

  it('are no PIN with fewer than four or more than ten digits', () => {
    expect(type([0, keys('471#')]).pins).toEqual([]);
    expect(type([0, keys('1234567890#')]).pins).toEqual(['1234567890']);
    const { state, pins } = type([0, keys('12345678901')]);
    expect(state.typed).toBe('overlong');
    expect(pins).toEqual([]);
    expect(type([0, keys('12345678901#')]).pins).toEqual([]);
    expect(type([0, keys('12345678901*4711#')]).pins).toEqual(['4711']);
  });

  it('never take more room than a PIN', () => {
    const { state } = type([0, keys('7'.repeat(100_000))]);
    expect(JSON.stringify(state).length).toBeLessThan(100);
  });

  it('other than digits, * and # are ignored', () => {
    expect(type([0, keys('4a7 1\u00001#')]).pins).toEqual(['4711']);
  });

  it('are dropped by a card', () => {
    expect(type([0, keys('47')], [100, { kind: 'card' }], [200, keys('11#')]).pins).toEqual([]);
  });
});

describe('a pause', () => {
  it('of five seconds ends a PIN', () => {
    expect(type([0, keys('4711')], [4_999, { kind: 'tick' }]).pins).toEqual([]);
    const { entered, state } = type([0, keys('4711')], [5_000, { kind: 'tick' }]);
    expect(entered).toEqual([{ presented: { kind: 'pin', digits: '4711' }, receivedAt: 5_000 }]);
    expect(state).toEqual(emptyKeypad);
  });

  it('discards what is too short to be one', () => {
    expect(type([0, keys('471')], [5_000, keys('1#')]).pins).toEqual([]);
  });

  it('is counted from the last key', () => {
    expect(type([0, keys('47')], [4_000, keys('11')], [8_999, keys('#')]).pins).toEqual(['4711']);
  });

  it('asks for a tick only while something waits', () => {
    expect(nextKeypadDeadline(emptyKeypad)).toBeUndefined();
    expect(nextKeypadDeadline(type([100, keys('4')]).state)).toBe(5_100);
    expect(nextKeypadDeadline(type([100, challenge]).state)).toBe(15_100);
    expect(nextKeypadDeadline(type([100, challenge], [200, keys('4')]).state)).toBe(5_200);
    expect(nextKeypadDeadline(type([100, challenge], [14_000, keys('4')]).state)).toBe(15_100);
  });
});

describe('a challenged card', () => {
  it('is joined by the PIN within fifteen seconds, once', () => {
    const { entered } = type([0, challenge], [14_000, keys('4711#')], [14_100, keys('4711#')]);
    expect(entered.map(({ presented }) => presented)).toEqual([
      { kind: 'card-and-pin', card, digits: '4711' },
      { kind: 'pin', digits: '4711' },
    ]);
  });

  it('takes the keys that were pressed while it was being decided', () => {
    const { entered } = type([0, { kind: 'card' }], [5, keys('47')], [10, challenge], [20, keys('11#')]);
    expect(entered.map(({ presented }) => presented.kind)).toEqual(['card-and-pin']);
  });

  it('runs out, and what was typed to it is no PIN of its own', () => {
    const late = type([0, challenge], [14_000, keys('47')], [15_000, keys('11#')]);
    expect(late.pins).toEqual([]);
    expect(late.challengesOver).toBe(1);
  });

  it('is joined by a PIN that a pause ended in time', () => {
    expect(type([0, challenge], [9_000, keys('4711')], [60_000, { kind: 'tick' }])).toMatchObject({
      entered: [{ presented: { kind: 'card-and-pin' }, receivedAt: 14_000 }],
    });
    expect(type([0, challenge], [10_000, keys('4711')], [60_000, { kind: 'tick' }]).pins).toEqual([]);
  });

  it('is kept by keys that are no PIN, and replaced by another card', () => {
    expect(type([0, challenge], [100, keys('47#4711#')]).entered[0]?.presented.kind).toBe('card-and-pin');
    expect(type([0, challenge], [100, { kind: 'card' }], [200, keys('4711#')]).entered[0]?.presented.kind).toBe('pin');
  });
});
