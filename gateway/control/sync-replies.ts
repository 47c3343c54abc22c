/** What the door process answers to whoever relays, as types: plain values that survive JSON. */
import type { z } from 'zod';
import type { GatewayHealth } from '#shared/contract/sync/feed.ts';
import type { JournalUpload } from '#shared/contract/sync/journal.ts';
import type { RowKind } from '#shared/replica-digest.ts';
import type { syncCalls } from './sync-calls.ts';

/** What the door process has to send or wants to have. */
export interface DoorNeeds {
  /** Counts upwards: of two, the later is true, whichever is read first. */
  readonly turn: number;
  readonly ack: boolean;
  readonly snapshot: boolean;
  readonly repair: boolean;
  readonly journal: boolean;
  readonly time: boolean;
  readonly read: boolean;
}

/** What goes up. `null`: there is nothing to send now. */
export interface Questions {
  readonly time: { readonly nonce: string };
  readonly ack: {
    readonly ack: string;
    readonly health: GatewayHealth;
    readonly epoch: number;
    readonly cursor: number;
  } | null;
  readonly snapshot: { readonly index: number; readonly snapshot?: string };
  readonly repair: {
    readonly epoch: number;
    readonly cursor: number;
    readonly kind: RowKind;
    readonly sums: Readonly<Record<string, string>>;
  } | null;
  readonly feed: {
    readonly after: number;
    readonly epoch: number;
    readonly nonce: string;
    /** `kind:version` of each known kind, separated by commas. */
    readonly kinds: string;
    /** Serial of the certificate in force. */
    readonly certificate: number;
  };
  readonly journal: JournalUpload | null;
  readonly read: { readonly window: string; readonly reader: string; readonly sealed: string } | null;
}

export type SyncCall = z.infer<(typeof syncCalls)['sync-ask']>['call'];

export interface AskReply<Of extends SyncCall = SyncCall> {
  readonly question: Questions[Of];
  readonly needs: DoorNeeds;
}

/** What became of a statement; `reason` where nothing did. */
export interface DeliverReply {
  readonly outcome:
    | 'applied'
    | 'duplicate'
    | 'staged'
    | 'switched'
    | 'renewed'
    | 'believed'
    | 'obeyed'
    | 'acked'
    | 'began'
    | 'refused';
  readonly reason?: string;
  readonly needs: DoorNeeds;
}

export interface EnrolmentReply {
  readonly state: 'none' | 'pending' | 'enrolled';
  readonly gateway?: string;
  readonly facility?: string;
  readonly facilityName?: string;
  /** SHA-256 over the door process's keys; absent before it has any. */
  readonly fingerprint?: string;
}

/** What goes to the cloud with the first call. */
export interface EnrolBeginReply {
  readonly proof: string;
  readonly hardware: string;
  readonly version: string;
  readonly devices: readonly string[];
  readonly fingerprint: string;
}

/** The way to the cloud at a glance. */
export interface CloudStatus {
  readonly gateway: string;
  readonly facility: string;
  /** As edge tells it; `silent` where no edge runs. */
  readonly uplink: string;
  readonly uplinkForMs: number;
  /** Why it is so, in edge's words. */
  readonly uplinkDetail: string;
  readonly cursor: number;
  /** Changes of the feed that are not here yet. */
  readonly lag: number;
  /** Since verified contact, ms. */
  readonly contactAgeMs: number | 'unknown';
  readonly certificate: { readonly serial: number; readonly notAfter: number };
  /** Entries that the cloud has not answered for. */
  readonly entriesBehind: number;
  /** Statements that changed nothing, by reason, since the start. */
  readonly refused: Readonly<Record<string, number>>;
}
