/**
 * A lock's turns on a serial line: each call is taken once and answered as often as it is repeated.
 *
 * Guarantees: it speaks only when called by its address; a repeated call brings the same bytes, and its packet is not
 * taken again. Not promised: that the bytes leave within 50 ms; a handshake's answer may wait for a later call.
 */
import { encodeSerialFrame, type SerialFrame } from './serial-frame.ts';

export interface SerialAnswerer {
  readonly address: number;
  readonly last: { readonly turn: 0 | 1; readonly bytes: Uint8Array } | undefined;
}

export function createSerialAnswerer(address: number): SerialAnswerer {
  return { address, last: undefined };
}

export type Call =
  | { readonly kind: 'not-for-us' }
  /** Said again as it was. */
  | { readonly kind: 'repeat'; readonly bytes: Uint8Array }
  /** @param packet to be taken; empty for a mere poll. `answer` follows. */
  | { readonly kind: 'new'; readonly packet: Uint8Array };

export function hearCall(state: SerialAnswerer, frame: SerialFrame): Call {
  if (frame.isAnswer || frame.address !== state.address) return { kind: 'not-for-us' };
  const isRepeat = state.last !== undefined && state.last.turn === frame.turn && !frame.isFresh;
  return isRepeat && state.last !== undefined
    ? { kind: 'repeat', bytes: state.last.bytes }
    : { kind: 'new', packet: frame.packet };
}

/** The bytes that answer a new call. @param packet what waits to be said; empty for nothing. */
export function answerCall(
  state: SerialAnswerer,
  frame: SerialFrame,
  packet: Uint8Array,
): { readonly state: SerialAnswerer; readonly bytes: Uint8Array } {
  const { address } = state;
  const bytes = encodeSerialFrame({ address, turn: frame.turn, isFresh: false, isAnswer: true, packet });
  return { state: { address, last: { turn: frame.turn, bytes } }, bytes };
}
