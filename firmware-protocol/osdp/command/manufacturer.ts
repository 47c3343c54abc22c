/** MFG (80): a vendor's own command, opaque here. */
import { type MessageCodec, wrongLength } from '../message-codec.ts';
import { vendorBytes, vendorText } from '../vendor-code.ts';

interface ManufacturerCommand {
  readonly kind: 'manufacturer';
  /** Six hexadecimal digits in wire order. */
  readonly vendor: string;
  readonly payload: Uint8Array;
}

export const manufacturerCommand: MessageCodec<ManufacturerCommand> = {
  kind: 'manufacturer',
  code: 0x80,
  encode: ({ vendor, payload }) => Uint8Array.from([...vendorBytes(vendor), ...payload]),
  decode: (data) =>
    data.length < 3
      ? wrongLength(0x80, data.length, 'at least 3')
      : { kind: 'manufacturer', vendor: vendorText(data), payload: data.slice(3) },
};
