/**
 * What a gateway's session with one lock is told and what it answers. Times are plain monotonic milliseconds of one
 * clock; randomness arrives as input, so that a recorded session replays.
 */
import type { FromLock, Result } from './from-lock.ts';
import type { LockIdentity } from './lock-port.ts';
import type { RefusalReason } from './packet.ts';
import type { ToLock } from './to-lock.ts';

/** How long a transport may take; the defaults suit a serial line and a near broker. */
export interface Pace {
  /** Without an answer a command is sent again after this, ms. */
  readonly answerMs: number;
  /** A handshake message is answered within, ms. */
  readonly handshakeMs: number;
  /** A lock that says nothing is asked after this, ms; `Infinity` for one that sleeps. */
  readonly keepAliveMs: number;
  /** Silence that makes a lock off line, ms. */
  readonly offlineAfterMs: number;
  /** How long after its deadline a command's outcome is still asked for, ms. */
  readonly resolveMs: number;
}

export interface GatewayConfig {
  /** 1–64 printable characters; both ends must have the same. */
  readonly deviceId: string;
  /** 32 bytes, of this lock alone. */
  readonly key: Uint8Array;
  /** A key that was about to be rotated in when the gateway stopped: the lock may hold either. */
  readonly candidate?: Uint8Array;
  /** What was enrolled; these must match, firmware and abilities may move. */
  readonly expectedIdentity?: Pick<LockIdentity, 'vendor' | 'model' | 'serial'>;
  readonly pace?: Partial<Pace>;
}

type Unnumbered<Message> = Message extends unknown ? Omit<Message, 'request' | 'notAfterUptime'> : never;

/** What may be asked of a lock; number and lifetime are the session's business. */
export type GatewayCommand = Unnumbered<ToLock>;

export type GatewayInput =
  /** Time passed. @param entropy 32 fresh random bytes, used only by a handshake. */
  | { readonly kind: 'tick'; readonly at: number; readonly entropy: Uint8Array }
  | { readonly kind: 'packet'; readonly at: number; readonly bytes: Uint8Array }
  /**
   * @param id the caller's, unique. @param deadline the lock does not begin it after this time. A `key-rotate` brings a
   *   key that the caller has stored as the candidate beforehand.
   */
  | {
      readonly kind: 'command';
      readonly at: number;
      readonly id: number;
      readonly command: GatewayCommand;
      readonly deadline: number;
    }
  /** The lock was seen (an advertisement, a birth message, a line that is back): it is tried without waiting. */
  | { readonly kind: 'reachable'; readonly at: number }
  /** The transport is gone for good, not merely at rest. What was under way is not sent again when it returns. */
  | { readonly kind: 'down'; readonly at: number };

/** Why a lock is not usable. */
export type LinkOfflineReason = 'line-down' | 'silent' | 'key-mismatch' | 'identity-changed';

export type LinkAlarmCode = 'DEVICE_KEY_MISMATCH' | 'DEVICE_IDENTITY_CHANGED' | 'DEVICE_MESSAGE_FORGED';

export type LinkAnswer = Extract<FromLock, { readonly kind: 'status' | 'slot' }>;

export type LinkOutcome =
  /** Carried out, by the lock's own word; `answer` to a question. */
  | { readonly kind: 'done'; readonly answer?: LinkAnswer }
  /** The lock tried or looked, and it is not as wished. */
  | { readonly kind: 'refused'; readonly result: Exclude<Result, 'done' | 'expired'> }
  /** Certainly not carried out. */
  | { readonly kind: 'not-executed'; readonly reason: 'offline' | 'expired' | 'busy' }
  /** Sent, and nobody knows. */
  | { readonly kind: 'unknown' };

/** Why something received had no effect. */
export type GatewayDrop =
  | 'no-packet'
  | 'not-for-gateways'
  | 'not-authentic'
  | 'old'
  | 'malformed'
  | 'unasked'
  | RefusalReason;

export type News = Extract<FromLock, { readonly kind: 'status' | 'card' | 'keys' | 'token' | 'event' | 'log' }>;

export type GatewayEffect =
  | { readonly kind: 'transmit'; readonly bytes: Uint8Array }
  | { readonly kind: 'online'; readonly identity: LockIdentity }
  | { readonly kind: 'offline'; readonly reason: LinkOfflineReason }
  /** @param happenedAt gateway time, at the earliest: delays on the way make it older, never younger. */
  | { readonly kind: 'told'; readonly happenedAt: number; readonly message: News }
  | { readonly kind: 'command-done'; readonly id: number; readonly outcome: LinkOutcome }
  /** At most one a minute for each code. */
  | { readonly kind: 'alarm'; readonly code: LinkAlarmCode; readonly detail: string }
  /** A session under the candidate is proven: the old key may be forgotten. */
  | { readonly kind: 'key-confirmed'; readonly key: Uint8Array }
  | { readonly kind: 'dropped'; readonly reason: GatewayDrop };
