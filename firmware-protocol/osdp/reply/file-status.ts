/** FTSTAT (7A): how a file transfer goes, and how to go on. */
import { i16, readI16, readU16, u16 } from '../little-endian.ts';
import { type MessageCodec, wrongLength } from '../message-codec.ts';

export interface FileStatusReply {
  readonly kind: 'file-status';
  /** Other commands may come between the fragments. */
  readonly allowsOtherCommands: boolean;
  /** It asks to leave the secure channel for the transfer. */
  readonly wantsPlain: boolean;
  /** An event waits for the next POLL. */
  readonly hasEvent: boolean;
  /** To wait before the next fragment. */
  readonly delayMs: number;
  /** 0 go on, 1 done, 2 done and restarting, 3 finishing; negative: −1 aborted, −2 not recognised, −3 malformed. */
  readonly status: number;
  /** Longest message from now on, bytes; 0 = as before. */
  readonly longestMessage: number;
}

const code = 0x7a;

export const fileStatusReply: MessageCodec<FileStatusReply> = {
  kind: 'file-status',
  code,
  encode: (reply) =>
    Uint8Array.of(
      Number(reply.allowsOtherCommands) | (Number(reply.wantsPlain) << 1) | (Number(reply.hasEvent) << 2),
      ...u16(reply.delayMs, 'delay'),
      ...i16(reply.status, 'status'),
      ...u16(reply.longestMessage, 'longest message'),
    ),
  decode: (data) => {
    const [action = 0] = data;
    if (data.length !== 7) return wrongLength(code, data.length, '7');
    return {
      kind: 'file-status',
      allowsOtherCommands: (action & 1) !== 0,
      wantsPlain: (action & 2) !== 0,
      hasEvent: (action & 4) !== 0,
      delayMs: readU16(data, 1),
      status: readI16(data, 3),
      longestMessage: readU16(data, 5),
    };
  },
};
