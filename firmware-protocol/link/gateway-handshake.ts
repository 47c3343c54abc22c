/**
 * From nothing, or from an ageing session, to a new one.
 *
 * Guarantees: at most one handshake a second; a wrong answer ends nothing, since anybody could have sent it, and is an
 * alarm when no right one followed; a session replaces the one in use when that has no command open, or is certainly
 * over; nothing is sent in it but its proof until the lock has answered that.
 */
import { openChannel } from './channel.ts';
import { fromLock } from './from-lock.ts';
import type { LinkOfflineReason } from './gateway-port.ts';
import { sendProbe } from './gateway-probe.ts';
import { abandonFlights, abandonRequests } from './gateway-requests.ts';
import {
  type Attempt,
  andThen,
  type GatewayChannel,
  type GatewayState,
  type GatewayStep,
  type KeyRing,
  move,
  raise,
  sayOffline,
} from './gateway-state.ts';
import { afterHello, drainMs, isRekeyDue, mismatchPause, silencePause } from './gateway-timing.ts';
import { decodeMessage } from './message.ts';
import { readWelcome, writeHello } from './noise.ts';
import { encodeHello, type RefusalReason } from './packet.ts';
import { linkSecret } from './secret.ts';

/** Begins a handshake where one is due. */
export function watchSession(state: GatewayState, at: number, entropy: Uint8Array): GatewayStep {
  const isWanted = state.channel === undefined || isRekeyDue(state, at);
  if (!isWanted || state.attempt !== undefined || at < state.notBefore) return move(state, {});
  const role = state.keys.candidate === undefined ? 'current' : state.nextRole;
  const key = state.keys[role] ?? state.keys.current;
  const hello = writeHello(linkSecret(state.deviceId, key), entropy);
  const attempt: Attempt = {
    kind: 'hello',
    role,
    own: { ephemeral: entropy.slice(), transcript: hello.state },
    since: at,
    isDoubted: false,
  };
  return move(state, { attempt, lastHelloAt: at }, { kind: 'transmit', bytes: encodeHello(hello.bytes) });
}

type HelloAttempt = Extract<Attempt, { readonly kind: 'hello' }>;

export function takeWelcome(state: GatewayState, at: number, noise: Uint8Array): GatewayStep {
  const { attempt } = state;
  if (attempt?.kind !== 'hello') return move(state, {}, { kind: 'dropped', reason: 'unasked' });
  const welcome = readWelcome(attempt.own.transcript, attempt.own.ephemeral, noise);
  if (welcome === undefined) return refuseWelcome(state, attempt, noise);
  const decoding = decodeMessage(fromLock, welcome.payload);
  if (decoding.kind === 'refused' || decoding.message.kind !== 'identity') {
    return move(state, {}, { kind: 'dropped', reason: 'malformed' });
  }
  const { kind: _kind, uptime, ...identity } = decoding.message;
  if (!isExpected(state.expectedIdentity, identity)) return refuseIdentity(state, at);
  const channel: Omit<GatewayChannel, 'since'> = {
    link: openChannel(welcome.keys, 'gateway'),
    identity,
    isUnderCandidate: attempt.role === 'candidate',
    clock: undefined,
    lastUptime: uptime,
    nextRequest: 1,
  };
  const welcomed = move(state, { attempt: { kind: 'welcomed', channel, since: at } });
  const hasRestarted = state.channel !== undefined && uptime < state.channel.lastUptime;
  const cleared = hasRestarted ? andThen(welcomed, abandonFlights) : welcomed;
  return andThen(cleared, (next) => switchOver(next, at));
}

function refuseWelcome(state: GatewayState, attempt: HelloAttempt, noise: Uint8Array): GatewayStep {
  const { previousHello } = state;
  const late = previousHello && readWelcome(previousHello.transcript, previousHello.ephemeral, noise);
  if (late !== undefined) return move(state, {}, { kind: 'dropped', reason: 'old' });
  return move(state, { attempt: { ...attempt, isDoubted: true } }, { kind: 'dropped', reason: 'not-authentic' });
}

