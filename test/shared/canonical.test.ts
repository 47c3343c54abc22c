import { expect, it } from 'vitest';
import { canonicalText } from '#shared/canonical.ts';

it('sorts keys, keeps no space, and leaves out what is undefined', () => {
  expect(canonicalText({ b: 1, a: [true, null, 'é"'], c: undefined })).toBe('{"a":[true,null,"é\\""],"b":1}');
});

it('sorts by UTF-16 code unit, as RFC 8785 does', () => {
  expect(canonicalText({ '\u{1f600}': 1, '\ufb33': 2 })).toBe('{"\u{1f600}":1,"\ufb33":2}');
});

it.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])('does not write %s', (number) => {
  expect(() => canonicalText({ number })).toThrow('safe integers');
});
