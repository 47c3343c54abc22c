/** OSTATR (4A): whether each output is active; any number of outputs is taken. */
import type { MessageCodec } from '../message-codec.ts';

interface OutputStatusReply {
  readonly kind: 'output-status';
  /** By output number from 0: active or not. */
  readonly outputs: readonly boolean[];
}

export const outputStatusReply: MessageCodec<OutputStatusReply> = {
  kind: 'output-status',
  code: 0x4a,
  encode: ({ outputs }) => Uint8Array.from(outputs, Number),
  decode: (data) => ({ kind: 'output-status', outputs: Array.from(data, (value) => value !== 0) }),
};
