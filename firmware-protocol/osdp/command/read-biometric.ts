/** BIOREAD (73): asks for a biometric template. Field meanings follow the open implementations; no device was measured. */
import { byte, type MessageCodec, wrongLength } from '../message-codec.ts';

interface ReadBiometricCommand {
  readonly kind: 'read-biometric';
  readonly reader: number;
  readonly bodyPart: number;
  readonly format: number;
  /** 0–255. */
  readonly quality: number;
}

export const readBiometricCommand: MessageCodec<ReadBiometricCommand> = {
  kind: 'read-biometric',
  code: 0x73,
  encode: ({ reader, bodyPart, format, quality }) =>
    Uint8Array.of(
      byte(reader, 'reader'),
      byte(bodyPart, 'body part'),
      byte(format, 'format'),
      byte(quality, 'quality'),
    ),
  decode: (data) => {
    const [reader = 0, bodyPart = 0, format = 0, quality = 0] = data;
    return data.length === 4
      ? { kind: 'read-biometric', reader, bodyPart, format, quality }
      : wrongLength(0x73, data.length, '4');
  },
};
