/** KEYPAD (53): keys as pressed, one a reply or several. Secret: part of a PIN. */
import { byte, type MessageCodec, within, wrongLength } from '../message-codec.ts';

interface KeysReply {
  readonly kind: 'keys';
  readonly reader: number;
  /** One byte a key: ASCII digits, 0x0D enter, 0x7F clear; some readers send `#` and `*`. */
  readonly keys: Uint8Array;
}

export const keysReply: MessageCodec<KeysReply> = {
  kind: 'keys',
  code: 0x53,
  encode: ({ reader, keys }) =>
    Uint8Array.from([byte(reader, 'reader'), within(0xff, keys.length, 'number of keys'), ...keys]),
  decode: (data) => {
    const [reader = 0, count] = data;
    return count === undefined || data.length !== 2 + count
      ? wrongLength(0x53, data.length, '2 and the keys')
      : { kind: 'keys', reader, keys: data.slice(2) };
  },
};

/**
 * Keys as text: `0`–`9`, `#` for enter, `*` for clear.
 * Any other key reads as `?`, so that a PIN typed with one cannot become another PIN by leaving it out.
 */
export function keysText(keys: Uint8Array): string {
  return Array.from(keys, keyText).join('');
}

function keyText(key: number): string {
  if (key >= 0x30 && key <= 0x39) return String.fromCharCode(key);
  if (key === 0x0d || key === 0x23) return '#';
  return key === 0x7f || key === 0x2a ? '*' : '?';
}
