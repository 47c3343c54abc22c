/** What a lock's session remembers; in the reference in C it is 1.7 kB, of which 1 kB are two packets. */
import type { Channel } from './channel.ts';
import type { LockConfig, LockEffect, LockIdentity } from './lock-port.ts';
import type { OnceOnly } from './once-only.ts';
import { linkSecret } from './secret.ts';

/** One session, proven or not yet. */
export interface LockSession {
  readonly number: number;
  readonly channel: Channel;
  readonly table: OnceOnly;
  /** The handshake was under the candidate key. */
  readonly isUnderCandidate: boolean;
}

export interface LockState {
  readonly deviceId: string;
  readonly identity: LockIdentity;
  readonly key: Uint8Array;
  readonly candidate: Uint8Array | undefined;
  /** Proven by a record of the gateway. */
  readonly current: LockSession | undefined;
  /** Answered, and not proven; the current one goes on beside it. */
  readonly pending: LockSession | undefined;
  /** Sessions begun since the start. */
  readonly sessions: number;
  /** No handshake is answered before this time. */
  readonly notBefore: number;
  /** Handshakes under no key of ours, since the start. */
  readonly wrongKeys: number;
  /** When that was last told. */
  readonly wrongKeyToldAt: number | undefined;
}

export interface LockStep {
  readonly state: LockState;
  readonly effects: readonly LockEffect[];
}

/** A lock that has just started: no session, nothing begun. @throws RangeError for keys or names that cannot be. */
export function createLockSession(config: LockConfig): LockState {
  const { deviceId, key, candidate, identity } = config;
  for (const each of [key, candidate ?? key]) linkSecret(deviceId, each);
  return {
    deviceId,
    identity,
    key,
    candidate,
    current: undefined,
    pending: undefined,
    sessions: 0,
    notBefore: 0,
    wrongKeys: 0,
    wrongKeyToldAt: undefined,
  };
}
