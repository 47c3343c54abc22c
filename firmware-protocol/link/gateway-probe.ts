/**
 * What a gateway says in its session, and its own question there: the proof of a new session, a sign of life, the lock's clock.
 */
import { sealRecord } from './channel.ts';
import { type GatewayState, type GatewayStep, move } from './gateway-state.ts';
import { driftSince, uptimeNotAfter } from './lock-clock.ts';
import { encodeMessage } from './message.ts';
import { type ToLock, toLock } from './to-lock.ts';

/** One record in the session in use. */
export function transmit(state: GatewayState, message: ToLock): GatewayStep {
  const { channel } = state;
  if (channel === undefined) return move(state, {});
  const sealed = sealRecord(channel.link, encodeMessage(toLock, message));
  return move(state, { channel: { ...channel, link: sealed.channel } }, { kind: 'transmit', bytes: sealed.bytes });
}

/** Drift that eats too much of a command's lifetime, ms. */
const driftMaxMs = 100;

/** Whether the lock was not heard for so long that its clock must be asked for before a deadline is written on it. */
export function isClockStale(state: GatewayState, at: number): boolean {
  const clock = state.channel?.clock;
  return clock !== undefined && driftSince(clock, at) > driftMaxMs;
}

/** Asks how the lock is; each time under a new number, since it is a question. */
export function sendProbe(state: GatewayState, at: number): GatewayStep {
  const { channel, pace } = state;
  if (channel === undefined) return move(state, {});
  const request = channel.nextRequest;
  const { firstRequest, firstSentAt, count } = state.probe ?? { firstRequest: request, firstSentAt: at, count: 0 };
  const probe = { firstRequest, firstSentAt, lastRequest: request, sentAt: at, count: count + 1 };
  const asked = { ...state, probe, channel: { ...channel, nextRequest: request + 1 } };
  // Before the first record the lock's clock is known by its welcome alone: it cannot have run less since.
  const notAfterUptime =
    channel.clock === undefined
      ? Math.floor(channel.lastUptime + at - channel.since + pace.handshakeMs)
      : uptimeNotAfter(channel.clock, at, at + pace.handshakeMs);
  return transmit(asked, { kind: 'query', request, notAfterUptime });
}
