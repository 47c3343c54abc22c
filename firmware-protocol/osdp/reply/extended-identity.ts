/** Extended PDID (59): tagged fields, in the newest edition of the standard; opaque here. */
import type { MessageCodec } from '../message-codec.ts';

interface ExtendedIdentityReply {
  readonly kind: 'extended-identity';
  readonly payload: Uint8Array;
}

export const extendedIdentityReply: MessageCodec<ExtendedIdentityReply> = {
  kind: 'extended-identity',
  code: 0x59,
  encode: ({ payload }) => payload,
  decode: (data) => ({ kind: 'extended-identity', payload: data.slice() }),
};
