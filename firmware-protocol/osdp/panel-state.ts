/**
 * What a panel session remembers of one reader, and the small moves every part of it makes.
 *
 * The state is immutable; a move returns the next state and the effects it asks for, in order.
 */
import { type Exchange, freshLink, type PanelLink } from './panel-exchange.ts';
import type {
  Inquiry,
  PanelAlarmCode,
  PanelConfig,
  PanelEffect,
  PanelOfflineReason,
  PanelSecurity,
  Question,
} from './panel-port.ts';
import { alarmPauseMs } from './panel-timing.ts';
import type { CapabilitiesReply } from './reply/capabilities.ts';
import type { IdentityReply } from './reply/identity.ts';
import { isUsableKey, type SessionKeys } from './secure-channel.ts';

export interface PanelSettings {
  readonly security: PanelSecurity;
  readonly offlineAfterMs: number;
  readonly replyTimeoutMs: number;
  readonly wakeWithPoll: boolean;
  readonly inquiries: readonly Inquiry[];
}

/** A key worth trying. `default` is the public one, inside an armed window only. */
export interface KeyAttempt {
  readonly role: 'current' | 'candidate' | 'default';
  readonly key: Uint8Array;
}

export interface KeyRing {
  /** Proven by a handshake, or configured. */
  readonly current: Uint8Array | undefined;
  /** To be set. */
  readonly candidate: Uint8Array | undefined;
  /** Keys that left in a KEYSET or were about to, latest first, at most three: the reader may hold any of them. */
  readonly sent: readonly Uint8Array[];
  /** Proven and not yet announced. */
  readonly proven: Uint8Array | undefined;
  /** How often nothing answered the candidate's KEYSET until the connection was given up. */
  readonly unansweredSettings: number;
}

/** Where the session is. Each stage knows which command comes next and what its answer leads to. */
export type Stage =
  /** Nobody answers; one try at a time, at sequence 0. */
  | { readonly kind: 'probe'; readonly using: 'id' | 'poll' }
  /** Answered a POLL; now asked who it is. */
  | { readonly kind: 'identify' }
  | { readonly kind: 'capabilities' }
  | {
      readonly kind: 'challenge';
      readonly attempt: KeyAttempt;
      readonly rest: readonly KeyAttempt[];
      /** RND.A of the challenge on its way. */
      readonly nonce: Uint8Array | undefined;
    }
  | {
      readonly kind: 'prove';
      readonly attempt: KeyAttempt;
      readonly rest: readonly KeyAttempt[];
      readonly keys: SessionKeys;
      readonly cryptogram: Uint8Array;
    }
  /** `isPublic`: under the public key, so inside an armed window only. */
  | { readonly kind: 'set-key'; readonly isPublic: boolean }
  /** Asked again over the channel, before anything is believed, and its old events emptied. */
  | {
      readonly kind: 'inquire';
      readonly rest: readonly Question[];
      /** Events that came before it is on line, and count from then on. */
      readonly early: readonly PanelEffect[];
      /** How many polls brought something old. */
      readonly drained: number;
    }
  /** On line. `hasSettled`: the queue of old events was seen empty. */
  | { readonly kind: 'up'; readonly rest: readonly Inquiry[]; readonly hasSettled: boolean };

export interface QueuedCommand {
  readonly id: number;
  readonly code: number;
  readonly data: Uint8Array;
  readonly deadline: number;
}

/** The command on the line or waiting to be repeated. */
export interface OpenExchange extends Exchange {
  readonly command: QueuedCommand | undefined;
  readonly transmissions: number;
  /** Transmissions that nothing usable answered. */
  readonly misses: number;
  /** Transmissions that arrived damaged, by the reader's word. */
  readonly badChecks: number;
  readonly busies: number;
  readonly sentAt: number;
}

export type PanelStatus =
  | { readonly kind: 'connecting'; readonly since: number }
  | { readonly kind: 'online'; readonly since: number }
  | { readonly kind: 'offline'; readonly reason: PanelOfflineReason };

