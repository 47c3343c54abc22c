/** BIOREADR (57): a biometric template. Field meanings follow the open implementations; no device was measured. */
import { readU16, u16 } from '../little-endian.ts';
import { byte, type Malformed, type MessageCodec, wrongLength } from '../message-codec.ts';

interface BiometricReadReply {
  readonly kind: 'biometric-read';
  readonly reader: number;
  /** 0 = success. */
  readonly status: number;
  readonly bodyPart: number;
  /** 0–255. */
  readonly quality: number;
  readonly template: Uint8Array;
}

const code = 0x57;
const headLength = 6;

export const biometricReadReply: MessageCodec<BiometricReadReply> = {
  kind: 'biometric-read',
  code,
  encode: ({ reader, status, bodyPart, quality, template }) =>
    Uint8Array.from([
      byte(reader, 'reader'),
      byte(status, 'status'),
      byte(bodyPart, 'body part'),
      byte(quality, 'quality'),
      ...u16(template.length, 'length of the template'),
      ...template,
    ]),
  decode,
};

function decode(data: Uint8Array): BiometricReadReply | Malformed {
  const [reader = 0, status = 0, bodyPart = 0, quality = 0] = data;
  if (data.length < headLength || data.length !== headLength + readU16(data, 4)) {
    return wrongLength(code, data.length, `${headLength} and the template`);
  }
  return { kind: 'biometric-read', reader, status, bodyPart, quality, template: data.slice(headLength) };
}
