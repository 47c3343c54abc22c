/**
 * How long a gateway waits, milliseconds, and when it next has something to do.
 *
 * Guarantee: every pause has a ceiling, five seconds for a lock that is silent and a minute for one that answers wrongly,
 * so that nobody is given up for good.
 */
import type { GatewayState } from './gateway-state.ts';

/** A little more than a lock's, so that its answer is never too soon by a hair. */
const handshakePauseMs = 1_100;
/** From an unanswered handshake to the next. @param silences in a row, 1 and more. */
export function silencePause(silences: number): number {
  return Math.min(5_000, handshakePauseMs + 500 * (silences - 1));
}

/** From a wrongly answered handshake to the next: 1, 2, 4 … 60 s. @param mismatches in a row, 1 and more. */
export function mismatchPause(mismatches: number): number {
  return Math.min(60_000, handshakePauseMs * 2 ** Math.min(mismatches - 1, 6));
}

/** The earliest next handshake. */
export function afterHello(state: GatewayState, at: number): number {
  return state.lastHelloAt === undefined ? at : Math.max(at, state.lastHelloAt + handshakePauseMs);
}

/** A session is replaced after so many records in one direction, or this long. */
const recordsMax = 2 ** 16;
const sessionMs = 24 * 3_600_000;
/** How long a new session waits for the open commands of the old one. */
export const drainMs = 10_000;
/** Unanswered signs of life after which the session is doubted. */
const probesMax = 3;

/** Whether the session in use should be replaced. */
export function isRekeyDue(state: GatewayState, at: number): boolean {
  const { channel, probe, pace } = state;
  if (channel?.clock === undefined) return false;
  const { sendCounter, receivedCounter } = channel.link;
  const isWorn = sendCounter >= recordsMax || receivedCounter >= recordsMax || at >= channel.since + sessionMs;
  const isDead = probe !== undefined && probe.count >= probesMax && at >= probe.sentAt + pace.answerMs;
  return (
    isWorn || isDead || state.isRekeyWanted || (state.isSessionDoubted && at >= unansweredSince(state) + pace.answerMs)
  );
}

/** Since when something waits for an answer; never is `Infinity`. */
function unansweredSince(state: GatewayState): number {
  return Math.min(state.probe?.firstSentAt ?? Infinity, ...state.flights.map((flight) => flight.firstSentAt));
}

/** When the lock is next asked for a sign of life. */
export function nextProbeAt(state: GatewayState): number {
  const { channel, probe, pace } = state;
  if (channel === undefined) return Infinity;
  return probe === undefined ? state.lastGoodAt + pace.keepAliveMs : probe.sentAt + pace.answerMs;
}

/** The instant at which a tick has something to do; `Infinity` for never. A tick before it does nothing. */
export function wakeAt(state: GatewayState): number {
  if (state.isDown) return Infinity;
  const { channel, attempt, pace } = state;
  const times = [
    nextProbeAt(state),
    ...state.queue.map(({ deadline }) => deadline),
    ...state.flights.flatMap(({ lastSentAt, deadline }) => [lastSentAt + pace.answerMs, deadline + pace.resolveMs]),
  ];
  if (attempt !== undefined) times.push(attempt.since + (attempt.kind === 'hello' ? pace.handshakeMs : drainMs));
  if (channel === undefined) return Math.min(...times, attempt === undefined ? state.notBefore : Infinity);
  if (channel.clock === undefined) return Math.min(...times, channel.since + pace.handshakeMs);
  times.push(state.lastGoodAt + pace.offlineAfterMs);
  if (attempt === undefined) times.push(Math.max(state.notBefore, rekeyAt(state)));
  return Math.min(...times);
}

function rekeyAt(state: GatewayState): number {
  if (isRekeyDue(state, Number.NEGATIVE_INFINITY)) return Number.NEGATIVE_INFINITY;
  const { channel, probe, pace } = state;
  const doubtedAt = state.isSessionDoubted ? unansweredSince(state) + pace.answerMs : Infinity;
  const deadAt = probe !== undefined && probe.count >= probesMax ? probe.sentAt + pace.answerMs : Infinity;
  return Math.min(doubtedAt, deadAt, (channel?.since ?? Infinity) + sessionMs);
}
