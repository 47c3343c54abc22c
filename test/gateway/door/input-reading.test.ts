import { describe, expect, it } from 'vitest';
import { type InputLevel, readInput } from '#gateway/door/input-reading.ts';
import { identifier } from '#shared/identifier.ts';

const levels: readonly InputLevel[] = ['inactive', 'active', 'short', 'cut', 'fault', 'unknown'];

describe('an input', () => {
  it.each([
    [true, false, ['false', 'true', 'true', 'true', 'true', 'unknown']],
    [false, false, ['true', 'false', 'true', 'true', 'true', 'unknown']],
    [true, true, ['false', 'true', 'tampered', 'tampered', 'tampered', 'unknown']],
    [false, true, ['true', 'false', 'tampered', 'tampered', 'tampered', 'unknown']],
  ])('active when true: %s, supervised: %s', (activeWhenTrue, supervised, expected) => {
    const point = { device: identifier<'device'>('io'), input: 0, activeWhenTrue, supervised };
    expect(levels.map((level) => readInput(point, level))).toEqual(expected);
  });
});
