import { describe, expect, it } from 'vitest';
import {
  gapMs,
  idleMs,
  learnTurnaround,
  replyTimeoutMs,
  type Turnarounds,
  transmitMs,
  typicalTurnaround,
} from '#gateway/device/osdp/reply-timing.ts';

const learned = (...ms: readonly number[]): Turnarounds => ms.reduce<Turnarounds>(learnTurnaround, []);
const probe = { isProbe: true, unanswered: 0, isBridged: false, isAlone: false, wantedMs: 200 };

describe('times on the wire', () => {
  it('reckons ten bits a byte', () => {
    expect(transmitMs(15, 9600)).toBeCloseTo(15.6, 1);
    expect(transmitMs(15, 115_200)).toBeCloseTo(1.3, 1);
  });

  it('rests two characters between messages', () => {
    expect(idleMs(9600)).toBeCloseTo(2.1, 1);
  });

  it('lets bytes behind a bridge come in clumps, and still below the reply timeout', () => {
    expect([gapMs(false), gapMs(true)]).toEqual([20, 150]);
  });
});

describe('the learned turnaround', () => {
  it('is the middle of what was seen', () => {
    expect(typicalTurnaround(learned(5, 90, 6, 7, 5))).toBe(6);
  });

  it('is unknown before the first reply, and never negative', () => {
    expect(typicalTurnaround([])).toBeUndefined();
    expect(typicalTurnaround(learned(-3))).toBe(0);
  });

  it('forgets what is old', () => {
    const known = learned(...Array.from({ length: 40 }, () => 100), ...Array.from({ length: 32 }, () => 8));
    expect(known).toHaveLength(32);
    expect(typicalTurnaround(known)).toBe(8);
  });
});

describe('the reply timeout', () => {
  it('is what the session wants for a reader in use', () => {
    expect(replyTimeoutMs(learned(8), { ...probe, isProbe: false })).toBe(200);
  });

  it('is three turnarounds for a reader that is gone, within 30 and 200 ms', () => {
    expect([2, 20, 90].map((ms) => replyTimeoutMs(learned(ms), probe))).toEqual([30, 60, 200]);
  });

  it('is whole for a reader that is gone where nobody else waits', () => {
    expect(replyTimeoutMs(learned(8), { ...probe, isAlone: true })).toBe(200);
  });

  it('is whole for a reader nothing is known of', () => {
    expect(replyTimeoutMs([], probe)).toBe(200);
  });

  it('is whole at every tenth probe, so that a slower reader in its place is found', () => {
    const timeouts = [0, 1, 8, 9, 10, 19].map((unanswered) => replyTimeoutMs(learned(8), { ...probe, unanswered }));
    expect(timeouts).toEqual([30, 30, 30, 200, 30, 200]);
  });

  it('grants a bridge its delay', () => {
    expect(replyTimeoutMs(learned(8), { ...probe, isBridged: true })).toBe(110);
    expect(replyTimeoutMs([], { ...probe, isBridged: true })).toBe(280);
  });
});
