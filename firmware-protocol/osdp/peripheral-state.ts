/**
 * What a peripheral session remembers, and the small moves its parts make. Immutable; time and randomness come from outside.
 */
import { type FileReceiving, noFile } from './file-transfer.ts';
import type { Sequence } from './frame.ts';
import type { Reply } from './message.ts';
import type { PeripheralConfig, PeripheralEffect, Presentable } from './peripheral-port.ts';
import { capabilityFunction } from './reply/capabilities.ts';
import type { SessionKeys } from './secure-channel.ts';

export interface PeripheralChannel {
  readonly keys: SessionKeys;
  /** 16 bytes: where the next command's MAC begins. */
  readonly lastReplyMac: Uint8Array;
  readonly isPublic: boolean;
}

/** Challenged, and not yet shown the panel's proof. */
export interface Handshake {
  readonly keys: SessionKeys;
  /** What the panel must show. */
  readonly cryptogram: Uint8Array;
  readonly select: number;
}

type StatusOf<Kind extends Reply['kind']> = Extract<Reply, { readonly kind: Kind }>;

export interface PeripheralStatus {
  readonly local: StatusOf<'local-status'>;
  readonly inputs: StatusOf<'input-status'>;
  readonly readers: StatusOf<'reader-status'>;
  /** By output: `Infinity` on, a time on until then, 0 off. */
  readonly outputsUntil: readonly number[];
}

export interface PeripheralState {
  readonly config: PeripheralConfig;
  readonly address: number;
  readonly key: Uint8Array | undefined;
  readonly isInstallMode: boolean;
  /** Of the last command; `undefined` after power-up, when only 0 may come. */
  readonly sequence: Sequence | undefined;
  /** The last command and its answer, for a repeat. */
  readonly last: { readonly command: Uint8Array; readonly reply: Uint8Array } | undefined;
  readonly channel: PeripheralChannel | undefined;
  readonly handshake: Handshake | undefined;
  readonly events: readonly Presentable[];
  readonly eventsLost: number;
  readonly status: PeripheralStatus;
  readonly file: FileReceiving;
  readonly lastHeardAt: number;
}

export interface PeripheralStep {
  readonly state: PeripheralState;
  readonly effects: readonly PeripheralEffect[];
}

/** How many of something the configuration names; 0 where it names none. */
export function countOf(config: PeripheralConfig, number: number): number {
  return config.capabilities.find((entry) => entry.function === number)?.count ?? 0;
}

/** A reader that was just switched on. */
export function createPeripheralSession(config: PeripheralConfig): PeripheralState {
  const inputs = Array.from({ length: countOf(config, capabilityFunction.inputs) }, () => 'inactive' as const);
  const readers = Array.from({ length: Math.max(1, countOf(config, capabilityFunction.readers)) }, () => 'ok' as const);
  return {
    config,
    address: config.address,
    key: config.key,
    isInstallMode: config.isInstallMode,
    sequence: undefined,
    last: undefined,
    channel: undefined,
    handshake: undefined,
    events: [],
    eventsLost: 0,
    status: {
      local: { kind: 'local-status', isTampered: false, hasPowerFailed: false },
      inputs: { kind: 'input-status', inputs },
      readers: { kind: 'reader-status', readers },
      outputsUntil: Array.from({ length: countOf(config, capabilityFunction.outputs) }, () => 0),
    },
    file: noFile,
    lastHeardAt: Number.NEGATIVE_INFINITY,
  };
}

/** No session, no memory of the last command. */
export function forgetConversation(state: PeripheralState): PeripheralState {
  return { ...state, last: undefined, channel: undefined, handshake: undefined };
}
