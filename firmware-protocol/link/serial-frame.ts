/**
 * One frame on a serial line: `address control packet crc`, stuffed by COBS and ended by a zero.
 *
 * The gateway polls, an addressed lock answers within 50 ms. Control: bit 0 is the turn, bit 1 begins a conversation,
 * bit 7 marks an answer, so that an echo is never taken for one. A poll with the turn of the last one asks for the same
 * answer again; a poll without packet and an answer without packet are the line at rest.
 */
import { decodeCobs, encodeCobs } from './cobs.ts';
import { crc16 } from './crc16.ts';
import { longestPacket } from './packet.ts';

const turnBit = 0x01;
const freshBit = 0x02;
const answerBit = 0x80;

const headLength = 2;
const checkLength = 2;
/** Of a stuffed frame without its zero, bytes. */
export const longestStuffed = headLength + longestPacket + checkLength + 3;

export interface SerialFrame {
  /** 0–254. */
  readonly address: number;
  readonly turn: 0 | 1;
  /** The gateway begins anew: whatever was the last turn, this is a new one. */
  readonly isFresh: boolean;
  readonly isAnswer: boolean;
  /** Empty where there is nothing to say. */
  readonly packet: Uint8Array;
}

/** @returns the stuffed frame and its zero. */
export function encodeSerialFrame(frame: SerialFrame): Uint8Array {
  const control = frame.turn | (frame.isFresh ? freshBit : 0) | (frame.isAnswer ? answerBit : 0);
  const body = Uint8Array.from([frame.address, control, ...frame.packet]);
  const check = crc16(body);
  return Uint8Array.from([...encodeCobs(Uint8Array.from([...body, check >> 8, check & 0xff])), 0]);
}

export type SerialFault = 'stuffing' | 'length' | 'check' | 'control';

export type SerialDecoding =
  | { readonly kind: 'frame'; readonly frame: SerialFrame }
  | { readonly kind: 'dropped'; readonly fault: SerialFault };

/** @param stuffed what stood between two zeros. */
export function decodeSerialFrame(stuffed: Uint8Array): SerialDecoding {
  const bytes = stuffed.length > longestStuffed ? undefined : decodeCobs(stuffed);
  return bytes === undefined ? { kind: 'dropped', fault: 'stuffing' } : readSerialFrame(bytes);
}

/** @param bytes a frame as it was before stuffing. */
export function readSerialFrame(bytes: Uint8Array): SerialDecoding {
  const end = bytes.length - checkLength;
  if (end < headLength || end > headLength + longestPacket) return { kind: 'dropped', fault: 'length' };
  const check = ((bytes[end] ?? 0) << 8) | (bytes[end + 1] ?? 0);
  if (crc16(bytes.subarray(0, end)) !== check) return { kind: 'dropped', fault: 'check' };
  const [address = 0, control = 0] = bytes;
  if ((control & ~(turnBit | freshBit | answerBit)) !== 0 || address === 0xff)
    return { kind: 'dropped', fault: 'control' };
  const frame: SerialFrame = {
    address,
    turn: (control & turnBit) === 0 ? 0 : 1,
    isFresh: (control & freshBit) !== 0,
    isAnswer: (control & answerBit) !== 0,
    packet: bytes.slice(headLength, end),
  };
  return { kind: 'frame', frame };
}
