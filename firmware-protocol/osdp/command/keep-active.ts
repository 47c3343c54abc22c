/** KEEPACTIVE (A7): asks the reader to keep the presented card powered. */
import { readU16, u16 } from '../little-endian.ts';
import { type MessageCodec, wrongLength } from '../message-codec.ts';

interface KeepActiveCommand {
  readonly kind: 'keep-active';
  readonly durationMs: number;
}

export const keepActiveCommand: MessageCodec<KeepActiveCommand> = {
  kind: 'keep-active',
  code: 0xa7,
  encode: ({ durationMs }) => Uint8Array.from(u16(durationMs, 'duration')),
  decode: (data) =>
    data.length === 2 ? { kind: 'keep-active', durationMs: readU16(data, 0) } : wrongLength(0xa7, data.length, '2'),
};
