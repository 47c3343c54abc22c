/** ISTATR (49): one state an input; any number of inputs is taken. A supervised loop can be short, cut or faulty. */
import { type MessageCodec, placeOf } from '../message-codec.ts';

const states = ['inactive', 'active', 'short', 'cut', 'fault', 'unknown'] as const;

interface InputStatusReply {
  readonly kind: 'input-status';
  /** By input number from 0; numbers outside the list read as `unknown`. */
  readonly inputs: readonly (typeof states)[number][];
}

export const inputStatusReply: MessageCodec<InputStatusReply> = {
  kind: 'input-status',
  code: 0x49,
  encode: ({ inputs }) => Uint8Array.from(inputs, (state) => placeOf(states, state)),
  decode: (data) => ({ kind: 'input-status', inputs: Array.from(data, (value) => states[value] ?? 'unknown') }),
};
