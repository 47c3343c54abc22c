/**
 * FILETRANSFER (7C): one fragment of a file, with the whole size and where the fragment belongs.
 * An empty fragment asks again when a peripheral said it is finishing.
 */
import { readU16, readU32, u16, u32 } from '../little-endian.ts';
import { byte, type Malformed, type MessageCodec, wrongLength, wrongValue } from '../message-codec.ts';

interface FileTransferCommand {
  readonly kind: 'file-transfer';
  /** 1 opaque, 2 biometric template, 3 display, 0x80 and above private. */
  readonly fileType: number;
  /** Whole size, bytes. */
  readonly total: number;
  readonly offset: number;
  readonly fragment: Uint8Array;
}

const code = 0x7c;
/** Bytes before the fragment. */
const headLength = 11;

export const fileTransferCommand: MessageCodec<FileTransferCommand> = {
  kind: 'file-transfer',
  code,
  encode: ({ fileType, total, offset, fragment }) =>
    Uint8Array.from([
      byte(fileType, 'file type'),
      ...u32(total, 'whole size'),
      ...u32(offset, 'offset'),
      ...u16(fragment.length, 'fragment'),
      ...fragment,
    ]),
  decode,
};

function decode(data: Uint8Array): FileTransferCommand | Malformed {
  const length = readU16(data, 9);
  if (data.length < headLength || data.length !== headLength + length) {
    return wrongLength(code, data.length, `${headLength} and the fragment`);
  }
  const total = readU32(data, 1);
  const offset = readU32(data, 5);
  if (length > 0 && offset + length > total) return wrongValue(code, 'the fragment reaches past the whole size');
  return { kind: 'file-transfer', fileType: data[0] ?? 0, total, offset, fragment: data.slice(headLength) };
}
