/**
 * The formats of the trade, as data.
 *
 * How sure: 26, 34 and both 37 are written down by their vendor's public tables and proven on measured bytes. The three
 * overlapping parities of Corporate 1000 (35 and 48 bits) are as two public open-source decoders have them, which may
 * share an origin; no vendor document was read and no card was measured. A site whose cards fail them can enrol by raw
 * bits, with no format for that bit count, or bring its own format.
 */
import type { CardFormat } from './card-format.ts';

/** `from` up to and without `until`. */
const bits = (from: number, until: number): number[] => Array.from({ length: until - from }, (_, at) => from + at);
/** The same, without every third bit, beginning with the first that leaves `rest` when divided by three. */
const bitsButThird = (from: number, until: number, rest: number): number[] =>
  bits(from, until).filter((bit) => bit % 3 !== rest);

export const h10301: CardFormat = {
  name: 'H10301',
  bitCount: 26,
  facility: { from: 1, length: 8 },
  number: { from: 9, length: 16 },
  parities: [
    { at: 0, ones: 'even', covers: bits(1, 13) },
    { at: 25, ones: 'odd', covers: bits(13, 25) },
  ],
  isCloneable: true,
};

const h10306: CardFormat = {
  name: 'H10306',
  bitCount: 34,
  facility: { from: 1, length: 16 },
  number: { from: 17, length: 16 },
  parities: [
    { at: 0, ones: 'even', covers: bits(1, 17) },
    { at: 33, ones: 'odd', covers: bits(17, 33) },
  ],
  isCloneable: true,
};

/** Bit 18 counts in both parities of the 37-bit formats. */
const parities37 = [
  { at: 0, ones: 'even', covers: bits(1, 19) },
  { at: 36, ones: 'odd', covers: bits(18, 36) },
] as const;

export const h10302: CardFormat = {
  name: 'H10302',
  bitCount: 37,
  facility: undefined,
  number: { from: 1, length: 35 },
  parities: parities37,
  isCloneable: false,
};

/** Cannot be told from H10302 by its bits: which of the two a site uses is a setting. */
export const h10304: CardFormat = {
  name: 'H10304',
  bitCount: 37,
  facility: { from: 1, length: 16 },
  number: { from: 17, length: 19 },
  parities: parities37,
  isCloneable: false,
};

const corporate1000of35: CardFormat = {
  name: 'C1000-35',
  bitCount: 35,
  facility: { from: 2, length: 12 },
  number: { from: 14, length: 20 },
  parities: [
    { at: 1, ones: 'even', covers: bitsButThird(2, 34, 1) },
    { at: 34, ones: 'odd', covers: bitsButThird(1, 33, 0) },
    { at: 0, ones: 'odd', covers: bits(1, 35) },
  ],
  isCloneable: false,
};

const corporate1000of48: CardFormat = {
  name: 'C1000-48',
  bitCount: 48,
  facility: { from: 2, length: 22 },
  number: { from: 24, length: 23 },
  parities: [
    { at: 1, ones: 'even', covers: bitsButThird(3, 47, 2) },
    { at: 47, ones: 'odd', covers: bitsButThird(2, 46, 1) },
    { at: 0, ones: 'odd', covers: bits(1, 48) },
  ],
  isCloneable: false,
};

/** All of the above. A site narrows the list, above all to one of the two with 37 bits. */
export const standardFormats: readonly CardFormat[] = [
  h10301,
  h10306,
  corporate1000of35,
  h10302,
  h10304,
  corporate1000of48,
];
