/** BIOMATCHR (58): how well a finger or face matched. Field meanings follow the open implementations; no device was measured. */
import { byte, type MessageCodec, wrongLength } from '../message-codec.ts';

interface BiometricMatchReply {
  readonly kind: 'biometric-match';
  readonly reader: number;
  /** 0 = success. */
  readonly status: number;
  /** 0–255. */
  readonly score: number;
}

export const biometricMatchReply: MessageCodec<BiometricMatchReply> = {
  kind: 'biometric-match',
  code: 0x58,
  encode: ({ reader, status, score }) =>
    Uint8Array.of(byte(reader, 'reader'), byte(status, 'status'), byte(score, 'score')),
  decode: (data) => {
    const [reader = 0, status = 0, score = 0] = data;
    return data.length === 3 ? { kind: 'biometric-match', reader, status, score } : wrongLength(0x58, data.length, '3');
  },
};
