/**
 * COMSET (6E): a new address and rate. The answer comes at the old ones and says what the peripheral will use,
 * which may differ from what was asked.
 */
import { readU32, u32 } from '../little-endian.ts';
import { type MessageCodec, within, wrongLength } from '../message-codec.ts';

interface SetCommunicationCommand {
  readonly kind: 'set-communication';
  /** 0x00–0x7E. */
  readonly address: number;
  /** Bits a second. */
  readonly baud: number;
}

export const setCommunicationCommand: MessageCodec<SetCommunicationCommand> = {
  kind: 'set-communication',
  code: 0x6e,
  encode: ({ address, baud }) => Uint8Array.of(within(0x7e, address, 'address'), ...u32(baud, 'baud')),
  decode: (data) =>
    data.length === 5
      ? { kind: 'set-communication', address: data[0] ?? 0, baud: readU32(data, 1) }
      : wrongLength(0x6e, data.length, '5'),
};
