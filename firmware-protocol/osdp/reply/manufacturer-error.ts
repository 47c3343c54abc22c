/** MFGERRR (84): a vendor’s error, withdrawn from the standard; opaque here. */
import type { MessageCodec } from '../message-codec.ts';

interface ManufacturerErrorReply {
  readonly kind: 'manufacturer-error';
  readonly payload: Uint8Array;
}

export const manufacturerErrorReply: MessageCodec<ManufacturerErrorReply> = {
  kind: 'manufacturer-error',
  code: 0x84,
  encode: ({ payload }) => payload,
  decode: (data) => ({ kind: 'manufacturer-error', payload: data.slice() }),
};
