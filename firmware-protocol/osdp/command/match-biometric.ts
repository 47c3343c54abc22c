/** BIOMATCH (74): asks for a comparison with a template. Field meanings follow the open implementations; no device was measured. */
import { readU16, u16 } from '../little-endian.ts';
import { byte, type Malformed, type MessageCodec, wrongLength } from '../message-codec.ts';

interface MatchBiometricCommand {
  readonly kind: 'match-biometric';
  readonly reader: number;
  readonly bodyPart: number;
  readonly format: number;
  /** Least quality that counts as a match, 0–255. */
  readonly threshold: number;
  readonly template: Uint8Array;
}

const code = 0x74;
const headLength = 6;

export const matchBiometricCommand: MessageCodec<MatchBiometricCommand> = {
  kind: 'match-biometric',
  code,
  encode: ({ reader, bodyPart, format, threshold, template }) =>
    Uint8Array.from([
      byte(reader, 'reader'),
      byte(bodyPart, 'body part'),
      byte(format, 'format'),
      byte(threshold, 'threshold'),
      ...u16(template.length, 'length of the template'),
      ...template,
    ]),
  decode,
};

function decode(data: Uint8Array): MatchBiometricCommand | Malformed {
  const [reader = 0, bodyPart = 0, format = 0, threshold = 0] = data;
  if (data.length < headLength || data.length !== headLength + readU16(data, 4)) {
    return wrongLength(code, data.length, `${headLength} and the template`);
  }
  return { kind: 'match-biometric', reader, bodyPart, format, threshold, template: data.slice(headLength) };
}
