/**
 * The gateway's turns with one lock on a serial line: a call, and its answer or its repeat.
 *
 * Guarantees: a call that was not answered is repeated as it was, and the lock's answer to it is taken once; an echo or
 * another lock's answer is taken for nothing. Not promised: any pause between calls; that is the line's owner's business.
 */
import { encodeSerialFrame, type SerialFrame } from './serial-frame.ts';

export interface SerialCaller {
  readonly address: number;
  /** Of the next new call. */
  readonly turn: 0 | 1;
  /** Nothing was answered yet since this end started. */
  readonly isFresh: boolean;
  /** The call that waits for its answer. */
  readonly open: Uint8Array | undefined;
}

/** @param address 0–254. */
export function createSerialCaller(address: number): SerialCaller {
  return { address, turn: 0, isFresh: true, open: undefined };
}

/** The bytes to send: the open call again, or a new one. @param packet empty for a mere poll; ignored by a repeat. */
export function call(
  state: SerialCaller,
  packet: Uint8Array,
): { readonly state: SerialCaller; readonly bytes: Uint8Array; readonly isRepeat: boolean } {
  if (state.open !== undefined) return { state, bytes: state.open, isRepeat: true };
  const { address, turn, isFresh } = state;
  const bytes = encodeSerialFrame({ address, turn, isFresh, isAnswer: false, packet });
  return { state: { ...state, open: bytes }, bytes, isRepeat: false };
}

/** Gives up the open call, whose packet may have arrived; the next one begins the conversation anew. */
export function giveUpCall(state: SerialCaller): SerialCaller {
  return { ...state, isFresh: true, open: undefined };
}

/** @returns the answer's packet, which may be empty; `undefined` for a frame that is no answer to the open call. */
export function takeAnswer(
  state: SerialCaller,
  frame: SerialFrame,
): { readonly state: SerialCaller; readonly packet: Uint8Array } | undefined {
  const isAnswer = frame.isAnswer && frame.address === state.address && frame.turn === state.turn;
  if (state.open === undefined || !isAnswer) return undefined;
  const turn = state.turn === 0 ? 1 : 0;
  return { state: { ...state, turn, isFresh: false, open: undefined }, packet: frame.packet };
}
