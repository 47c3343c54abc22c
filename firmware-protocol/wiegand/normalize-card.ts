/**
 * The byte string from which a card's lookup is computed: bit count u16, most significant byte first, then the bits.
 *
 * Guarantee: one card gives one byte string at every reader whose byte order is set right, and cards of different
 * length never share one. Bits after the last are zero; serial numbers are in the order `as-read` means.
 * No format takes part: a card works by its raw bits, known format or not, and a later format setting changes nothing.
 * Parity is part of the bits, since that is what the reader sent.
 *
 * Whoever computes lookups from a list (cloud, import) must use this same function on the same bits.
 */
import type { CardBits } from './card-bits.ts';
import { isUidLength, type UidOrder } from './uid.ts';

/** @returns 2 + ceil(bitCount / 8) bytes, or `undefined` if the card has no bits or fewer bytes than bits. */
export function normalizeCard({ bitCount, bytes }: CardBits, uidOrder: UidOrder): Uint8Array | undefined {
  const length = Math.ceil(bitCount / 8);
  if (!Number.isInteger(bitCount) || bitCount < 1 || bitCount > 0xffff || bytes.length < length) return undefined;
  const body = bytes.slice(0, length);
  if (uidOrder === 'reversed' && isUidLength(bitCount)) body.reverse();
  const unused = length * 8 - bitCount;
  body[length - 1] = (body[length - 1] ?? 0) & (0xff << unused);
  return Uint8Array.from([bitCount >> 8, bitCount & 0xff, ...body]);
}