export interface PanelState {
  readonly settings: PanelSettings;
  readonly link: PanelLink;
  readonly exchange: OpenExchange | undefined;
  readonly stage: Stage;
  /** `undefined` before the first turn. */
  readonly status: PanelStatus | undefined;
  readonly keys: KeyRing;
  readonly installUntil: number | undefined;
  readonly queue: readonly QueuedCommand[];
  readonly expectedIdentity: IdentityReply | undefined;
  readonly identity: IdentityReply | undefined;
  readonly capabilities: CapabilitiesReply;
  /** No transmission before this time. */
  readonly notBefore: number;
  readonly lastGoodAt: number;
  /** Unanswered probes in a row. */
  readonly probes: number;
  /** Answers of BUSY inside the session in a row. */
  readonly busyAnswers: number;
  /** Challenges in a row that nothing answered although the reader answers otherwise. */
  readonly silentChallenges: number;
  /** Restarts since the last stable session, and how many of them an unauthentic message caused. */
  readonly restarts: number;
  readonly unprovenRestarts: number;
  /** Times in a row that the reader could not be used. */
  readonly failures: number;
  /** When each alarm was last raised. */
  readonly alarms: Readonly<Record<string, number>>;
}

/** One transition: the state to keep, and the effects to carry out in their order. */
export interface PanelStep {
  readonly state: PanelState;
  readonly effects: readonly PanelEffect[];
}

export const noCapabilities: CapabilitiesReply = { kind: 'capabilities', capabilities: [] };
export const fromTheBeginning: Stage = { kind: 'probe', using: 'id' };

const defaultInquiries: readonly Inquiry[] = [
  'identity',
  'capabilities',
  'local-status',
  'input-status',
  'reader-status',
  'receive-size',
];

/** A session that has not spoken yet. A configured key that everybody knows counts as none. */
export function createPanelSession(config: PanelConfig): PanelState {
  const { security } = config;
  const isSecure = security.mode === 'secure';
  const usable = (key: Uint8Array | undefined): Uint8Array | undefined =>
    key !== undefined && isUsableKey(key) ? key : undefined;
  const candidate = isSecure ? usable(security.candidate) : undefined;
  return {
    settings: {
      security,
      offlineAfterMs: config.offlineAfterMs ?? 8_000,
      replyTimeoutMs: config.replyTimeoutMs ?? 200,
      wakeWithPoll: config.wakeWithPoll ?? !isSecure,
      inquiries: config.inquiries ?? defaultInquiries,
    },
    link: freshLink(config.address, config.check),
    exchange: undefined,
    stage: fromTheBeginning,
    status: undefined,
    keys: {
      current: isSecure ? usable(security.key) : undefined,
      candidate: undefined,
      sent: candidate === undefined ? [] : [candidate],
      proven: undefined,
      unansweredSettings: 0,
    },
    installUntil: undefined,
    queue: [],
    expectedIdentity: config.expectedIdentity,
    identity: undefined,
    capabilities: noCapabilities,
    notBefore: Number.NEGATIVE_INFINITY,
    lastGoodAt: Number.NEGATIVE_INFINITY,
    probes: 0,
    busyAnswers: 0,
    silentChallenges: 0,
    restarts: 0,
    unprovenRestarts: 0,
    failures: 0,
    alarms: {},
  };
}

export function move(state: PanelState, changes: Partial<PanelState>, ...effects: PanelEffect[]): PanelStep {
  return { state: { ...state, ...changes }, effects };
}

/** One move after another. */
export function andThen(first: PanelStep, next: (state: PanelState) => PanelStep): PanelStep {
  const second = next(first.state);
  return { state: second.state, effects: [...first.effects, ...second.effects] };
}

/** Says an alarm, unless the same was said within the last minute. */
export function raise(state: PanelState, at: number, code: PanelAlarmCode, detail: string): PanelStep {
  const name = `${code} ${detail}`;
  const last = state.alarms[name];
  if (last !== undefined && at - last < alarmPauseMs) return move(state, {});
  return move(state, { alarms: { ...state.alarms, [name]: at } }, { kind: 'alarm', code, detail });
}

/** Says that the reader is not usable, once for each reason. */
export function sayOffline(state: PanelState, reason: PanelOfflineReason): PanelStep {
  if (state.status?.kind === 'offline' && state.status.reason === reason) return move(state, {});
  return move(state, { status: { kind: 'offline', reason } }, { kind: 'offline', reason });
}
