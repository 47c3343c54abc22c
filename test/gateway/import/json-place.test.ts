import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonFaultOffset } from '#gateway/import/json-fault.ts';
import { itemLines } from '#gateway/import/json-line.ts';

test.each([
  ['{"id": }', 7],
  ['[1, 2', 5],
  ['', 0],
  ['  x', 2],
  ['[1,]', 3],
  ['{"a": 1,}', 8],
  ['{"a" 1}', 5],
  ['[1] 2', 4],
  ['{"a": [1, {"b": tru}]}', 16],
  ['["\\x"]', 1],
  ['[01]', 2],
  ['[1}', 2],
])('finds where %s stops being JSON', (text, offset) => {
  expect(jsonFaultOffset(text)).toBe(offset);
});

test('finds a fault in everything the engine refuses, at or before the end', () => {
  const damaged = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', '{', '}', '"', ',', ':', 'x', '\n', '0'))
    .map(([text, at, sign]) => {
      const cut = at % (text.length + 1);
      return text.slice(0, cut) + sign + text.slice(cut + 1);
    });
  fc.assert(
    fc.property(damaged, (text) => {
      const offset = jsonFaultOffset(text);
      expect(offset).toBeLessThanOrEqual(text.length);
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      // What stands before the fault is the beginning of some JSON; a whole JSON text has its fault at its end.
      if (isJson) expect(offset).toBe(text.length);
    }),
    { numRuns: 3_000 },
  );
});

test('finds the line of each item, however it is laid out', () => {
  const text = [
    '{ "facility":',
    '  { "id": "x", "tags": [1, 2] },',
    '"doors": [',
    '{"id": "a, ]}{ \\"[", "lock": {"device": "d", "list": [[], {}]}}, {"id":',
    '"b"},',
    '"text", 5,',
    '[1,',
    '2], null],',
    '"empty": [], "holders": [ {} ] }',
  ].join('\n');
  expect(JSON.parse(text)).toBeDefined();
  const lines = itemLines(text);
  expect(lines.get('doors')).toEqual([4, 4, 6, 6, 7, 8]);
  expect(lines.get('facility')?.[0]).toBe(2);
  expect(lines.get('empty')).toBeUndefined();
  expect(lines.get('holders')).toEqual([9]);
});

test('counts the items of any set as the engine does', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.array(fc.jsonValue(), { maxLength: 5 })), fc.nat(4), (set, spaces) => {
      const lines = itemLines(JSON.stringify(set, null, spaces));
      for (const [section, items] of Object.entries(set)) expect(lines.get(section)?.length ?? 0).toBe(items.length);
    }),
    { numRuns: 1_000 },
  );
});
