import { describe, expect, test } from 'vitest';
import {
  advanceRelay,
  commandRelay,
  isRelayOn,
  type OutputRelay,
  restingRelay,
} from '#gateway/simulator/output-relay.ts';
import { monoMs } from '#shared/instant.ts';

const at = monoMs;
const told = (relay: OutputRelay, code: number, time = 0, timerMs = 0) =>
  commandRelay(relay, { at: at(time), code, timerMs });
const on = told(restingRelay, 2);
const timedOn = told(restingRelay, 5, 0, 1000);

describe('an output relay', () => {
  test.each([
    { code: 0, from: restingRelay, now: false, later: false, does: 'nothing' },
    { code: 0, from: on, now: true, later: true, does: 'nothing to what is on' },
    { code: 1, from: timedOn, now: false, later: false, does: 'off for good, cancelling the timer' },
    { code: 2, from: timedOn, now: true, later: true, does: 'on for good, cancelling the timer' },
    { code: 3, from: timedOn, now: true, later: false, does: 'off for good once the timer is finished' },
    { code: 4, from: timedOn, now: true, later: true, does: 'on for good once the timer is finished' },
    { code: 5, from: restingRelay, now: true, later: false, does: 'on for the timer, then off again' },
    { code: 5, from: on, now: true, later: true, does: 'on for the timer, then as it was: on' },
    { code: 6, from: on, now: false, later: true, does: 'off for the timer, then on again' },
    { code: 7, from: on, now: true, later: true, does: 'nothing for a code that does not exist' },
  ])('code $code: $does', ({ code, from, now, later }) => {
    const relay = told(from, code, 10, 2000);
    expect(isRelayOn(relay)).toBe(now);
    expect(isRelayOn(advanceRelay(relay, at(2010)))).toBe(later);
  });

  test('is still on one millisecond before its timer ends', () => {
    expect(isRelayOn(advanceRelay(timedOn, at(999)))).toBe(true);
    expect(isRelayOn(advanceRelay(timedOn, at(1000)))).toBe(false);
  });

  test('takes a second release as a longer one', () => {
    const longer = told(timedOn, 5, 800, 1000);
    expect(isRelayOn(advanceRelay(longer, at(1799)))).toBe(true);
    expect(isRelayOn(advanceRelay(longer, at(1800)))).toBe(false);
  });

  test('does not start a timer of no length', () => {
    expect(told(restingRelay, 5)).toEqual(restingRelay);
  });

  test('stays where it is stuck, and shows what it was told once it moves again', () => {
    const stuck = told({ ...restingRelay, stuckAt: false }, 2);
    expect(isRelayOn(stuck)).toBe(false);
    expect(isRelayOn({ ...stuck, stuckAt: undefined })).toBe(true);
  });
});
