/**
 * The bits of a card as a reader gives them: left-justified, most significant first, bit 0 is the first on the wire.
 */

export interface CardBits {
  /** 1–1024. */
  readonly bitCount: number;
  /** At least ceil(bitCount / 8) bytes; what follows the last bit has no meaning. */
  readonly bytes: Uint8Array;
}

/** A run of bits, the most significant first. */
export interface BitSpan {
  readonly from: number;
  readonly length: number;
}

/** @returns 0 or 1; 0 outside the bytes. */
export function bitAt(bytes: Uint8Array, index: number): 0 | 1 {
  return ((bytes[index >> 3] ?? 0) >> (7 - (index & 7))) & 1 ? 1 : 0;
}

/** The number in a span. Exact up to 53 bits. */
export function numberAt(bytes: Uint8Array, span: BitSpan): number {
  let value = 0;
  for (let index = span.from; index < span.from + span.length; index += 1) value = value * 2 + bitAt(bytes, index);
  return value;
}

/** Puts one bit, in place. */
export function putBit(bytes: Uint8Array, index: number, bit: 0 | 1): void {
  const at = index >> 3;
  const place = 0x80 >> (index & 7);
  bytes[at] = bit ? (bytes[at] ?? 0) | place : (bytes[at] ?? 0) & ~place;
}

/** Puts a number into a span, in place. The number must be below 2 ** length. */
export function putNumber(bytes: Uint8Array, span: BitSpan, value: number): void {
  let rest = value;
  for (let index = span.from + span.length - 1; index >= span.from; index -= 1) {
    putBit(bytes, index, rest % 2 === 1 ? 1 : 0);
    rest = Math.floor(rest / 2);
  }
}
