/** What is said between cloud, edge and door. A signature is a name that only its owner puts there. */

import type { JournalBeginning } from '#cloud/gateway-sync/judge-upload.ts';
import type { Repair, UrgentRows } from '#gateway/replica/follow-feed.ts';
import type { RemoteCommand } from '#shared/contract/sync/command.ts';
import type { FeedAck, FeedBatch, FeedPut, LeaseStatement, SnapshotChunk } from '#shared/contract/sync/feed.ts';
import type { JournalAck, JournalGap, UploadedEntry, UploadedHead } from '#shared/contract/sync/journal.ts';
import { identifier } from '#shared/identifier.ts';

export const gatewayId = identifier<'gateway'>('gw1');

export interface Signed<Of> {
  readonly by: 'cloud' | 'door' | 'nobody';
  readonly type: string;
  readonly value: Of;
}

export type BatchJws = Signed<FeedBatch>;
export type UrgentJws = Signed<UrgentRows>;
export type LeaseJws = Signed<LeaseStatement>;
export type CommandJws = Signed<RemoteCommand>;
export type ChunkJws = Signed<Omit<SnapshotChunk, 'lookupKeySealed'>>;
export type RepairJws = Signed<Repair>;
export type TimeJws = Signed<{ readonly gateway: null; readonly nonce: string; readonly at: number }>;
export type AckJws = Signed<FeedAck>;
export type JournalAckJws = Signed<JournalAck>;
export type GapJws = Signed<JournalGap>;
export type BeginsJws = Signed<JournalBeginning>;

export interface PollQuery {
  readonly epoch: number;
  readonly after: number;
  readonly nonce: string;
  readonly waitMs: number;
}

export interface PollReply {
  readonly batch?: BatchJws;
  readonly urgent?: UrgentJws;
  readonly lease?: LeaseJws;
  readonly commands: readonly CommandJws[];
  readonly snapshotNeeded: boolean;
}

export interface AckReply {
  readonly status: 'applied' | 'noop' | 'differs';
  readonly lease?: LeaseJws;
}

export interface RepairAsk {
  readonly epoch: number;
  readonly cursor: number;
  readonly kind: FeedPut['kind'];
  readonly sums: ReadonlyMap<number, string>;
}

export interface SnapshotAsk {
  readonly index: number;
  readonly snapshot?: string;
}

export interface Upload {
  readonly epoch: number;
  readonly firstSeq: number;
  readonly prevHash: string;
  readonly entries: readonly UploadedEntry[];
  readonly heads: readonly UploadedHead[];
  readonly begins?: BeginsJws;
  readonly gap?: GapJws;
}

export interface UploadReply {
  readonly status: 'stored' | 'gap' | 'forked' | 'refused';
  readonly ack: JournalAckJws;
}

/** HTTP's statuses, as far as they matter here. */
export type Reply<Of> =
  | { readonly kind: 'ok'; readonly value: Of }
  | { readonly kind: 'conflict'; readonly value: Of }
  | { readonly kind: 'clock-skewed' | 'gone' | 'cloud-fault' };

export const sign = <Of>(by: 'cloud' | 'door', type: string, value: Of): Signed<Of> => ({ by, type, value });
/** @returns what was said, if it was said by whom it must be, as what it must be. */
export const proven = <Of>(jws: Signed<Of> | undefined, by: 'cloud' | 'door', type: string): Of | undefined =>
  jws !== undefined && jws.by === by && jws.type === type ? jws.value : undefined;
