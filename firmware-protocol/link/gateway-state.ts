/**
 * What a gateway's session remembers of one lock, and the small moves every part of it makes.
 *
 * The state is immutable; a move returns the next state and the effects it asks for, in order.
 */
import type { Channel } from './channel.ts';
import type {
  GatewayCommand,
  GatewayConfig,
  GatewayEffect,
  LinkAlarmCode,
  LinkOfflineReason,
  Pace,
} from './gateway-port.ts';
import type { LockClock } from './lock-clock.ts';
import type { LockIdentity } from './lock-port.ts';
import type { Transcript } from './noise.ts';
import { linkSecret } from './secret.ts';
import type { ToLock } from './to-lock.ts';

export interface KeyRing {
  readonly current: Uint8Array;
  readonly candidate: Uint8Array | undefined;
}

/** A session that both ends have keys for. */
export interface GatewayChannel {
  readonly link: Channel;
  readonly identity: LockIdentity;
  /** Under the candidate key. */
  readonly isUnderCandidate: boolean;
  /** When its proof was first sent. */
  readonly since: number;
  /** Since the first record of the lock in it; before that nothing but the proof is sent. */
  readonly clock: LockClock | undefined;
  readonly lastUptime: number;
  /** Of the next command. */
  readonly nextRequest: number;
}

/** What an answer to our own message is read with. */
export interface OwnHello {
  readonly ephemeral: Uint8Array;
  readonly transcript: Transcript;
}

/** A handshake under way, beside the session that is still used. */
export type Attempt =
  | {
      readonly kind: 'hello';
      readonly role: keyof KeyRing;
      readonly own: OwnHello;
      readonly since: number;
      /** Something said that the key does not fit. */
      readonly isDoubted: boolean;
    }
  /** Answered; waits until the old session has nothing open. */
  | { readonly kind: 'welcomed'; readonly channel: Omit<GatewayChannel, 'since'>; readonly since: number };

/** A command that was sent and is not answered. */
export interface Flight {
  readonly id: number;
  readonly message: ToLock;
  readonly deadline: number;
  readonly firstSentAt: number;
  readonly lastSentAt: number;
}

export interface Waiting {
  readonly id: number;
  readonly command: GatewayCommand;
  readonly deadline: number;
}

/** The session's own question: proof of a new session, or sign of life. */
export interface Probe {
  /** Number and time of the first that is unanswered: an answer to any since answers all. */
  readonly firstRequest: number;
  readonly firstSentAt: number;
  readonly lastRequest: number;
  readonly sentAt: number;
  /** Unanswered ones in a row. */
  readonly count: number;
}

export type GatewayStatus =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'online' }
  | { readonly kind: 'offline'; readonly reason: LinkOfflineReason };

export interface GatewayState {
  readonly deviceId: string;
  readonly pace: Pace;
  readonly expectedIdentity: GatewayConfig['expectedIdentity'];
  readonly keys: KeyRing;
  /** Which key the next handshake is under. */
  readonly nextRole: keyof KeyRing;
  readonly isDown: boolean;
  readonly status: GatewayStatus;
  readonly channel: GatewayChannel | undefined;
  readonly attempt: Attempt | undefined;
  /** The handshake given up last: its answer may still come, and accuses nobody. */
  readonly previousHello: OwnHello | undefined;
  /** No handshake begins before this time. */
  readonly notBefore: number;
  readonly lastHelloAt: number | undefined;
  /** Handshakes in a row that nothing answered, and that something answered wrongly. */
  readonly silences: number;
  readonly mismatches: number;
  readonly flights: readonly Flight[];
  readonly queue: readonly Waiting[];
  readonly probe: Probe | undefined;
  /** When the last good record arrived. */
  readonly lastGoodAt: number;
  /** The lock said, without proof, that it has no session. */
  readonly isSessionDoubted: boolean;
  readonly isRekeyWanted: boolean;
  /** When records came that are of no session, latest last, at most five. */
  readonly forged: readonly number[];
  readonly alarms: Readonly<Partial<Record<LinkAlarmCode, number>>>;
}

export interface GatewayStep {
  readonly state: GatewayState;
  readonly effects: readonly GatewayEffect[];
}

const defaultPace: Pace = {
  answerMs: 500,
  handshakeMs: 3_000,
  keepAliveMs: 10_000,
  offlineAfterMs: 30_000,
  resolveMs: 5_000,
};

/** A session that has not spoken yet. @throws RangeError for keys or names that cannot be. */
export function createGatewaySession(config: GatewayConfig): GatewayState {
  const { deviceId, key, candidate } = config;
  for (const each of [key, candidate ?? key]) linkSecret(deviceId, each);
  return {
    deviceId,
    pace: { ...defaultPace, ...config.pace },
    expectedIdentity: config.expectedIdentity,
    keys: { current: key, candidate },
    nextRole: candidate === undefined ? 'current' : 'candidate',
    isDown: false,
    status: { kind: 'connecting' },
    channel: undefined,
    attempt: undefined,
    previousHello: undefined,
    notBefore: Number.NEGATIVE_INFINITY,
    lastHelloAt: undefined,
    silences: 0,
    mismatches: 0,
    flights: [],
    queue: [],
    probe: undefined,
    lastGoodAt: Number.NEGATIVE_INFINITY,
    isSessionDoubted: false,
    isRekeyWanted: false,
    forged: [],
    alarms: {},
  };
}

export function move(
  state: GatewayState,
  changes: Partial<GatewayState>,
  ...effects: readonly GatewayEffect[]
): GatewayStep {
  return { state: { ...state, ...changes }, effects };
}

export function andThen(step: GatewayStep, next: (state: GatewayState) => GatewayStep): GatewayStep {
  const { state, effects } = next(step.state);
  return { state, effects: [...step.effects, ...effects] };
}

/** Says why the lock cannot be used, once as long as it stays so. */
export function sayOffline(state: GatewayState, reason: LinkOfflineReason): GatewayStep {
  const { status } = state;
  if (status.kind === 'offline' && status.reason === reason) return move(state, {});
  return move(state, { status: { kind: 'offline', reason } }, { kind: 'offline', reason });
}

const alarmPauseMs = 60_000;

export function raise(state: GatewayState, at: number, code: LinkAlarmCode, detail: string): GatewayStep {
  const last = state.alarms[code];
  if (last !== undefined && at - last < alarmPauseMs) return move(state, {});
  return move(state, { alarms: { ...state.alarms, [code]: at } }, { kind: 'alarm', code, detail });
}
