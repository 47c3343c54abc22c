import { expect, test } from 'vitest';
import { createRowCodes } from '#gateway/replica/row-mac.ts';
import { rowText } from '#shared/replica-columns.ts';

test('no two rows share a text, however their values run into each other', () => {
  const rows: readonly (readonly [string, readonly (string | number | null)[]])[] = [
    ['door', ['ab', 'c']],
    ['door', ['a', 'bc']],
    ['door', ['abc']],
    ['door', ['abc', '']],
    ['door', ['ab', 'c', null]],
    ['door', ['ab', 'c', 0]],
    ['door', ['ab', 'c', '0']],
    ['door', ['ab|s1:c']],
    ['door', ['ab', '|n']],
    ['door', ['ab', null, 'n']],
    ['door', [1, 2]],
    ['door', [12]],
    ['door', ['1', 2]],
    ['door', []],
    ['doo', ['ab', 'c']],
  ];
  const texts = rows.map(([kind, columns]) => rowText(kind, columns));
  expect(new Set(texts).size).toBe(texts.length);
});

test('bytes that spell a text are not that text', () => {
  const bytes = Buffer.from('revoked') as unknown as string;
  expect(rowText('credential', [bytes])).not.toBe(rowText('credential', ['revoked']));
});

test('codes of one row differ by purpose and by key', () => {
  const one = createRowCodes(new Uint8Array(32).fill(1));
  const other = createRowCodes(new Uint8Array(32).fill(2));
  const text = rowText('door', ['front', 1]);
  const codes = [one.mac(text), one.element(text), one.root(text), one.head(text), other.mac(text)];
  expect(new Set(codes).size).toBe(codes.length);
});
