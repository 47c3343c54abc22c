/**
 * The feed's half of the replica thread: verifies what the cloud signed, judges it, applies it.
 *
 * Guarantees: nothing is parsed before it is proven, nothing applied before it is judged; the state it judges by moves only
 * after the commit. A snapshot gathers in a file of its own and becomes a replica only as a whole.
 * Not promised: that doors use it already; the main thread says so once its reader has moved.
 */
import { setImmediate } from 'node:timers/promises';
import type { FeedChange, FeedPut, SnapshotChunk } from '#shared/contract/sync/feed.ts';
import { invariant } from '#shared/invariant.ts';
import type { BatchOutcome } from './apply-batch.ts';
import { buildSnapshot, isRowTwice } from './build-snapshot.ts';
import { applied, judgeBatch, judgeRepair, judgeUrgent } from './follow-feed.ts';
import { judgeChunk, judgeWhole, withoutSnapshot } from './follow-snapshot.ts';
import { type FollowRefusal, type FollowState, followFrom } from './follow-state.ts';
import { removeEpoch, switchPointer } from './replica-folder.ts';
import type { ReplicaHead } from './replica-head.ts';
import type { KeeperPlace, ReplicaKeeper } from './replica-keeper.ts';
import type { RowChange, RowUpsert } from './row-change.ts';
import { createRowCodes, type RowCodes } from './row-mac.ts';
import { removeStaged, StagedDamaged, StagedSnapshot } from './staged-snapshot.ts';
import { requireRoom } from './staging-room.ts';
import { type StatementKind, type StatementOf, type Unproven, verifyAs } from './verify-feed.ts';

/** Whose word is taken, and from where on. */
export interface Trust {
  readonly gateway: string;
  /** Raw Ed25519 public key, base64url. */
  readonly feedKey: string;
  /** Of the replica in force; epoch 0 where nothing may be built upon it. */
  readonly head: { readonly epoch: number; readonly cursor: number; readonly digest: string };
  readonly floor: number;
}

export type FedKind = 'batch' | 'urgent' | 'repair' | 'chunk';
export type FollowReason = FollowRefusal | Unproven | Extract<BatchOutcome, { status: 'refused' }>['code'];

export type FollowOutcome =
  | {
      readonly kind: 'applied';
      readonly head: ReplicaHead;
      readonly floor: number;
      /** A change that this build does not know and must not miss. */
      readonly unsupported: string | undefined;
    }
  | { readonly kind: 'duplicate'; readonly unsupported?: string | undefined }
  /** `isWhole`: it waits to be built. `lookupKeySealed` as the first chunk carried it. */
  | {
      readonly kind: 'staged';
      readonly snapshot: string;
      readonly next: number;
      readonly isWhole: boolean;
      readonly lookupKeySealed: string | null;
    }
  | { readonly kind: 'refused'; readonly reason: FollowReason };

export type BuildOutcome =
  | { readonly kind: 'switched'; readonly head: ReplicaHead }
  | { readonly kind: 'refused'; readonly reason: FollowReason };

const refused = (reason: FollowReason): Extract<FollowOutcome, { kind: 'refused' }> => ({ kind: 'refused', reason });

export class FeedKeeper {
  readonly #folder: string;
  readonly #codes: RowCodes;
  readonly #keeper: ReplicaKeeper;
  #feedKey: string | undefined;
  #state: FollowState | undefined;
  #staged: StagedSnapshot | undefined;

  constructor({ folder, rowKey }: KeeperPlace, keeper: ReplicaKeeper) {
    this.#folder = folder;
    this.#codes = createRowCodes(rowKey);
    this.#keeper = keeper;
  }

