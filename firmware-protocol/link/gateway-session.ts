/**
 * The gateway's side of the link to one lock: sessions kept and renewed, commands sent once and answered for, news told.
 *
 * A pure machine: it is given packets, commands and time, and answers with bytes and facts. Guarantees: a command has
 * exactly one outcome, and is never sent in another session than its first; nothing is believed but a record of the
 * session, which nobody else can make, repeat or reorder; whatever happens, a lock that answers rightly is on line again
 * within seconds of being reachable. Not promised: that a command of unknown outcome was not carried out.
 */
import { openRecord } from './channel.ts';
import { type FromLock, fromLock } from './from-lock.ts';
import { switchOver, takeRefusal, takeWelcome, watchAttempt, watchSession } from './gateway-handshake.ts';
import type { GatewayInput, News } from './gateway-port.ts';
import { sendProbe } from './gateway-probe.ts';
import { abandonRequests, sendWaiting, settle, takeCommand, watchRequests } from './gateway-requests.ts';
import {
  andThen,
  type GatewayChannel,
  type GatewayState,
  type GatewayStep,
  move,
  raise,
  sayOffline,
} from './gateway-state.ts';
import { afterHello, nextProbeAt } from './gateway-timing.ts';
import { beginClock, happenedAt, hearClock } from './lock-clock.ts';
import { decodeMessage } from './message.ts';
import { decodePacket, type Packet } from './packet.ts';

/** @throws RangeError for a command that no message can carry. */
export function stepGatewaySession(state: GatewayState, input: GatewayInput): GatewayStep {
  switch (input.kind) {
    case 'tick':
      return state.isDown ? move(state, {}) : tick(state, input.at, input.entropy);
    case 'packet':
      return takePacket(state, input.at, input.bytes);
    case 'command':
      return takeCommand(state, input);
    case 'reachable':
      return move(state, { isDown: false, notBefore: Math.min(state.notBefore, afterHello(state, input.at)) });
    case 'down':
      return andThen(hangUp(state), (next) => sayOffline({ ...next, isDown: true }, 'line-down'));
  }
}

function hangUp(state: GatewayState): GatewayStep {
  return andThen(abandonRequests(state), (next) => move(next, { channel: undefined, attempt: undefined }));
}

function tick(state: GatewayState, at: number, entropy: Uint8Array): GatewayStep {
  const steps: readonly ((next: GatewayState) => GatewayStep)[] = [
    (next) => watchRequests(next, at),
    (next) => watchSilence(next, at),
    (next) => watchAttempt(next, at),
    (next) => switchOver(next, at),
    (next) => watchSession(next, at, entropy),
    (next) => (at >= nextProbeAt(next) ? sendProbe(next, at) : move(next, {})),
    (next) => sendWaiting(next, at),
  ];
  return steps.reduce((step, next) => andThen(step, next), move(state, {}));
}

function watchSilence(state: GatewayState, at: number): GatewayStep {
  const isUsable = state.channel?.clock !== undefined;
  if (!isUsable || at < state.lastGoodAt + state.pace.offlineAfterMs) return move(state, {});
  const ended = andThen(abandonRequests(state), (next) => move(next, { channel: undefined }));
  return andThen(ended, (next) => sayOffline(next, 'silent'));
}

function takePacket(state: GatewayState, at: number, bytes: Uint8Array): GatewayStep {
  const packet = decodePacket(bytes);
  switch (packet?.kind) {
    case undefined:
      return move(state, {}, { kind: 'dropped', reason: 'no-packet' });
    case 'hello':
      return move(state, {}, { kind: 'dropped', reason: 'not-for-gateways' });
    case 'welcome':
      return takeWelcome(state, at, packet.noise);
    case 'refusal':
      return takeRefusal(state, packet.reason);
    case 'record':
      return takeRecord(state, at, packet);
  }
}

