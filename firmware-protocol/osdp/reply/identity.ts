/** PDID (45): who the peripheral says it is. In plain this is forgeable. */
import { readU32, u32 } from '../little-endian.ts';
import { byte, type Malformed, type MessageCodec, wrongLength } from '../message-codec.ts';
import { vendorBytes, vendorText } from '../vendor-code.ts';

export interface IdentityReply {
  readonly kind: 'identity';
  /** Six hexadecimal digits in wire order. */
  readonly vendor: string;
  readonly model: number;
  readonly version: number;
  /** 0–4294967295. */
  readonly serial: number;
  readonly firmware: { readonly major: number; readonly minor: number; readonly build: number };
}

const code = 0x45;

export const identityReply: MessageCodec<IdentityReply> = {
  kind: 'identity',
  code,
  encode: ({ vendor, model, version, serial, firmware }) =>
    Uint8Array.from([
      ...vendorBytes(vendor),
      byte(model, 'model'),
      byte(version, 'version'),
      ...u32(serial, 'serial'),
      byte(firmware.major, 'major'),
      byte(firmware.minor, 'minor'),
      byte(firmware.build, 'build'),
    ]),
  decode,
};

function decode(data: Uint8Array): IdentityReply | Malformed {
  if (data.length !== 12) return wrongLength(code, data.length, '12');
  return {
    kind: 'identity',
    vendor: vendorText(data),
    model: data[3] ?? 0,
    version: data[4] ?? 0,
    serial: readU32(data, 5),
    firmware: { major: data[9] ?? 0, minor: data[10] ?? 0, build: data[11] ?? 0 },
  };
}