  /** From now on only this word counts; `undefined` = nobody's. What a former run has staged is taken up again. */
  async trust(trust: Trust | undefined): Promise<FollowOutcome | undefined> {
    this.#feedKey = trust?.feedKey;
    this.#staged?.close();
    this.#staged = undefined;
    this.#state = trust && followFrom({ ...trust, certificateSerial: 0, executed: [] });
    if (trust === undefined) {
      removeStaged(this.#folder);
      return undefined;
    }
    return await this.#resume();
  }

  async follow(kind: FedKind, jws: string): Promise<FollowOutcome> {
    if (this.#state === undefined || this.#feedKey === undefined) return refused('wrong-signature');
    const proven = await verifyAs(kind, jws, this.#feedKey);
    if (proven.kind === 'rejected') return refused(proven.reason);
    switch (kind) {
      case 'batch':
        return this.#batch(this.#state, proven.value as StatementOf<'batch'>);
      case 'urgent':
        return this.#urgent(this.#state, proven.value as StatementOf<'urgent'>);
      case 'repair':
        return this.#repair(this.#state, proven.value as StatementOf<'repair'>);
      case 'chunk':
        return this.#chunk(this.#state, proven.value as SnapshotChunk, jws);
    }
  }

  /** Makes the staged snapshot the replica, as epoch `epoch`. @throws a fault of the disk; nothing is changed then. */
  async build(epoch: number, signal?: AbortSignal): Promise<BuildOutcome> {
    const [state, staged] = [this.#state, this.#staged];
    const snapshot = state?.snapshot;
    if (!state || !staged || !snapshot?.isWhole) return refused('out-of-order');
    const { cursor } = snapshot;
    try {
      const plan = { folder: this.#folder, epoch, cursor, rows: staged.rows(), codes: this.#codes };
      const head = await buildSnapshot(signal ? { ...plan, signal } : plan);
      const judged = judgeWhole(this.#state ?? state, head.digest, epoch);
      if (judged.kind === 'refused') {
        removeEpoch(this.#folder, epoch);
        this.#drop();
        return judged;
      }
      switchPointer(this.#folder, epoch);
      this.#state = judged.state;
      this.#drop();
      return { kind: 'switched', head };
    } catch (error) {
      const reason = whyNotWhole(error);
      if (reason === undefined) throw error;
      this.#drop();
      return refused(reason);
    }
  }

  close(): void {
    this.#staged?.close();
    this.#staged = undefined;
  }

  #batch(state: FollowState, batch: StatementOf<'batch'>): FollowOutcome {
    const judged = judgeBatch(state, batch);
    const { unsupported } = batch;
    if (judged.kind === 'duplicate') return { kind: 'duplicate', unsupported };
    if (judged.kind === 'refused') return judged;
    const outcome = this.#keeper.apply({ changes: batch.changes.map(rowChange), cursor: judged.to });
    return this.#took(outcome, unsupported);
  }

  #urgent(state: FollowState, urgent: StatementOf<'urgent'>): FollowOutcome {
    const judged = judgeUrgent(state, urgent);
    if (judged.kind !== 'apply') return judged;
    const changes = urgent.credentials.map((row): RowChange => ({ op: 'upsert', upsert: { kind: 'credential', row } }));
    return this.#took(this.#keeper.apply({ changes, cursor: state.cursor }), undefined, judged.floor);
  }

  #repair(state: FollowState, repair: StatementOf<'repair'>): FollowOutcome {
    const judged = judgeRepair(state, repair);
    if (judged.kind === 'refused') return judged;
    const { kind, buckets } = repair;
    return this.#took(this.#keeper.replace({ kind, buckets, rows: repair.rows.map(upsertOf) }), undefined);
  }

  #took(outcome: BatchOutcome, unsupported: string | undefined, floor?: number): FollowOutcome {
    if (outcome.status === 'refused') return refused(outcome.code);
    invariant(this.#state, 'what was judged has a state');
    this.#state = applied(this.#state, outcome.head, floor);
    return { kind: 'applied', head: outcome.head, floor: this.#state.floor, unsupported };
  }

  #chunk(state: FollowState, chunk: SnapshotChunk, jws: string): FollowOutcome {
    const judged = judgeChunk(state, chunk);
    if (judged.kind === 'refused') return judged;
    if (judged.kind === 'duplicate') return this.#standing();
    requireRoom(this.#folder);
    if (judged.kind === 'begin') {
      this.#staged?.close();
      this.#state = withoutSnapshot(state);
      const beginning = { chunk: jws, lookupKeySealed: chunk.lookupKeySealed ?? null };
      this.#staged = StagedSnapshot.begin(this.#folder, this.#codes, beginning);
    }
    const { snapshot } = judged.state;
    invariant(snapshot && this.#staged, 'a chunk that is taken has a snapshot');
    this.#staged.add(chunk.rows, snapshot);
    this.#state = judged.state;
    return this.#standing();
  }

  /** How far the staged snapshot is. */
  #standing(): FollowOutcome {
    const snapshot = this.#state?.snapshot;
    const progress = this.#staged?.progress();
    if (!snapshot || !progress) return refused('out-of-order');
    const lookupKeySealed = this.#staged?.lookupKeySealed() ?? null;
    return { kind: 'staged', snapshot: snapshot.id, ...progress, lookupKeySealed };
  }

  /** What a former run staged counts only if its first chunk is still proven, and still new enough. */
  async #resume(): Promise<FollowOutcome | undefined> {
    const staged = StagedSnapshot.resume(this.#folder, this.#codes);
    const [first, progress] = [staged?.firstChunk(), staged?.progress()];
    if (!staged || !first || !progress || !this.#state || !this.#feedKey) return undefined;
    this.#staged = staged;
    const proven = await verifyAs('chunk', first, this.#feedKey);
    const isOurs = proven.kind === 'verified' && proven.value.gateway === this.#state.gateway;
    if (!isOurs || proven.value.cursor < this.#state.floor) {
      this.#drop();
      return undefined;
    }
    const { snapshot: id, cursor, digest } = proven.value;
    this.#state = { ...this.#state, snapshot: { id, cursor, digest, ...progress } };
    return this.#standing();
  }

  #drop(): void {
    this.#staged?.close();
    this.#staged = undefined;
    if (this.#state) this.#state = withoutSnapshot(this.#state);
    removeStaged(this.#folder);
  }
}

/** Proves a small statement; what it is worth is judged where it is waited for. */
export async function prove(kind: StatementKind, jws: string, key: string): Promise<unknown> {
  // Between two transactions of a build, so that a command never waits for a snapshot.
  await setImmediate();
  return await verifyAs(kind, jws, key);
}

/** What is staged cannot become a replica, ever; anything else may be tried again. */
function whyNotWhole(error: unknown): FollowReason | undefined {
  if (error instanceof StagedDamaged) return 'digest-differs';
  return isRowTwice(error) ? 'inconsistent' : undefined;
}

const upsertOf = ({ kind, row }: FeedPut): RowUpsert => ({ kind, row }) as RowUpsert;

function rowChange(change: FeedChange): RowChange {
  if (change.op === 'put') return { op: 'upsert', upsert: upsertOf(change) };
  const { version } = change;
  if (change.kind !== 'grant') return { op: 'remove', key: { kind: change.kind, id: change.id }, version };
  const { kind, credential, door, grant } = change;
  return { op: 'remove', key: { kind, credential, door, grant }, version };
}
