import { expect, it } from 'vitest';
import { type CardFormat, formatProblem } from '#protocol/wiegand/card-format.ts';
import { h10301, standardFormats } from '#protocol/wiegand/standard-formats.ts';

it('finds nothing wrong with the standard formats', () => {
  expect(standardFormats.map(formatProblem)).toEqual(standardFormats.map(() => undefined));
});

it('has one name for one format', () => {
  expect(new Set(standardFormats.map((format) => format.name)).size).toBe(standardFormats.length);
});

it.each<[string, Partial<CardFormat>, RegExp]>([
  ['a name with blanks', { name: 'my format' }, /name/],
  ['no bits', { bitCount: 0 }, /bit count/],
  ['too many bits', { bitCount: 256 }, /bit count/],
  ['a half bit', { bitCount: 26.5 }, /bit count/],
  ['a field outside', { number: { from: 20, length: 7 } }, /field/],
  ['an empty field', { number: { from: 9, length: 0 } }, /field/],
  ['a facility before the first bit', { facility: { from: -1, length: 8 } }, /field/],
  ['a field too wide to be exact', { bitCount: 64, number: { from: 0, length: 54 } }, /field/],
  ['a parity outside', { parities: [{ at: 26, ones: 'even', covers: [1] }] }, /parity/],
  ['a parity over a bit outside', { parities: [{ at: 0, ones: 'even', covers: [26] }] }, /parity/],
  ['a parity that covers itself', { parities: [{ at: 0, ones: 'even', covers: [0, 1] }] }, /later/],
  [
    'two rules for one bit',
    {
      parities: [
        { at: 0, ones: 'even', covers: [1] },
        { at: 0, ones: 'odd', covers: [2] },
      ],
    },
    /two rules/,
  ],
  [
    'a parity over one that is computed later',
    {
      parities: [
        { at: 0, ones: 'even', covers: [25] },
        { at: 25, ones: 'odd', covers: [2] },
      ],
    },
    /later/,
  ],
])('refuses a format with %s', (_, change, problem) => {
  expect(formatProblem({ ...h10301, ...change })).toMatch(problem);
});
