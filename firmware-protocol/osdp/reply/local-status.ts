/** LSTATR (48): tamper and power of the peripheral itself. */
import { type MessageCodec, wrongLength } from '../message-codec.ts';

interface LocalStatusReply {
  readonly kind: 'local-status';
  readonly isTampered: boolean;
  /** Power is failing, or was lost since the last report. */
  readonly hasPowerFailed: boolean;
}

export const localStatusReply: MessageCodec<LocalStatusReply> = {
  kind: 'local-status',
  code: 0x48,
  encode: ({ isTampered, hasPowerFailed }) => Uint8Array.of(Number(isTampered), Number(hasPowerFailed)),
  decode: (data) =>
    data.length === 2
      ? { kind: 'local-status', isTampered: data[0] !== 0, hasPowerFailed: data[1] !== 0 }
      : wrongLength(0x48, data.length, '2'),
};
