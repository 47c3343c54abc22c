/** MFGSTATR (83): a vendor’s status, withdrawn from the standard; opaque here. */
import type { MessageCodec } from '../message-codec.ts';

interface ManufacturerStatusReply {
  readonly kind: 'manufacturer-status';
  readonly payload: Uint8Array;
}

export const manufacturerStatusReply: MessageCodec<ManufacturerStatusReply> = {
  kind: 'manufacturer-status',
  code: 0x83,
  encode: ({ payload }) => payload,
  decode: (data) => ({ kind: 'manufacturer-status', payload: data.slice() }),
};
