/**
 * The bits of a card from its printed numbers, for lists that hold numbers instead of bits.
 */
import { type BitSpan, bitAt, type CardBits, putBit, putNumber } from './card-bits.ts';
import type { CardFormat } from './card-format.ts';

export interface CardNumbers {
  /** Left out exactly where the format has none. */
  readonly facility: number | undefined;
  readonly number: number;
}

/** @returns the bits with their parities, or `undefined` if a number is missing, too many, or does not fit the format. */
export function encodeCard(format: CardFormat, { facility, number }: CardNumbers): CardBits | undefined {
  if (!fits(number, format.number)) return undefined;
  if ((facility === undefined) !== (format.facility === undefined)) return undefined;
  const bytes = new Uint8Array(Math.ceil(format.bitCount / 8));
  putNumber(bytes, format.number, number);
  if (facility !== undefined && format.facility !== undefined) {
    if (!fits(facility, format.facility)) return undefined;
    putNumber(bytes, format.facility, facility);
  }
  for (const rule of format.parities) {
    const ones = rule.covers.reduce((sum, bit) => sum + bitAt(bytes, bit), 0);
    putBit(bytes, rule.at, ones % 2 === (rule.ones === 'even' ? 0 : 1) ? 0 : 1);
  }
  return { bitCount: format.bitCount, bytes };
}

function fits(value: number, span: BitSpan): boolean {
  return Number.isInteger(value) && value >= 0 && value < 2 ** span.length;
}
