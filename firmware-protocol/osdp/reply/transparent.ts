/**
 * XRD (B1): what the card or the reader says in transparent smart card mode.
 * Only the two leading bytes are read; what follows depends on them and is opaque here.
 */
import { byte, type MessageCodec, wrongLength } from '../message-codec.ts';

interface TransparentReply {
  readonly kind: 'transparent';
  readonly mode: number;
  readonly answer: number;
  readonly payload: Uint8Array;
}

export const transparentReply: MessageCodec<TransparentReply> = {
  kind: 'transparent',
  code: 0xb1,
  encode: ({ mode, answer, payload }) => Uint8Array.from([byte(mode, 'mode'), byte(answer, 'answer'), ...payload]),
  decode: (data) => {
    const [mode, answer] = data;
    return mode === undefined || answer === undefined
      ? wrongLength(0xb1, data.length, 'at least 2')
      : { kind: 'transparent', mode, answer, payload: data.slice(2) };
  },
};
