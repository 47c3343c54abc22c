/**
 * Consistent overhead byte stuffing (Cheshire and Baker, 1999): bytes without a zero, so that a zero can end a frame.
 *
 * Guarantees: `decodeCobs` takes anything and answers `undefined` for what is no stuffing; the stream holds at most
 * `limit` bytes and finds the next undamaged frame after any damage, since a zero occurs nowhere else.
 */

const longestRun = 254;

/** @returns the stuffed bytes without the ending zero; at most one byte longer per 254, and one. */
export function encodeCobs(bytes: Uint8Array): Uint8Array {
  const out: number[] = [];
  let run: number[] = [];
  const endRun = (): void => {
    out.push(run.length + 1, ...run);
    run = [];
  };
  for (const [at, byte] of bytes.entries()) {
    if (byte === 0) endRun();
    else run.push(byte);
    // A full run stands for no zero; at the very end nothing follows it.
    if (run.length === longestRun && at < bytes.length - 1) endRun();
  }
  endRun();
  return Uint8Array.from(out);
}

/** @param stuffed what stood between two zeros. @returns `undefined` where it is no stuffing of anything. */
export function decodeCobs(stuffed: Uint8Array): Uint8Array | undefined {
  if (stuffed.length === 0 || stuffed.includes(0)) return undefined;
  const out: number[] = [];
  let at = 0;
  while (at < stuffed.length) {
    const code = stuffed[at] ?? 0;
    const end = at + code;
    if (end > stuffed.length) return undefined;
    out.push(...stuffed.subarray(at + 1, end));
    if (code <= longestRun && end < stuffed.length) out.push(0);
    at = end;
  }
  return Uint8Array.from(out);
}

/** Bytes of a frame that has not ended yet. */
export interface CobsStream {
  readonly limit: number;
  readonly held: Uint8Array;
  /** The frame under way is already too long, and is waited out. */
  readonly isOverlong: boolean;
}

export interface CobsStep {
  readonly state: CobsStream;
  /** Unstuffed, in order of arrival; empty ones are no frames. */
  readonly frames: readonly Uint8Array[];
  /** Frames that were too long or no stuffing. */
  readonly dropped: number;
}

/** @param limit longest stuffed frame without its zero, bytes. */
export function createCobsStream(limit: number): CobsStream {
  return { limit, held: new Uint8Array(0), isOverlong: false };
}

/** Takes what arrived; a chunk may hold any number of frames, or a part of one. */
export function takeCobsBytes(state: CobsStream, chunk: Uint8Array): CobsStep {
  const frames: Uint8Array[] = [];
  let stream = state;
  let dropped = 0;
  let from = 0;
  for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, from)) {
    const { held, isOverlong } = hold(stream, chunk.subarray(from, end));
    const frame = isOverlong ? undefined : decodeCobs(held);
    if (frame !== undefined) frames.push(frame);
    else if (isOverlong || held.length > 0) dropped += 1;
    stream = createCobsStream(state.limit);
    from = end + 1;
  }
  return { state: hold(stream, chunk.subarray(from)), frames, dropped };
}

function hold(stream: CobsStream, piece: Uint8Array): CobsStream {
  const isOverlong = stream.isOverlong || stream.held.length + piece.length > stream.limit;
  return { limit: stream.limit, held: isOverlong ? new Uint8Array(0) : join(stream.held, piece), isOverlong };
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
