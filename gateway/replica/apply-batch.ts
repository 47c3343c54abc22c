/**
 * Applies changes to the live replica: all of them, the cursor and the new head in one synced transaction, or nothing.
 *
 * Doors go on deciding meanwhile, on the state before.
 */

import type { Store } from '../store/open-database.ts';
import type { ReplicaHead } from './replica-head.ts';
import { ReplicaTampered, type ReplicaWriter } from './replica-writer.ts';
import type { RowChange } from './row-change.ts';

/** As many as one batch may hold. */
const changesMax = 500;

export interface Batch {
  readonly changes: readonly RowChange[];
  /** The feed's position after this batch; it never goes back. Without a cloud, as it is. */
  readonly cursor: number;
}

export type BatchOutcome =
  | { readonly status: 'applied'; readonly head: ReplicaHead; readonly changed: number }
  /** Already applied, by its cursor and its versions. */
  | { readonly status: 'noop'; readonly head: ReplicaHead }
  | { readonly status: 'refused'; readonly code: 'TOO_MANY' | 'CURSOR_BEHIND' | 'DUPLICATE_LOOKUP' };

/** @throws ReplicaTampered, or a fault of the disk; the file is then as it was. */
export function applyBatch(store: Store, writer: ReplicaWriter, batch: Batch): BatchOutcome {
  const { head } = writer;
  if (head === undefined) throw new ReplicaTampered('a replica without a head takes no changes');
  if (batch.changes.length > changesMax) return { status: 'refused', code: 'TOO_MANY' };
  if (batch.cursor < head.cursor) return { status: 'refused', code: 'CURSOR_BEHIND' };
  const apply = store.transaction((): BatchOutcome => {
    let changed = 0;
    for (const change of batch.changes) if (writer.apply(change)) changed += 1;
    if (changed === 0 && batch.cursor === head.cursor) return { status: 'noop', head };
    return { status: 'applied', head: writer.writeHead({ epoch: head.epoch, cursor: batch.cursor }), changed };
  });
  try {
    return apply.immediate();
  } catch (error) {
    writer.reload();
    if (isDuplicate(error)) return { status: 'refused', code: 'DUPLICATE_LOOKUP' };
    throw error;
  }
}

/** Two credentials with one lookup value: one card or PIN for two people. */
function isDuplicate(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
