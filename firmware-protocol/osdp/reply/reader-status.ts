/** RSTATR (4B): state of the readers attached to the peripheral; any number of readers is taken. */
import { type MessageCodec, placeOf } from '../message-codec.ts';

const states = ['ok', 'not-connected', 'tampered', 'unknown'] as const;

interface ReaderStatusReply {
  readonly kind: 'reader-status';
  /** By reader number from 0; numbers outside the list read as `unknown`. */
  readonly readers: readonly (typeof states)[number][];
}

export const readerStatusReply: MessageCodec<ReaderStatusReply> = {
  kind: 'reader-status',
  code: 0x4b,
  encode: ({ readers }) => Uint8Array.from(readers, (state) => placeOf(states, state)),
  decode: (data) => ({ kind: 'reader-status', readers: Array.from(data, (value) => states[value] ?? 'unknown') }),
};
