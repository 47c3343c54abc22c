/** What the cloud's database holds once it is committed, for one facility with one gateway that matters. */
import type { CommandState } from '#cloud/gateway-sync/command-lifecycle.ts';
import type { JournalStand } from '#cloud/gateway-sync/judge-upload.ts';
import type { FeedHead } from '#cloud/gateway-sync/number-feed.ts';
import type { RemoteAct } from '#shared/contract/sync/command.ts';
import type { FeedChange, FeedPut } from '#shared/contract/sync/feed.ts';
import type { UploadedEntry } from '#shared/contract/sync/journal.ts';
import { emptySums } from '#shared/replica-digest.ts';
import type { Draft, Held } from './rows.ts';

export interface Group {
  readonly id: number;
  readonly drafts: readonly Draft[];
}

export interface PlacedGroup {
  readonly id: number;
  readonly firstSeq: number;
  readonly lastSeq: number;
  readonly digest: string;
  readonly changes: readonly FeedChange[];
}

/** The newest word on a row at the gateway, and whether the door process signed that it holds it. */
export interface Delivery {
  readonly seq: number;
  /** Whether it takes something away: a revocation, a suspension, a removal. */
  readonly isRestriction: boolean;
  readonly isEffective: boolean;
  /** Virtual time at which it got its place. */
  readonly numberedAt: number;
}

export interface Snapshot {
  readonly cursor: number;
  readonly digest: string;
  readonly rows: readonly FeedPut[];
}

export interface Command {
  readonly state: CommandState;
  /** The cloud's wall time. */
  readonly requestedAt: number;
  readonly lifetimeMs: number;
  readonly what: RemoteAct;
}

export interface CloudData {
  /** The facility's last word on each row, whichever gateways there are. */
  readonly sources: Map<string, Draft>;
  /** Doors of our gateway. */
  readonly bound: Set<string>;
  /** Committed, and without numbers. */
  queue: Group[];
  placed: PlacedGroup[];
  /** The last group that got a number; only a broken dispatcher asks. */
  lastGroup: number;
  oldestSeq: number;
  head: FeedHead;
  readonly mirror: Map<string, Held>;
  readonly deliveries: Map<string, Delivery>;
  acked: { readonly epoch: number; readonly cursor: number; readonly isSame: boolean } | undefined;
  readonly heardOfBoot: Map<string, number>;
  readonly snapshots: Map<string, Snapshot>;
  stand: JournalStand;
  /** By place. */
  readonly entries: Map<number, UploadedEntry>;
  /** Keys that heads named: by place of the head. */
  readonly keys: Map<number, string>;
  /** Places that the door process said are gone. */
  readonly gaps: { readonly from: number; readonly to: number }[];
  readonly forked: UploadedEntry[];
  readonly commands: Map<string, Command>;
}

export function createCloudData(firstKey: string): CloudData {
  return {
    sources: new Map(),
    bound: new Set(['d1', 'd2']),
    queue: [],
    placed: [],
    lastGroup: 0,
    oldestSeq: 1,
    head: { seq: 0, sums: { ...emptySums } },
    mirror: new Map(),
    deliveries: new Map(),
    acked: undefined,
    heardOfBoot: new Map(),
    snapshots: new Map(),
    stand: { epoch: 1, seq: 0, hash: undefined, nextKey: firstKey },
    entries: new Map(),
    keys: new Map(),
    gaps: [],
    forked: [],
    commands: new Map(),
  };
}

/** A backup: everything in it is a value, so that copying the tables is enough. */
export function backUp(data: CloudData): CloudData {
  return {
    ...data,
    sources: new Map(data.sources),
    bound: new Set(data.bound),
    queue: [...data.queue],
    placed: [...data.placed],
    mirror: new Map(data.mirror),
    deliveries: new Map(data.deliveries),
    heardOfBoot: new Map(data.heardOfBoot),
    snapshots: new Map(data.snapshots),
    entries: new Map(data.entries),
    keys: new Map(data.keys),
    gaps: [...data.gaps],
    forked: [...data.forked],
    commands: new Map(data.commands),
  };
}