type Expected = GatewayState['expectedIdentity'];

function isExpected(expected: Expected, identity: NonNullable<Expected>): boolean {
  if (expected === undefined) return true;
  return (['vendor', 'model', 'serial'] as const).every((part) => expected[part] === identity[part]);
}

function refuseIdentity(state: GatewayState, at: number): GatewayStep {
  return andThen(raise(state, at, 'DEVICE_IDENTITY_CHANGED', 'other-lock-answers'), (next) =>
    fail(next, at, 'identity-changed'),
  );
}

/** A lock's word about a packet of ours, which anybody could have sent. */
export function takeRefusal(state: GatewayState, reason: RefusalReason): GatewayStep {
  const { attempt } = state;
  const dropped = { kind: 'dropped', reason } as const;
  if (reason === 'no-session') return move(state, { isSessionDoubted: state.channel !== undefined }, dropped);
  if (reason !== 'wrong-key' || attempt?.kind !== 'hello') return move(state, {}, dropped);
  return move(state, { attempt: { ...attempt, isDoubted: true } }, dropped);
}

/** Takes the new session into use once the old one has nothing open, and sends its proof. */
export function switchOver(state: GatewayState, at: number): GatewayStep {
  const { attempt } = state;
  if (attempt?.kind !== 'welcomed') return move(state, {});
  if (state.flights.length > 0 && at < attempt.since + drainMs) return move(state, {});
  const channel: GatewayChannel = { ...attempt.channel, since: at };
  const fresh = { channel, attempt: undefined, probe: undefined, isSessionDoubted: false, isRekeyWanted: false };
  return andThen(
    andThen(abandonFlights(state), (next) => move(next, fresh)),
    (next) => sendProbe(next, at),
  );
}

/** Gives up a handshake that was not answered, or a session that was not proven, in time. */
export function watchAttempt(state: GatewayState, at: number): GatewayStep {
  const { attempt, channel, pace } = state;
  if (attempt?.kind === 'hello' && at >= attempt.since + pace.handshakeMs) {
    return attempt.isDoubted ? refuseKey(state, at) : fail(state, at, 'silent');
  }
  const isUnproven = channel !== undefined && channel.clock === undefined;
  return isUnproven && at >= channel.since + pace.handshakeMs ? fail(state, at, 'silent') : move(state, {});
}

/** The other key is tried before anybody is alarmed. */
function refuseKey(state: GatewayState, at: number): GatewayStep {
  const isLast = state.keys.candidate === undefined || state.nextRole === 'current';
  if (!isLast) return fail(state, at, 'silent');
  return andThen(raise(state, at, 'DEVICE_KEY_MISMATCH', 'handshake-refused'), (next) =>
    fail(next, at, 'key-mismatch'),
  );
}

const otherRole = (role: keyof KeyRing): keyof KeyRing => (role === 'current' ? 'candidate' : 'current');

function fail(state: GatewayState, at: number, reason: LinkOfflineReason): GatewayStep {
  const isSilent = reason === 'silent';
  const silences = isSilent ? state.silences + 1 : 0;
  const mismatches = isSilent ? state.mismatches : state.mismatches + 1;
  const pause = isSilent ? silencePause(silences) : mismatchPause(mismatches);
  const isUsable = state.channel?.clock !== undefined;
  const failed: Partial<GatewayState> = {
    attempt: undefined,
    previousHello: state.attempt?.kind === 'hello' ? state.attempt.own : state.previousHello,
    channel: isUsable ? state.channel : undefined,
    silences,
    mismatches,
    nextRole: otherRole(state.nextRole),
    notBefore: Math.max(afterHello(state, at), at + pause),
  };
  if (isUsable) return move(state, failed);
  return andThen(
    andThen(abandonRequests(state), (next) => move(next, failed)),
    (next) => sayOffline(next, reason),
  );
}
