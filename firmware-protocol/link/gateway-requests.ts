/**
 * Commands on their way: each is numbered once, sent again under the same number in the same session only, and answered
 * for exactly once.
 *
 * Guarantees: nothing is first sent at or after its deadline, nor taken while the lock is off line; sent again it carries
 * the same last instant, so that a late copy cannot act and its answer still tells what became of the first. Past that,
 * and where the session ends, the outcome is `unknown`.
 */
import type { FromLock } from './from-lock.ts';
import type { GatewayEffect, GatewayInput, LinkAnswer, LinkOutcome } from './gateway-port.ts';
import { isClockStale, sendProbe, transmit } from './gateway-probe.ts';
import { andThen, type Flight, type GatewayState, type GatewayStep, move } from './gateway-state.ts';
import { hearClock, uptimeNotAfter } from './lock-clock.ts';
import { encodeMessage } from './message.ts';
import { placesCount } from './once-only.ts';
import { type ToLock, toLock } from './to-lock.ts';

/** Commands under way, and waiting to be. */
const flightsMax = 8;
const queueMax = 8;

const done = (id: number, outcome: LinkOutcome): GatewayEffect => ({ kind: 'command-done', id, outcome });

/** @throws RangeError for a command that no message can carry. */
export function takeCommand(
  state: GatewayState,
  input: Extract<GatewayInput, { readonly kind: 'command' }>,
): GatewayStep {
  const { at, id, command, deadline } = input;
  const refuse = (reason: 'offline' | 'expired' | 'busy'): GatewayStep =>
    move(state, {}, done(id, { kind: 'not-executed', reason }));
  if (state.status.kind !== 'online') return refuse('offline');
  if (at >= deadline) return refuse('expired');
  if (state.queue.length >= queueMax) return refuse('busy');
  encodeMessage(toLock, { ...command, request: 1, notAfterUptime: 0 });
  return sendWaiting({ ...state, queue: [...state.queue, { id, command, deadline }] }, at);
}

/** Whether another number may be opened: the lock must remember all that are. */
function hasRoom(state: GatewayState, request: number): boolean {
  const oldest = state.flights[0]?.message.request ?? request;
  return state.flights.length < flightsMax && request - oldest < placesCount;
}

/** Sends what waits, as far as the session allows. */
export function sendWaiting(state: GatewayState, at: number): GatewayStep {
  const { channel, queue, attempt } = state;
  const [next, ...rest] = queue;
  if (next === undefined || channel?.clock === undefined || attempt?.kind === 'welcomed') return move(state, {});
  if (!hasRoom(state, channel.nextRequest)) return move(state, {});
  if (isClockStale(state, at)) return state.probe === undefined ? sendProbe(state, at) : move(state, {});
  const notAfterUptime = uptimeNotAfter(channel.clock, at, next.deadline);
  const message: ToLock = { ...next.command, request: channel.nextRequest, notAfterUptime };
  const flight: Flight = { id: next.id, message, deadline: next.deadline, firstSentAt: at, lastSentAt: at };
  const keys = message.kind === 'key-rotate' ? { ...state.keys, candidate: message.key } : state.keys;
  const begun: GatewayState = {
    ...state,
    keys,
    queue: rest,
    flights: [...state.flights, flight],
    channel: { ...channel, nextRequest: channel.nextRequest + 1 },
  };
  return andThen(transmit(begun, message), (sent) => sendWaiting(sent, at));
}

