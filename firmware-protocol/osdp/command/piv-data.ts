/** PIVDATA (A3): asks for a data object of a PIV card. Its body is opaque here. */
import type { MessageCodec } from '../message-codec.ts';

interface PivDataCommand {
  readonly kind: 'piv-data';
  readonly payload: Uint8Array;
}

export const pivDataCommand: MessageCodec<PivDataCommand> = {
  kind: 'piv-data',
  code: 0xa3,
  encode: ({ payload }) => payload,
  decode: (data) => ({ kind: 'piv-data', payload: data.slice() }),
};
