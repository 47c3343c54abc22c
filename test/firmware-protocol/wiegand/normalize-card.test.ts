import { expect, it } from 'vitest';
import { normalizeCard } from '#protocol/wiegand/normalize-card.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

it('puts the bit count before the bits', () => {
  expect(normalizeCard({ bitCount: 26, bytes: bytes(0xbd, 0xd9, 0x37, 0x40) }, 'as-read')).toEqual(
    bytes(0, 26, 0xbd, 0xd9, 0x37, 0x40),
  );
});

it('gives the same for a card whose reader leaves noise after the last bit, or more bytes', () => {
  const clean = normalizeCard({ bitCount: 26, bytes: bytes(0xbd, 0xd9, 0x37, 0x40) }, 'as-read');
  expect(normalizeCard({ bitCount: 26, bytes: bytes(0xbd, 0xd9, 0x37, 0x7f) }, 'as-read')).toEqual(clean);
  expect(normalizeCard({ bitCount: 26, bytes: bytes(0xbd, 0xd9, 0x37, 0x40, 9) }, 'as-read')).toEqual(clean);
});

it('tells cards apart that differ only in length', () => {
  const short = normalizeCard({ bitCount: 31, bytes: bytes(1, 2, 3, 4) }, 'as-read');
  const long = normalizeCard({ bitCount: 32, bytes: bytes(1, 2, 3, 4) }, 'as-read');
  expect(short).not.toEqual(long);
});

it('gives one value for a serial number read by two readers of opposite order', () => {
  const forward = normalizeCard({ bitCount: 56, bytes: bytes(1, 2, 3, 4, 5, 6, 7) }, 'as-read');
  const backward = normalizeCard({ bitCount: 56, bytes: bytes(7, 6, 5, 4, 3, 2, 1) }, 'reversed');
  expect(backward).toEqual(forward);
});

it('turns nothing but serial numbers round', () => {
  const wiegand = { bitCount: 26, bytes: bytes(0xbd, 0xd9, 0x37, 0x40) };
  expect(normalizeCard(wiegand, 'reversed')).toEqual(normalizeCard(wiegand, 'as-read'));
});

it('leaves the read as it was', () => {
  const read = bytes(1, 2, 3, 4);
  normalizeCard({ bitCount: 32, bytes: read }, 'reversed');
  expect(read).toEqual(bytes(1, 2, 3, 4));
});

it.each([
  ['no bits', { bitCount: 0, bytes: bytes() }],
  ['fewer bytes than bits', { bitCount: 33, bytes: bytes(1, 2, 3, 4) }],
  ['a negative count', { bitCount: -8, bytes: bytes(1) }],
  ['more bits than a count can say', { bitCount: 65536, bytes: new Uint8Array(8192) }],
])('gives nothing for %s', (_, card) => {
  expect(normalizeCard(card, 'as-read')).toBeUndefined();
});
