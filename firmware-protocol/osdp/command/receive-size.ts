/** ACURXSIZE (7B): tells the peripheral the longest message the panel takes. */
import { readU16, u16 } from '../little-endian.ts';
import { type MessageCodec, wrongLength } from '../message-codec.ts';

interface ReceiveSizeCommand {
  readonly kind: 'receive-size';
  /** Bytes. */
  readonly size: number;
}

export const receiveSizeCommand: MessageCodec<ReceiveSizeCommand> = {
  kind: 'receive-size',
  code: 0x7b,
  encode: ({ size }) => Uint8Array.from(u16(size, 'size')),
  decode: (data) =>
    data.length === 2 ? { kind: 'receive-size', size: readU16(data, 0) } : wrongLength(0x7b, data.length, '2'),
};
