import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInside, nextEdge, nextInside, unite } from '#gateway/door/wall-windows.ts';
import { type WallWindow, wallMs } from '#shared/instant.ts';

const window = (from: number, until: number): WallWindow => ({ from: wallMs(from), until: wallMs(until) });
const anyWindows = fc.array(
  fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: -3, max: 12 }))
    .map(([from, ms]) => window(from, from + ms)),
  { maxLength: 12 },
);

describe('windows of wall time', () => {
  it('are half-open', () => {
    const windows = [window(10, 20), window(30, 40)];
    expect([9, 10, 19, 20, 29, 30, 39, 40].map((at) => isInside(windows, wallMs(at)))).toEqual([
      false,
      true,
      true,
      false,
      false,
      true,
      true,
      false,
    ]);
    expect(isInside([], wallMs(0))).toBe(false);
  });

  it('tell when they are next open, and when that changes', () => {
    const windows = [window(10, 20), window(30, 40)];
    expect([5, 15, 20, 40].map((at) => nextInside(windows, wallMs(at)))).toEqual([10, 15, 30, undefined]);
    expect([5, 15, 20, 40].map((at) => nextEdge(windows, wallMs(at)))).toEqual([10, 20, 30, undefined]);
  });

  it('united are sorted and disjoint, and hold what any of them held', () => {
    fc.assert(
      fc.property(anyWindows, (windows) => {
        const united = unite(windows);
        for (const [index, { from, until }] of united.entries()) {
          expect(from).toBeLessThan(until);
          expect(from).toBeGreaterThan(united[index - 1]?.until ?? -1);
        }
        for (let at = -4; at < 75; at += 1) {
          const isAny = windows.some(({ from, until }) => from <= at && at < until);
          expect(isInside(united, wallMs(at))).toBe(isAny);
        }
      }),
    );
  });
});
