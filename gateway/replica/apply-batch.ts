/**
 * Applies changes to the live replica: all of them, the cursor and the new head in one synced transaction, or nothing.
 *
 * A row is put only if its version is higher than what is there, and taken out unless what is there is newer. A removal
 * leaves no mark behind: whatever is older than it lies at or before the cursor, and is never taken again.
 * Doors go on deciding meanwhile, on the state before.
 */

import { changesMax } from '#shared/contract/sync/feed.ts';
import type { RowKind } from '#shared/replica-digest.ts';
import type { Store } from '../store/open-database.ts';
import type { ReplicaHead } from './replica-head.ts';
import { ReplicaTampered, type ReplicaWriter } from './replica-writer.ts';
import type { RowChange, RowUpsert } from './row-change.ts';

export interface Batch {
  readonly changes: readonly RowChange[];
  /** The feed's position after this batch; it never goes back. Without a cloud, as it is. */
  readonly cursor: number;
}

export type BatchOutcome =
  | { readonly status: 'applied'; readonly head: ReplicaHead; readonly changed: number }
  /** Already applied, by its cursor and its versions. */
  | { readonly status: 'noop'; readonly head: ReplicaHead }
  | { readonly status: 'refused'; readonly code: 'TOO_MANY' | 'CURSOR_BEHIND' };

/** @throws ReplicaTampered, or a fault of the disk; the file is then as it was. */
export function applyBatch(store: Store, writer: ReplicaWriter, batch: Batch): BatchOutcome {
  const head = headOf(writer);
  if (batch.changes.length > changesMax) return { status: 'refused', code: 'TOO_MANY' };
  if (batch.cursor < head.cursor) return { status: 'refused', code: 'CURSOR_BEHIND' };
  return inOne(store, writer, () => {
    let changed = 0;
    for (const change of batch.changes) if (writer.apply(change)) changed += 1;
    if (changed === 0 && batch.cursor === head.cursor) return { status: 'noop', head };
    return { status: 'applied', head: writer.writeHead({ epoch: head.epoch, cursor: batch.cursor }), changed };
  });
}

export interface BucketRows {
  readonly kind: RowKind;
  readonly buckets: readonly number[];
  /** All rows that those buckets hold from now on. */
  readonly rows: readonly RowUpsert[];
}

/** Puts rows in the place of whatever stands in their buckets. @throws as `applyBatch`. */
export function replaceBuckets(store: Store, writer: ReplicaWriter, { kind, buckets, rows }: BucketRows): BatchOutcome {
  const { epoch, cursor } = headOf(writer);
  return inOne(store, writer, () => {
    const gone = buckets.reduce((count, bucket) => count + writer.clearBucket(kind, bucket), 0);
    for (const upsert of rows) writer.replace(upsert);
    return { status: 'applied', head: writer.writeHead({ epoch, cursor }), changed: Math.max(gone, rows.length) };
  });
}

function headOf({ head }: ReplicaWriter): ReplicaHead {
  if (head === undefined) throw new ReplicaTampered('a replica without a head takes no changes');
  return head;
}

function inOne(store: Store, writer: ReplicaWriter, work: () => BatchOutcome): BatchOutcome {
  try {
    return store.transaction(work).immediate();
  } catch (error) {
    writer.reload();
    throw error;
  }
}
