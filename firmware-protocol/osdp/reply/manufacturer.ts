/** MFGREP (90): a vendor's own reply, opaque here. */
import { type MessageCodec, wrongLength } from '../message-codec.ts';
import { vendorBytes, vendorText } from '../vendor-code.ts';

interface ManufacturerReply {
  readonly kind: 'manufacturer';
  /** Six hexadecimal digits in wire order. */
  readonly vendor: string;
  readonly payload: Uint8Array;
}

export const manufacturerReply: MessageCodec<ManufacturerReply> = {
  kind: 'manufacturer',
  code: 0x90,
  encode: ({ vendor, payload }) => Uint8Array.from([...vendorBytes(vendor), ...payload]),
  decode: (data) =>
    data.length < 3
      ? wrongLength(0x90, data.length, 'at least 3')
      : { kind: 'manufacturer', vendor: vendorText(data), payload: data.slice(3) },
};
