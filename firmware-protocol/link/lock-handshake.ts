/**
 * A lock's answer to a handshake.
 *
 * Guarantees: curve arithmetic is done at most once a second and only for a message made with a key of ours, so that
 * strangers can neither exhaust the lock nor lock the gateway out; the proven session stays until the new one is proven.
 */
import { openChannel } from './channel.ts';
import { fromLock } from './from-lock.ts';
import type { LockEffect } from './lock-port.ts';
import { tell } from './lock-speech.ts';
import type { LockState, LockStep } from './lock-state.ts';
import { encodeMessage } from './message.ts';
import { readHello, writeWelcome } from './noise.ts';
import { encodeRefusal, encodeWelcome } from './packet.ts';
import { linkSecret } from './secret.ts';

/** Between two handshakes, ms. */
const handshakePauseMs = 1_000;
/** Between two words about wrong keys, ms. */
const wrongKeyPauseMs = 60_000;

export function answerHello(state: LockState, at: number, noise: Uint8Array, entropy: Uint8Array): LockStep {
  const underKey = readHello(linkSecret(state.deviceId, state.key), noise);
  const underCandidate =
    underKey === undefined && state.candidate !== undefined
      ? readHello(linkSecret(state.deviceId, state.candidate), noise)
      : undefined;
  const hello = underKey ?? underCandidate;
  if (hello === undefined) return refuseKey(state, at);
  if (at < state.notBefore) return { state, effects: refusal('too-soon') };
  const identity = encodeMessage(fromLock, { kind: 'identity', uptime: at, ...state.identity });
  const welcome = writeWelcome(hello, entropy, identity);
  if (welcome === undefined) return refuseKey(state, at);
  const number = state.sessions + 1;
  const pending = {
    number,
    channel: openChannel(welcome.keys, 'lock'),
    table: new Map(),
    isUnderCandidate: underCandidate !== undefined,
  };
  return {
    state: { ...state, pending, sessions: number, notBefore: at + handshakePauseMs },
    effects: [{ kind: 'transmit', bytes: encodeWelcome(welcome.bytes) }],
  };
}

const refusal = (reason: 'wrong-key' | 'too-soon'): readonly LockEffect[] => [
  { kind: 'dropped', reason },
  { kind: 'transmit', bytes: encodeRefusal(reason) },
];

/** Somebody without a key of ours; the gateway is told in the running session, once a minute. */
function refuseKey(before: LockState, at: number): LockStep {
  const state = { ...before, wrongKeys: before.wrongKeys + 1 };
  const { wrongKeyToldAt, current } = state;
  const isDue = wrongKeyToldAt === undefined || at - wrongKeyToldAt >= wrongKeyPauseMs;
  if (current === undefined || !isDue) return { state, effects: refusal('wrong-key') };
  const message = { kind: 'event', ageMs: 0, what: 'wrong-key', detail: state.wrongKeys } as const;
  const told = tell({ ...state, wrongKeyToldAt: at }, at, message);
  return { state: told.state, effects: [...refusal('wrong-key'), ...told.effects] };
}
