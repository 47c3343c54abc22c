/**
 * What the bits of a card say under the formats a site uses, for display and for matching imported card lists.
 *
 * Guarantee: strict on parity; the raw bits stay the card's identity, whatever is read into them here.
 * Not promised: that the numbers identify a card. The same card under another format has other numbers, so numbers of
 * two formats are never compared.
 */
import { bitAt, type CardBits, numberAt } from './card-bits.ts';
import type { CardFormat, ParityRule } from './card-format.ts';
import { isUidLength } from './uid.ts';

interface CardReading {
  readonly format: string;
  /** `undefined` in formats without one. */
  readonly facility: number | undefined;
  readonly number: number;
  readonly isCloneable: boolean;
}

export type CardDecoding =
  /** At least one reading; more than one where formats cannot be told apart. */
  | { readonly kind: 'decoded'; readonly readings: readonly CardReading[] }
  /** A serial number of 4, 7 or 8 bytes, which anyone can write onto a blank card. */
  | { readonly kind: 'uid'; readonly isCloneable: true }
  /** No format of this site has this many bits. The card can still be enrolled and recognised by its raw bits. */
  | { readonly kind: 'raw' }
  /** `length`: fewer bytes than bits, or no bits. `parity`: every format of this bit count says the bits are damaged. */
  | { readonly kind: 'malformed'; readonly reason: 'length' | 'parity' };

/** @param formats those this site uses; one that shares its bit count with another gives a second reading. */
export function decodeCard(card: CardBits, formats: readonly CardFormat[]): CardDecoding {
  const { bitCount, bytes } = card;
  if (bitCount < 1 || bytes.length * 8 < bitCount) return { kind: 'malformed', reason: 'length' };
  const candidates = formats.filter((format) => format.bitCount === bitCount);
  if (candidates.length === 0) return isUidLength(bitCount) ? { kind: 'uid', isCloneable: true } : { kind: 'raw' };
  const readings = candidates
    .filter((format) => format.parities.every((rule) => holds(rule, bytes)))
    .map((format) => readingOf(format, bytes));
  return readings.length === 0 ? { kind: 'malformed', reason: 'parity' } : { kind: 'decoded', readings };
}

function readingOf(format: CardFormat, bytes: Uint8Array): CardReading {
  return {
    format: format.name,
    facility: format.facility === undefined ? undefined : numberAt(bytes, format.facility),
    number: numberAt(bytes, format.number),
    isCloneable: format.isCloneable,
  };
}

function holds(rule: ParityRule, bytes: Uint8Array): boolean {
  let ones: number = bitAt(bytes, rule.at);
  for (const bit of rule.covers) ones += bitAt(bytes, bit);
  return ones % 2 === (rule.ones === 'even' ? 0 : 1);
}
