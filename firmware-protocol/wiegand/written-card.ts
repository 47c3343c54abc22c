/** A card as a person or a program writes it, as bits: the identity under which every reader will meet it. */
import type { CardBits } from './card-bits.ts';
import { encodeCard } from './encode-card.ts';
import { normalizeCard } from './normalize-card.ts';
import { standardFormats } from './standard-formats.ts';
import { isUidLength } from './uid.ts';

/** As zeros and ones, as bytes with the count of bits (a serial number too), or as the numbers printed on the card. */
export type WrittenCard =
  | { readonly bits: string }
  | { readonly bitCount: number; readonly hex: string }
  | { readonly format: string; readonly facility?: number | undefined; readonly number: number };

export type CardReading =
  | {
      readonly kind: 'card';
      /** As `normalizeCard` gives it. */
      readonly normalized: Uint8Array;
      /** Why anyone could make such a card; `undefined` where that is not known. */
      readonly cloneableAs: string | undefined;
    }
  | { readonly kind: 'wrong'; readonly field: string; readonly rule: string };

/** @param card is made of zeros and ones, or of pairs of hexadecimal digits, as its schema says. */
export function readWrittenCard(card: WrittenCard): CardReading {
  if ('format' in card) return fromNumbers(card);
  if ('bits' in card) return fromBits({ bitCount: card.bits.length, bytes: bytesOfBits(card.bits) });
  const bytes = bytesOfHex(card.hex);
  const length = Math.ceil(card.bitCount / 8);
  if (bytes.length !== length) {
    const rule = `must be ${length} bytes for ${card.bitCount} bits, most significant first`;
    return { kind: 'wrong', field: 'card.hex', rule };
  }
  if (card.bitCount % 8 !== 0 && (bytes[length - 1] ?? 0) & (0xff >> (card.bitCount % 8)))
    return { kind: 'wrong', field: 'card.hex', rule: 'must have zeros after the last bit: the bits stand to the left' };
  return fromBits({ bitCount: card.bitCount, bytes });
}

function fromNumbers({ format: name, facility, number }: Extract<WrittenCard, { format: string }>): CardReading {
  const format = standardFormats.find((known) => known.name === name);
  if (format === undefined) {
    const rule = `must be one of ${standardFormats.map((known) => known.name).join(', ')}`;
    return { kind: 'wrong', field: 'card.format', rule };
  }
  const bits = encodeCard(format, { facility, number });
  if (bits !== undefined) return fromBits(bits);
  const numberMax = 2 ** format.number.length - 1;
  const facilityRule =
    format.facility === undefined ? 'no facility' : `a facility up to ${2 ** format.facility.length - 1}`;
  return { kind: 'wrong', field: 'card', rule: `must have a number up to ${numberMax} and ${facilityRule}` };
}

function fromBits(bits: CardBits): CardReading {
  const normalized = normalizeCard(bits, 'as-read');
  if (normalized === undefined) return { kind: 'wrong', field: 'card', rule: 'has no bits' };
  return { kind: 'card', normalized, cloneableAs: cloneableAs(bits.bitCount) };
}

/** Why anyone can make a card of so many bits, or `undefined`. */
export function cloneableAs(bitCount: number): string | undefined {
  const format = standardFormats.find((known) => known.bitCount === bitCount && known.isCloneable);
  if (format !== undefined) return `${bitCount} bits (${format.name})`;
  return isUidLength(bitCount) ? `a serial number of ${bitCount} bits` : undefined;
}

function bytesOfBits(bits: string): Uint8Array {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0');
  return Uint8Array.from(padded.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}

function bytesOfHex(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}
