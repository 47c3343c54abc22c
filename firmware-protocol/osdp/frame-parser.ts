/**
 * Finds OSDP messages in a stream of bytes, however it was cut into chunks.
 *
 * Guarantee: never throws; holds less than one longest message; after any damage the next undamaged message is found,
 * at the latest when the gap between bytes expires; every byte is either in a message, a mark, or counted as dropped.
 * Messages of the other direction (our own echo on a two-wire adapter, or a second panel) come out separately.
 * Not promised: whose address or sequence it is; that belongs to the session.
 *
 * Sans-IO: `(state, chunk) → result`. Time stays outside: the owner calls `expireFrame` when bytes of a message failed to
 * follow each other in time, and starts anew with `createFrameParser` where it flushes its input before sending.
 */
import { announcedLength, decodeFrame, type Frame, longestFrame, mark, shortestFrame, som } from './frame.ts';

export interface FrameParser {
  /** Which direction this end of the line listens to. */
  readonly hears: 'commands' | 'replies';
  /** Bytes of a message that is not complete yet; empty or beginning with SOM; shorter than the longest message. */
  readonly held: Uint8Array;
}

/** What was thrown away in one step. */
export interface FrameDrops {
  /** Bytes that belong to no message and are no mark. */
  readonly bytes: number;
  /** Beginnings that turned out to be none, by what was wrong. A wrong check is line noise, or somebody's message to us lost. */
  readonly badLength: number;
  readonly badCheck: number;
  readonly badStructure: number;
  /** Beginnings whose rest did not arrive in time. */
  readonly expired: number;
}

export interface FrameStep {
  readonly state: FrameParser;
  /** In order of arrival, of the direction that is heard. */
  readonly frames: readonly Frame[];
  /** Good messages of the other direction. */
  readonly foreign: readonly Frame[];
  readonly drops: FrameDrops;
}

export function createFrameParser(hears: FrameParser['hears']): FrameParser {
  return { hears, held: new Uint8Array(0) };
}

/** Takes what arrived. A chunk may hold any number of messages, or a part of one. */
export function parseFrames(state: FrameParser, chunk: Uint8Array): FrameStep {
  return scan(state.hears, joined(state.held, chunk), 'wait');
}

/** The gap between two bytes was too long: gives up the message being waited for, and looks for others inside it. */
export function expireFrame(state: FrameParser): FrameStep {
  return scan(state.hears, state.held, 'give-up');
}

function joined(held: Uint8Array, chunk: Uint8Array): Uint8Array {
  if (held.length === 0) return chunk;
  const bytes = new Uint8Array(held.length + chunk.length);
  bytes.set(held);
  bytes.set(chunk, held.length);
  return bytes;
}

type Tally = { -readonly [Reason in keyof FrameDrops]: FrameDrops[Reason] };

type Look =
  | { readonly kind: 'frame'; readonly frame: Frame }
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'none'; readonly reason: Exclude<keyof FrameDrops, 'bytes'> };

const reasons = { 'bad-length': 'badLength', 'bad-check': 'badCheck', 'bad-structure': 'badStructure' } as const;

function scan(hears: FrameParser['hears'], bytes: Uint8Array, atEnd: 'wait' | 'give-up'): FrameStep {
  const frames: Frame[] = [];
  const foreign: Frame[] = [];
  const drops: Tally = { bytes: 0, badLength: 0, badCheck: 0, badStructure: 0, expired: 0 };
  let at = nextSom(bytes, 0, drops);
  while (at < bytes.length) {
    const look = lookAt(bytes, at, atEnd);
    if (look.kind === 'incomplete') break;
    if (look.kind === 'frame') {
      const isHeard = look.frame.isReply === (hears === 'replies');
      (isHeard ? frames : foreign).push(look.frame);
      at += look.frame.bytes.length;
    } else {
      // SOM occurs inside data too: only this one byte is known to be wrong.
      drops[look.reason] += 1;
      drops.bytes += 1;
      at += 1;
    }
    at = nextSom(bytes, at, drops);
  }
  return { state: { hears, held: bytes.slice(at) }, frames, foreign, drops };
}

function nextSom(bytes: Uint8Array, from: number, drops: Tally): number {
  let at = from;
  for (; at < bytes.length && bytes[at] !== som; at += 1) if (bytes[at] !== mark) drops.bytes += 1;
  return at;
}

function lookAt(bytes: Uint8Array, at: number, atEnd: 'wait' | 'give-up'): Look {
  const incomplete: Look = atEnd === 'wait' ? { kind: 'incomplete' } : { kind: 'none', reason: 'expired' };
  const length = announcedLength(bytes, at);
  if (length === undefined) return incomplete;
  if (length < shortestFrame || length > longestFrame) return { kind: 'none', reason: 'badLength' };
  if (at + length > bytes.length) return incomplete;
  const decoding = decodeFrame(bytes.subarray(at, at + length));
  return decoding.kind === 'frame' ? decoding : { kind: 'none', reason: reasons[decoding.fault] };
}
