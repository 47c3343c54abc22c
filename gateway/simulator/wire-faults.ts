/**
 * What a faulty wire or an attacker on it does to a peripheral's replies. Pure: randomness arrives as bytes.
 *
 * `hear` stands before the peripheral (what reaches it), `say` after it (what leaves it). Counted faults end by themselves.
 * Recorded replies are kept as they were sent, so a replay is byte for byte what the panel once accepted.
 */
import { encodeFrame, type Frame } from '#protocol/osdp/frame.ts';
import type { Fault } from './fault.ts';

export interface WireFaults {
  readonly isUnplugged: boolean;
  readonly replays: { readonly left: number; readonly said: number };
  readonly duplicates: number;
  readonly delays: { readonly left: number; readonly ms: number };
  readonly corruptions: number;
  readonly busies: number;
  readonly naks: { readonly left: number; readonly code: number };
  /** Replies as sent, newest last; at most `recordedMax`, long ones (they carry events) kept before short ones. */
  readonly recorded: readonly Uint8Array[];
}

const recordedMax = 32;
const replyNak = 0x41;
const replyBusy = 0x79;
const none = new Uint8Array(0);

export const soundWire: WireFaults = {
  isUnplugged: false,
  replays: { left: 0, said: 0 },
  duplicates: 0,
  delays: { left: 0, ms: 0 },
  corruptions: 0,
  busies: 0,
  naks: { left: 0, code: 0 },
  recorded: [],
};

/** Faults that are not of the wire (keys, power, identity) leave it as it is. */
export function withFault(state: WireFaults, fault: Fault): WireFaults {
  switch (fault.kind) {
    case 'unplug':
    case 'plug':
      return { ...state, isUnplugged: fault.kind === 'unplug' };
    case 'replay':
      return { ...state, replays: { left: fault.count, said: 0 } };
    case 'duplicate':
      return { ...state, duplicates: fault.count };
    case 'delay':
      return { ...state, delays: { left: fault.count, ms: fault.delayMs } };
    case 'corrupt':
      return { ...state, corruptions: fault.count };
    case 'busy':
      return { ...state, busies: fault.count };
    case 'nak':
      return { ...state, naks: { left: fault.count, code: fault.code } };
    case 'heal':
      return { ...soundWire, recorded: state.recorded };
    default:
      return state;
  }
}

export type Hearing =
  | { readonly kind: 'reaches' }
  | { readonly kind: 'lost' }
  /** The peripheral never sees the command; this is said in its place. */
  | { readonly kind: 'answered'; readonly reply: Uint8Array };

export function hear(state: WireFaults, command: Frame): { readonly state: WireFaults; readonly hearing: Hearing } {
  if (state.isUnplugged) return { state, hearing: { kind: 'lost' } };
  if (state.replays.left > 0 && state.recorded.length > 0) return replayed(state);
  if (state.busies > 0) {
    const reply = plainReply(command, 0, replyBusy, none);
    return { state: { ...state, busies: state.busies - 1 }, hearing: { kind: 'answered', reply } };
  }
  if (state.naks.left > 0) {
    const reply = plainReply(command, command.sequence, replyNak, new Uint8Array([state.naks.code]));
    const naks = { ...state.naks, left: state.naks.left - 1 };
    return { state: { ...state, naks }, hearing: { kind: 'answered', reply } };
  }
  return { state, hearing: { kind: 'reaches' } };
}

/** The longest recorded reply first (a card read is longer than an ACK), then the others in turn. */
function replayed(state: WireFaults): { readonly state: WireFaults; readonly hearing: Hearing } {
  const byLength = state.recorded.toSorted((a, b) => b.length - a.length);
  const reply = byLength[state.replays.said % byLength.length] ?? none;
  const replays = { left: state.replays.left - 1, said: state.replays.said + 1 };
  return { state: { ...state, replays }, hearing: { kind: 'answered', reply } };
}

function plainReply(command: Frame, sequence: Frame['sequence'], code: number, data: Uint8Array): Uint8Array {
  const { address, check } = command;
  return encodeFrame({ address, isReply: true, sequence, check, security: undefined, code, data });
}

export interface Sending {
  readonly afterMs: number;
  readonly bytes: Uint8Array;
}

/**
 * What leaves for one reply of the peripheral.
 * @param entropy two random bytes: which bit flips.
 */
export function say(
  state: WireFaults,
  reply: Uint8Array,
  entropy: Uint8Array,
): { readonly state: WireFaults; readonly sends: readonly Sending[] } {
  if (state.isUnplugged) return { state, sends: [] };
  const afterMs = state.delays.left > 0 ? state.delays.ms : 0;
  const bytes = state.corruptions > 0 ? flipped(reply, entropy) : reply;
  const sends = [{ afterMs, bytes }];
  if (state.duplicates > 0) sends.push({ afterMs, bytes });
  return {
    sends,
    state: {
      ...state,
      recorded: remember(state.recorded, reply),
      delays: { ...state.delays, left: less(state.delays.left) },
      corruptions: less(state.corruptions),
      duplicates: less(state.duplicates),
    },
  };
}

const less = (count: number) => Math.max(0, count - 1);

function flipped(reply: Uint8Array, entropy: Uint8Array): Uint8Array {
  const damaged = reply.slice();
  const at = (entropy[0] ?? 0) % damaged.length;
  damaged[at] = (damaged[at] ?? 0) ^ (1 << ((entropy[1] ?? 0) % 8));
  return damaged;
}

/** Short replies (ACK to a poll) push out each other, never an event. */
function remember(recorded: readonly Uint8Array[], reply: Uint8Array): readonly Uint8Array[] {
  const all = [...recorded, reply];
  if (all.length <= recordedMax) return all;
  const shortest = all.reduce((least, bytes) => Math.min(least, bytes.length), Number.POSITIVE_INFINITY);
  const oldest = all.findIndex((bytes) => bytes.length === shortest);
  return all.filter((_, index) => index !== oldest);
}

/** Random bytes in which the start of a message is as frequent as not. @param entropy one byte of noise each. */
export function noise(entropy: Uint8Array): Uint8Array {
  return entropy.map((byte) => (byte < 64 ? 0x53 : byte));
}
