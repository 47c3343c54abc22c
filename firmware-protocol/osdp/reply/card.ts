/**
 * RAW (50): the bits of a card as read, left-justified, most significant first.
 *
 * The format number is carried and not believed: readers send 0 for Wiegand cards. What the bits mean is `wiegand/`.
 */
import { readU16, u16 } from '../little-endian.ts';
import { byte, type Malformed, type MessageCodec, sized, wrongLength, wrongValue } from '../message-codec.ts';

interface CardReply {
  readonly kind: 'card';
  readonly reader: number;
  /** 0 unspecified, 1 Wiegand with parity, 2 UID, 3 OSS secure identifier. */
  readonly format: number;
  /** 1–1024. */
  readonly bitCount: number;
  /** ceil(bitCount / 8) bytes; unused bits of the last one are zero. */
  readonly bytes: Uint8Array;
}

const code = 0x50;
const headLength = 4;
const mostBits = 1024;

export const cardReply: MessageCodec<CardReply> = {
  kind: 'card',
  code,
  encode: ({ reader, format, bitCount, bytes }) =>
    Uint8Array.from([
      byte(reader, 'reader'),
      byte(format, 'format'),
      ...u16(bitCount, 'bit count'),
      ...sized(Math.ceil(bitCount / 8), bytes, 'card'),
    ]),
  decode,
};

function decode(data: Uint8Array): CardReply | Malformed {
  const [reader = 0, format = 0] = data;
  const bitCount = readU16(data, 2);
  const length = Math.ceil(bitCount / 8);
  if (data.length < headLength || data.length !== headLength + length) {
    return wrongLength(code, data.length, `${headLength} and ${length} for ${bitCount} bits`);
  }
  if (bitCount === 0 || bitCount > mostBits) return wrongValue(code, `${bitCount} bits`);
  const bytes = data.slice(headLength);
  // Some readers leave noise after the last bit; two reads of one card must be the same value.
  bytes[length - 1] = (bytes[length - 1] ?? 0) & (0xff << (length * 8 - bitCount));
  return { kind: 'card', reader, format, bitCount, bytes };
}
