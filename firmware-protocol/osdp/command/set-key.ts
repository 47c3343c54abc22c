/** KEYSET (75): gives the peripheral its base key. Only inside a secure session; never shown, never logged. */
import { type Malformed, type MessageCodec, sized, wrongLength, wrongValue } from '../message-codec.ts';

interface SetKeyCommand {
  readonly kind: 'set-key';
  /** SCBK, 16 bytes. */
  readonly key: Uint8Array;
}

const code = 0x75;
const baseKeyType = 1;
const keyLength = 16;

export const setKeyCommand: MessageCodec<SetKeyCommand> = {
  kind: 'set-key',
  code,
  encode: ({ key }) => Uint8Array.from([baseKeyType, keyLength, ...sized(keyLength, key, 'key')]),
  decode,
};

function decode(data: Uint8Array): SetKeyCommand | Malformed {
  if (data.length !== 2 + keyLength) return wrongLength(code, data.length, `${2 + keyLength}`);
  if (data[0] !== baseKeyType || data[1] !== keyLength) return wrongValue(code, 'key type or key length');
  return { kind: 'set-key', key: data.slice(2) };
}
