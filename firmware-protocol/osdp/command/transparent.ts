/**
 * XWR (A1): transparent smart card mode, which talks to the card itself through the reader.
 * Only the two leading bytes are read; what follows depends on them and is opaque here.
 */
import { byte, type MessageCodec, wrongLength } from '../message-codec.ts';

interface TransparentCommand {
  readonly kind: 'transparent';
  readonly mode: number;
  readonly operation: number;
  readonly payload: Uint8Array;
}

export const transparentCommand: MessageCodec<TransparentCommand> = {
  kind: 'transparent',
  code: 0xa1,
  encode: ({ mode, operation, payload }) =>
    Uint8Array.from([byte(mode, 'mode'), byte(operation, 'operation'), ...payload]),
  decode: (data) => {
    const [mode, operation] = data;
    return mode === undefined || operation === undefined
      ? wrongLength(0xa1, data.length, 'at least 2')
      : { kind: 'transparent', mode, operation, payload: data.slice(2) };
  },
};