function takeRecord(
  state: GatewayState,
  at: number,
  packet: Extract<Packet, { readonly kind: 'record' }>,
): GatewayStep {
  const { channel } = state;
  if (channel === undefined) return move(state, {}, { kind: 'dropped', reason: 'not-authentic' });
  const opening = openRecord(channel.link, packet);
  if (opening.kind === 'refused') return refuseRecord(state, at, opening.reason);
  const decoding = decodeMessage(fromLock, opening.clear);
  const heard = { ...channel, link: opening.channel };
  if (decoding.kind === 'refused') {
    return move(state, { channel: heard }, { kind: 'dropped', reason: 'malformed' });
  }
  const { message } = decoding;
  const believed = believe(state, at, heard, message.uptime);
  const taken = andThen(believed, (next) => takeMessage(next, at, message));
  return andThen(
    andThen(taken, (next) => switchOver(next, at)),
    (next) => sendWaiting(next, at),
  );
}

const forgedMax = 5;
const forgedMs = 60_000;

/** Late records of a session before are expected for a while; many that fit nothing are somebody's work. */
function refuseRecord(state: GatewayState, at: number, reason: 'not-authentic' | 'old'): GatewayStep {
  const dropped = move(state, {}, { kind: 'dropped', reason });
  const isYoung = at < (state.channel?.since ?? at) + forgedMs;
  if (reason === 'old' || isYoung) return dropped;
  const forged = [...state.forged.filter((time) => at - time < forgedMs), at].slice(-forgedMax);
  return andThen(dropped, (next) =>
    forged.length < forgedMax
      ? move(next, { forged })
      : raise({ ...next, forged }, at, 'DEVICE_MESSAGE_FORGED', 'records-of-no-session'),
  );
}

/** A good record: the session is proven by its first, and alive by each. */
function believe(state: GatewayState, at: number, channel: GatewayChannel, uptime: number): GatewayStep {
  const isFirst = channel.clock === undefined;
  const clock = channel.clock ? hearClock(channel.clock, at, uptime) : beginClock(channel.since, at, uptime);
  const known: Partial<GatewayState> = {
    channel: { ...channel, clock, lastUptime: uptime },
    lastGoodAt: at,
    isSessionDoubted: false,
  };
  return isFirst ? andThen(move(state, known), (next) => prove(next, at, channel)) : move(state, known);
}

function prove(state: GatewayState, at: number, { identity, isUnderCandidate }: GatewayChannel): GatewayStep {
  const { candidate, current } = state.keys;
  const isConfirmed = isUnderCandidate && candidate !== undefined;
  const proven = move(
    state,
    {
      silences: 0,
      mismatches: 0,
      notBefore: afterHello(state, at),
      keys: isConfirmed ? { current: candidate, candidate: undefined } : { current, candidate },
      nextRole: candidate === undefined || isConfirmed ? 'current' : 'candidate',
      status: { kind: 'online' },
    },
    ...(isConfirmed ? [{ kind: 'key-confirmed', key: candidate } as const] : []),
  );
  if (state.status.kind === 'online') return proven;
  return andThen(proven, (next) => move(next, {}, { kind: 'online', identity }));
}

function takeMessage(state: GatewayState, at: number, message: FromLock): GatewayStep {
  switch (message.kind) {
    case 'identity':
      return move(state, {}, { kind: 'dropped', reason: 'unasked' });
    case 'ack':
    case 'slot':
      return settle(state, at, message);
    case 'status':
      return andThen(settle(state, at, message), (next) => report(next, message, 0));
    case 'log':
      return report(state, message, 0);
    case 'card':
    case 'keys':
    case 'token':
    case 'event':
      return report(state, message, message.ageMs);
  }
}

function report(state: GatewayState, message: News, ageMs: number): GatewayStep {
  const clock = state.channel?.clock;
  if (clock === undefined) return move(state, {});
  return move(state, {}, { kind: 'told', happenedAt: happenedAt(clock, message.uptime, ageMs), message });
}