/** Answers for what waited too long, asks again for what is unanswered, and gives up what stays so. */
export function watchRequests(state: GatewayState, at: number): GatewayStep {
  const { pace } = state;
  const expired = state.queue.filter(({ deadline }) => at >= deadline);
  const given = state.flights.filter(({ deadline }) => at >= deadline + pace.resolveMs);
  const effects = [
    ...expired.map(({ id }) => done(id, { kind: 'not-executed', reason: 'expired' })),
    ...given.map(({ id }) => done(id, { kind: 'unknown' })),
  ];
  const left = state.flights.filter((flight) => !given.includes(flight));
  const kept = { queue: state.queue.filter((waiting) => !expired.includes(waiting)), flights: left };
  return left.reduce<GatewayStep>(
    (step, flight) =>
      at < flight.lastSentAt + pace.answerMs ? step : andThen(step, (next) => sendAgain(next, flight, at)),
    move(state, kept, ...effects),
  );
}

function sendAgain(state: GatewayState, flight: Flight, at: number): GatewayStep {
  const flights = state.flights.map((other) => (other === flight ? { ...flight, lastSentAt: at } : other));
  return transmit({ ...state, flights }, flight.message);
}

/** The session ends: what was sent may have been carried out, what waited was not. */
export function abandonRequests(state: GatewayState): GatewayStep {
  const effects = [
    ...state.flights.map(({ id }) => done(id, { kind: 'unknown' })),
    ...state.queue.map(({ id }) => done(id, { kind: 'not-executed', reason: 'offline' })),
  ];
  return move(state, { flights: [], queue: [], probe: undefined }, ...effects);
}

/** What was sent in a session that is certainly over; what waits goes on waiting for the next one. */
export function abandonFlights(state: GatewayState): GatewayStep {
  return move(state, { flights: [] }, ...state.flights.map(({ id }) => done(id, { kind: 'unknown' })));
}

type Settling = Extract<FromLock, { readonly kind: 'ack' | 'status' | 'slot' }>;

/** An answer to one of our numbers. */
export function settle(state: GatewayState, at: number, message: Settling): GatewayStep {
  const { request, uptime } = message;
  const flight = state.flights.find((one) => one.message.request === request);
  if (flight === undefined) return settleProbe(state, at, message);
  const outcome = outcomeOf(flight, message);
  if (outcome === undefined) return move(state, {}, { kind: 'dropped', reason: 'unasked' });
  const flights = state.flights.filter((one) => one !== flight);
  const timed = sampleClock(state, at, uptime, flight.firstSentAt);
  const isRekeyWanted = state.isRekeyWanted || (flight.message.kind === 'key-rotate' && outcome.kind === 'done');
  return move(
    timed,
    { flights, isRekeyWanted, nextRole: isRekeyWanted ? 'candidate' : state.nextRole },
    done(flight.id, outcome),
  );
}

/** The own question is answered by any word with its number. */
function settleProbe(state: GatewayState, at: number, { request, uptime, kind }: Settling): GatewayStep {
  const { probe } = state;
  if (probe === undefined || request === undefined || request < probe.firstRequest || request > probe.lastRequest) {
    return kind === 'status' ? move(state, {}) : move(state, {}, { kind: 'dropped', reason: 'unasked' });
  }
  return move(sampleClock(state, at, uptime, probe.firstSentAt), { probe: undefined });
}

function sampleClock(state: GatewayState, at: number, uptime: number, askedAt: number): GatewayState {
  const { channel } = state;
  if (channel?.clock === undefined) return state;
  return { ...state, channel: { ...channel, clock: hearClock(channel.clock, at, uptime, askedAt) } };
}

const answers: Partial<Record<ToLock['kind'], LinkAnswer['kind']>> = { query: 'status', 'slots-read': 'slot' };

/** @returns `undefined` where the answer is of another kind than the question. */
function outcomeOf(flight: Flight, message: Settling): LinkOutcome | undefined {
  if (message.kind !== 'ack') {
    return answers[flight.message.kind] === message.kind ? { kind: 'done', answer: message } : undefined;
  }
  const { result } = message;
  if (result === 'done') return answers[flight.message.kind] === undefined ? { kind: 'done' } : undefined;
  return result === 'expired' ? { kind: 'not-executed', reason: 'expired' } : { kind: 'refused', result };
}
