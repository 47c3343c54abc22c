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
import { defaultKey, isUsableKey } from './secure-channel.ts';

const attempt = (role: KeyAttempt['role'], key: Uint8Array | undefined): readonly KeyAttempt[] =>
  key === undefined ? [] : [{ role, key }];

/** The keys to try, in order; none means that the reader cannot be used. */
export function keyAttempts(state: PanelState): readonly KeyAttempt[] {
  const { current, candidate, isCandidateSent, isSettingWanted } = state.keys;
  const known = attempt('current', current);
  const perhaps = attempt('candidate', isCandidateSent ? candidate : undefined);
  const own = isSettingWanted ? [...perhaps, ...known] : [...known, ...perhaps];
  return state.installUntil === undefined ? own : [...own, ...attempt('default', defaultKey)];
}

/** The ring after a handshake with that key. */
export function proveKey(keys: KeyRing, role: KeyAttempt['role']): KeyRing {
  if (role !== 'candidate') return keys;
  const proven = keys.candidate;
  return { current: proven, candidate: undefined, isCandidateSent: false, isSettingWanted: false, proven };
}

/** No key is to be set any more; one that may have arrived is still remembered. */
function stopSetting(keys: KeyRing, mayBeSet: boolean): KeyRing {
  const isCandidateSent = mayBeSet && keys.isCandidateSent;
  return { ...keys, isSettingWanted: false, isCandidateSent, candidate: isCandidateSent ? keys.candidate : undefined };
}

function offerKey(state: PanelState, key: Uint8Array): KeyRing | undefined {
  const { current, candidate, isCandidateSent } = state.keys;
  const isSuitable =
    state.settings.security.mode === 'secure' && isUsableKey(key, current === undefined ? [] : [current]);
  if (!isSuitable) return undefined;
  const isSameCandidate = candidate !== undefined && Buffer.compare(candidate, key) === 0;
  return { ...state.keys, candidate: key, isCandidateSent: isCandidateSent && isSameCandidate, isSettingWanted: true };
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
export function closeInstall(state: PanelState, reason: 'expired' | 'closed' | 'refused'): PanelStep {
  if (state.installUntil === undefined) return move(state, {});
  const isPublic = isUnderPublicKey(state);
  const keys = stopSetting(state.keys, reason !== 'refused');
  const closed = move(state, { installUntil: undefined, keys }, { kind: 'install-closed', reason });
  return isPublic ? andThen(closed, hangUp) : closed;
}

/** The reader would not take the key. */
export function refuseKey(state: PanelState): PanelStep {
  if (state.installUntil !== undefined) return closeInstall(state, 'refused');
  return move(state, { keys: stopSetting(state.keys, false) }, { kind: 'install-closed', reason: 'refused' });
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
