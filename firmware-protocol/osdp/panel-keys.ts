/**
 * Which key a reader is met with, and when it may be given one.
 *
 * Guarantees: the public default key is tried only inside a window an operator opened and only until it ends; KEYSET
 * carries only a key that is neither public, zero nor the reader's present one; the present key is forgotten only when
 * the new one is proven by a handshake, since power may fail between the two.
 * Not promised: that a key set under the public key is secret from somebody who recorded the line.
 */
import type { PanelEffect } from './panel-port.ts';
import { hangUp } from './panel-restart.ts';
import { andThen, type KeyAttempt, type KeyRing, move, type PanelState, type PanelStep, raise } from './panel-state.ts';
import { defaultKey, isSameSecret, isUsableKey } from './secure-channel.ts';

const attempt = (role: KeyAttempt['role'], key: Uint8Array | undefined): readonly KeyAttempt[] =>
  key === undefined ? [] : [{ role, key }];

/** The keys to try, in order; none means that the reader cannot be used. */
export function keyAttempts(state: PanelState): readonly KeyAttempt[] {
  const { current, candidate, sent } = state.keys;
  const known = attempt('current', current);
  const perhaps = sent.flatMap((key) => attempt('candidate', key));
  const own = candidate === undefined ? [...known, ...perhaps] : [...perhaps, ...known];
  return state.installUntil === undefined ? own : [...own, ...attempt('default', defaultKey)];
}

/** The ring after a handshake under that key, which is the one the reader holds. */
export function proveKey(keys: KeyRing, { role, key }: KeyAttempt): KeyRing {
  if (role === 'default') return keys;
  const isWanted = keys.candidate !== undefined && !isSameSecret(keys.candidate, key);
  const proven = role === 'candidate' ? key : keys.proven;
  return { ...keys, current: key, candidate: isWanted ? keys.candidate : undefined, sent: [], proven };
}

const sentLimit = 3;

/** The ring once KEYSET with the candidate leaves. */
export function sendKey(keys: KeyRing): KeyRing {
  const { candidate, sent } = keys;
  if (candidate === undefined) return keys;
  const others = sent.filter((key) => !isSameSecret(key, candidate));
  return { ...keys, sent: [candidate, ...others].slice(0, sentLimit) };
}

/** No key is to be set any more. @param isTaken whether the reader may have taken it nevertheless. */
function stopSetting(keys: KeyRing, isTaken: boolean): KeyRing {
  const { candidate, sent } = keys;
  const left = isTaken || candidate === undefined ? sent : sent.filter((key) => !isSameSecret(key, candidate));
  return { ...keys, candidate: undefined, sent: left, unansweredSettings: 0 };
}

function offerKey(state: PanelState, key: Uint8Array): KeyRing | undefined {
  const { current } = state.keys;
  const isSuitable =
    state.settings.security.mode === 'secure' && isUsableKey(key, current === undefined ? [] : [current]);
  return isSuitable ? { ...state.keys, candidate: key, unansweredSettings: 0 } : undefined;
}

const unsuitable: PanelEffect = { kind: 'install-closed', reason: 'unsuitable' };

export function openInstall(state: PanelState, at: number, until: number, key: Uint8Array): PanelStep {
  const keys = offerKey(state, key);
  if (keys === undefined || until <= at) return move(state, {}, unsuitable);
  // A reader that is waited for is tried at once.
  const notBefore = state.exchange === undefined ? at : state.notBefore;
  const opened = move(state, { keys, installUntil: until, notBefore, failures: 0 });
  return andThen(opened, (next) => raise(next, at, 'INSTALL_WINDOW_OPEN', 'armed-by-operator'));
}

export function offerRekey(state: PanelState, key: Uint8Array): PanelStep {
  const keys = state.keys.current === undefined ? undefined : offerKey(state, key);
  return keys === undefined ? move(state, {}, unsuitable) : move(state, { keys });
}

/** Shuts the window; a handshake or channel under the public key ends with it. */
export function closeInstall(state: PanelState, reason: 'expired' | 'closed'): PanelStep {
  if (state.installUntil === undefined) return move(state, {});
  const isPublic = isUnderPublicKey(state);
  const keys = stopSetting(state.keys, true);
  const closed = move(state, { installUntil: undefined, keys }, { kind: 'install-closed', reason });
  return isPublic ? andThen(closed, hangUp) : closed;
}

/** The reader would not take the key. @param isTaken whether it may have, since it only failed to answer. */
export function refuseKey(state: PanelState, isTaken: boolean): PanelStep {
  const keys = stopSetting(state.keys, isTaken);
  return move(state, { installUntil: undefined, keys }, { kind: 'install-closed', reason: 'refused' });
}

const unansweredLimit = 3;

/** Nothing answered KEYSET: after some tries it is given up, so that the reader can be used with the key it has. */
export function missKeyAnswer(state: PanelState): PanelStep {
  const unansweredSettings = state.keys.unansweredSettings + 1;
  if (unansweredSettings >= unansweredLimit) return refuseKey(state, true);
  return move(state, { keys: { ...state.keys, unansweredSettings } });
}

export function expireInstall(state: PanelState, at: number): PanelStep {
  const isOver = state.installUntil !== undefined && at >= state.installUntil;
  return isOver ? closeInstall(state, 'expired') : move(state, {});
}

function isUnderPublicKey(state: PanelState): boolean {
  const { stage } = state;
  if (stage.kind === 'set-key') return stage.isPublic;
  return (stage.kind === 'challenge' || stage.kind === 'prove') && stage.attempt.role === 'default';
}
