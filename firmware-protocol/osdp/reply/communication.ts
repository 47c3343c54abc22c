/** COM (54): the address and rate the peripheral will use from now on; they count, not the ones asked for. */
import { readU32, u32 } from '../little-endian.ts';
import { type MessageCodec, within, wrongLength } from '../message-codec.ts';

interface CommunicationReply {
  readonly kind: 'communication';
  readonly address: number;
  /** Bits a second. */
  readonly baud: number;
}

export const communicationReply: MessageCodec<CommunicationReply> = {
  kind: 'communication',
  code: 0x54,
  encode: ({ address, baud }) => Uint8Array.of(within(0x7f, address, 'address'), ...u32(baud, 'baud')),
  decode: (data) =>
    data.length === 5
      ? { kind: 'communication', address: data[0] ?? 0, baud: readU32(data, 1) }
      : wrongLength(0x54, data.length, '5'),
};
