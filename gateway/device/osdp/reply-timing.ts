/**
 * How long to wait on a half-duplex bus, as arithmetic.
 *
 * Sources: SIA OSDP 2.2, timing: 10 bits a byte, reply within 200 ms, 2 character times of idle between messages,
 * 20 ms between two bytes; clumps of up to 110 ms were measured behind USB adapters and network converters.
 */

const shortestProbeMs = 30;
const probeFactor = 3;
/** Every so many probes the full time is given, or a slower reader put in a dead one's place would never be heard. */
const fullProbeEvery = 10;
const directGapMs = 20;
const bridgedGapMs = 150;
/** What a bridge may add to a reply, once. */
const bridgeAllowanceMs = 80;
const idleCharacters = 2;
const samplesMax = 32;

/** @returns milliseconds `length` bytes need on a wire of `baud` bits per second. */
export function transmitMs(length: number, baud: number): number {
  return (length * 10_000) / baud;
}

/** @returns how long the line rests between two messages, ms. */
export function idleMs(baud: number): number {
  return transmitMs(idleCharacters, baud);
}

/** @returns how long two bytes of one message may be apart, ms. */
export function gapMs(isBridged: boolean): number {
  return isBridged ? bridgedGapMs : directGapMs;
}

/** The last turnarounds of one reader: the reply's first byte after the command's last, ms, oldest first. */
export type Turnarounds = readonly number[];

export function learnTurnaround(known: Turnarounds, ms: number): Turnarounds {
  return [...known.slice(-(samplesMax - 1)), Math.max(0, ms)];
}

/** @returns the middle one, ms; `undefined` before the first reply. */
export function typicalTurnaround(known: Turnarounds): number | undefined {
  return [...known].sort((a, b) => a - b)[known.length >> 1];
}

export interface Waiting {
  readonly isProbe: boolean;
  /** Probes without an answer so far. */
  readonly unanswered: number;
  readonly isBridged: boolean;
  /** No other reader shares the line. */
  readonly isAlone: boolean;
  /** What the session asks for, ms. */
  readonly wantedMs: number;
}

/**
 * How long after a command's last byte the reply's first may come.
 * An absent reader is given three times what it used to need, 30–200 ms, so that it costs the others little; where there
 * are no others, all of it, since a reader that has just begun may be slower than it was.
 */
export function replyTimeoutMs(known: Turnarounds, waiting: Waiting): number {
  const allowance = waiting.isBridged ? bridgeAllowanceMs : 0;
  const typical = typicalTurnaround(known);
  const isFull =
    !waiting.isProbe ||
    waiting.isAlone ||
    typical === undefined ||
    waiting.unanswered % fullProbeEvery === fullProbeEvery - 1;
  if (isFull) return waiting.wantedMs + allowance;
  return Math.min(waiting.wantedMs, Math.max(shortestProbeMs, probeFactor * typical)) + allowance;
}
