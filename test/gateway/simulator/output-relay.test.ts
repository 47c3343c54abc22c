import { describe, expect, test } from 'vitest';
import {
  advanceRelay,
  isRelayOn,
  type OutputOrder,
  type OutputRelay,
  orderRelay,
  restingRelay,
} from '#gateway/simulator/output-relay.ts';
import { monoMs } from '#shared/instant.ts';

const at = monoMs;
const told = (relay: OutputRelay, action: OutputOrder['action'], time = 0, timerMs = 0) =>
  orderRelay(relay, { at: at(time), action, timerMs });
const on = told(restingRelay, 'on');
const timedOn = told(restingRelay, 'on-for-timer', 0, 1000);

describe('an output relay', () => {
  test.each([
    { action: 'nothing', from: restingRelay, now: false, later: false, does: 'nothing' },
    { action: 'nothing', from: on, now: true, later: true, does: 'nothing to what is on' },
    { action: 'off', from: timedOn, now: false, later: false, does: 'off for good, cancelling the timer' },
    { action: 'on', from: timedOn, now: true, later: true, does: 'on for good, cancelling the timer' },
    {
      action: 'off-after-timer',
      from: timedOn,
      now: true,
      later: false,
      does: 'off for good once the timer is finished',
    },
    { action: 'on-after-timer', from: timedOn, now: true, later: true, does: 'on for good once the timer is finished' },
    { action: 'on-for-timer', from: restingRelay, now: true, later: false, does: 'on for the timer, then off again' },
    { action: 'on-for-timer', from: on, now: true, later: true, does: 'on for the timer, then as it was: on' },
    { action: 'off-for-timer', from: on, now: false, later: true, does: 'off for the timer, then on again' },
  ] as const)('told $action: $does', ({ action, from, now, later }) => {
    const relay = told(from, action, 10, 2000);
    expect(isRelayOn(relay)).toBe(now);
    expect(isRelayOn(advanceRelay(relay, at(2010)))).toBe(later);
  });

  test('is still on one millisecond before its timer ends', () => {
    expect(isRelayOn(advanceRelay(timedOn, at(999)))).toBe(true);
    expect(isRelayOn(advanceRelay(timedOn, at(1000)))).toBe(false);
  });

  test('takes a second release as a longer one', () => {
    const longer = told(timedOn, 'on-for-timer', 800, 1000);
    expect(isRelayOn(advanceRelay(longer, at(1799)))).toBe(true);
    expect(isRelayOn(advanceRelay(longer, at(1800)))).toBe(false);
  });

  test('does not start a timer of no length', () => {
    expect(told(restingRelay, 'on-for-timer')).toEqual(restingRelay);
  });

  test('stays where it is stuck, and shows what it was told once it moves again', () => {
    const stuck = told({ ...restingRelay, stuckAt: false }, 'on');
    expect(isRelayOn(stuck)).toBe(false);
    expect(isRelayOn({ ...stuck, stuckAt: undefined })).toBe(true);
  });
});
