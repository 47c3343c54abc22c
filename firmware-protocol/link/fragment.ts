/**
 * A packet in pieces, for transports whose units are shorter (BLE).
 *
 * Each piece begins with one byte: 0x80 first, 0x40 last, and the low six bits count pieces modulo 64 across packets.
 * Guarantees: a piece that is missing, repeated or out of order gives up its packet, never joins two; at most one packet
 * is held, of at most `longestPacket` bytes. What a wrong join would make is refused by its tag anyway.
 */
import { longestPacket } from './packet.ts';

const firstBit = 0x80;
const lastBit = 0x40;
const sequenceMask = 0x3f;

export interface Fragmenting {
  readonly pieces: readonly Uint8Array[];
  /** For the next packet in this direction. */
  readonly sequence: number;
}

/** @param size longest piece with its header, bytes, 2 and more: on BLE the MTU less 3. @param sequence 0–63. */
export function fragmentPacket(packet: Uint8Array, size: number, sequence: number): Fragmenting {
  const pieces: Uint8Array[] = [];
  let next = sequence;
  for (let at = 0; at < packet.length; at += size - 1) {
    const part = packet.subarray(at, at + size - 1);
    const isLast = at + part.length === packet.length;
    const header = (at === 0 ? firstBit : 0) | (isLast ? lastBit : 0) | next;
    pieces.push(Uint8Array.from([header, ...part]));
    next = (next + 1) & sequenceMask;
  }
  return { pieces, sequence: next };
}

export interface Reassembly {
  /** Of the packet under way; `undefined` between packets. */
  readonly held: Uint8Array | undefined;
  /** Of the piece that must follow. */
  readonly next: number;
}

export const noFragment: Reassembly = { held: undefined, next: 0 };

export interface ReassemblyStep {
  readonly state: Reassembly;
  readonly packet?: Uint8Array;
  /** A packet was given up, or a piece belonged to none. */
  readonly isDropped: boolean;
}

export function takeFragment(state: Reassembly, piece: Uint8Array): ReassemblyStep {
  const header = piece[0];
  if (header === undefined || piece.length === 1) return { state: noFragment, isDropped: true };
  const isFirst = (header & firstBit) !== 0;
  const sequence = header & sequenceMask;
  const wasHeld = state.held !== undefined;
  if (!isFirst && (state.held === undefined || sequence !== state.next)) return { state: noFragment, isDropped: true };
  const before = isFirst || state.held === undefined ? new Uint8Array(0) : state.held;
  if (before.length + piece.length - 1 > longestPacket) return { state: noFragment, isDropped: true };
  const held = Uint8Array.from([...before, ...piece.subarray(1)]);
  const isDropped = isFirst && wasHeld;
  if ((header & lastBit) !== 0) return { state: noFragment, packet: held, isDropped };
  return { state: { held, next: (sequence + 1) & sequenceMask }, isDropped };
}
