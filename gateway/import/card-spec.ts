/** A card as an import set writes it, as bits: the identity under which every reader will meet it. */
import type { CardBits } from '#protocol/wiegand/card-bits.ts';
import { encodeCard } from '#protocol/wiegand/encode-card.ts';
import { normalizeCard } from '#protocol/wiegand/normalize-card.ts';
import { standardFormats } from '#protocol/wiegand/standard-formats.ts';
import { isUidLength } from '#protocol/wiegand/uid.ts';
import type { CardSpec } from './import-schema.ts';

export type CardReading =
  | {
      readonly kind: 'card';
      /** As `normalizeCard` gives it. */
      readonly normalized: Uint8Array;
      /** Why anyone could make such a card; `undefined` where that is not known. */
      readonly cloneableAs: string | undefined;
    }
  | { readonly kind: 'wrong'; readonly field: string; readonly rule: string };

export function readCardSpec(spec: CardSpec): CardReading {
  if ('format' in spec) return fromNumbers(spec);
  if ('bits' in spec) return fromBits({ bitCount: spec.bits.length, bytes: bytesOfBits(spec.bits) });
  const bytes = Uint8Array.from(Buffer.from(spec.hex, 'hex'));
  const length = Math.ceil(spec.bitCount / 8);
  if (bytes.length !== length) {
    const rule = `must be ${length} bytes for ${spec.bitCount} bits, most significant first`;
    return { kind: 'wrong', field: 'card.hex', rule };
  }
  if (spec.bitCount % 8 !== 0 && (bytes[length - 1] ?? 0) & (0xff >> (spec.bitCount % 8)))
    return { kind: 'wrong', field: 'card.hex', rule: 'must have zeros after the last bit: the bits stand to the left' };
  return fromBits({ bitCount: spec.bitCount, bytes });
}

function fromNumbers({ format: name, facility, number }: Extract<CardSpec, { format: string }>): CardReading {
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

function cloneableAs(bitCount: number): string | undefined {
  const format = standardFormats.find((known) => known.bitCount === bitCount && known.isCloneable);
  if (format !== undefined) return `${bitCount} bits (${format.name})`;
  return isUidLength(bitCount) ? `a serial number of ${bitCount} bits` : undefined;
}

function bytesOfBits(bits: string): Uint8Array {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0');
  return Uint8Array.from(padded.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2));
}
