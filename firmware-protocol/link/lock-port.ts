/**
 * What a lock's session is told and what it answers. Times are milliseconds of the lock's own uptime; randomness arrives
 * as input, so that a recorded session replays.
 */
import type { FromLock, Result } from './from-lock.ts';
import type { ToLock } from './to-lock.ts';

export interface LockConfig {
  /** 1–64 printable characters; both ends must have the same. */
  readonly deviceId: string;
  /** 32 bytes, of this lock alone. */
  readonly key: Uint8Array;
  /** The key being rotated in, where a rotation was not confirmed before the last stop. */
  readonly candidate?: Uint8Array;
  readonly identity: LockIdentity;
}

type Told<Kind extends FromLock['kind']> = Omit<Extract<FromLock, { readonly kind: Kind }>, 'uptime'>;

export type LockIdentity = Omit<Told<'identity'>, 'kind'>;

/** Which command an answer belongs to: a late answer of an ended session goes nowhere. */
export interface Ticket {
  /** Counts the lock's sessions since its start. */
  readonly session: number;
  readonly request: number;
}

/** What a lock may say by itself. */
export type Tellable = Told<'status'> | Told<'card'> | Told<'keys'> | Told<'token'> | Told<'event'> | Told<'log'>;

/** What may answer a question; `request` is filled in. */
export type Answer = Omit<Told<'status'>, 'request'> | Omit<Told<'slot'>, 'request'>;

export type LockInput =
  /** @param entropy 32 fresh random bytes, used only by a handshake. */
  | { readonly kind: 'packet'; readonly at: number; readonly bytes: Uint8Array; readonly entropy: Uint8Array }
  /** A command was carried out, or was not, which a lock knows. */
  | { readonly kind: 'done'; readonly at: number; readonly ticket: Ticket; readonly result: Result }
  | { readonly kind: 'answer'; readonly at: number; readonly ticket: Ticket; readonly answer: Answer }
  /** A question that this lock cannot answer. */
  | {
      readonly kind: 'refuse';
      readonly at: number;
      readonly ticket: Ticket;
      readonly result: Exclude<Result, 'done' | 'expired'>;
    }
  | { readonly kind: 'tell'; readonly at: number; readonly message: Tellable }
  /** The keys as they now stand in the lock's memory that survives a power cut. */
  | { readonly kind: 'keys'; readonly at: number; readonly key: Uint8Array; readonly candidate?: Uint8Array };

/** Why a packet had no effect. */
export type LockDrop =
  | 'no-packet'
  | 'not-for-locks'
  | 'wrong-key'
  | 'too-soon'
  | 'no-session'
  | 'old'
  | 'malformed'
  | 'repeated'
  | 'too-old';

export type LockEffect =
  | { readonly kind: 'transmit'; readonly bytes: Uint8Array }
  /** To be carried out now, once; `done` follows. `key-rotate`: store both keys, say `keys`, then `done`. */
  | { readonly kind: 'execute'; readonly ticket: Ticket; readonly command: ToLock }
  /** To be answered now; `answer` or `refuse` follows. */
  | { readonly kind: 'ask'; readonly ticket: Ticket; readonly question: ToLock }
  /** A new session is proven, and the one before it over. */
  | { readonly kind: 'session'; readonly session: number }
  /** A session under the candidate is proven: the old key may be forgotten, once this one is stored as the only one. */
  | { readonly kind: 'key-confirmed'; readonly key: Uint8Array }
  | { readonly kind: 'dropped'; readonly reason: LockDrop }
  /** There is no session to tell it in; what a person did at an unreachable lock is not told later. */
  | { readonly kind: 'untold' };
