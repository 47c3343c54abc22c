/**
 * Builds a new replica file out of all rows of a facility, beside the live one and without touching it.
 *
 * Guarantees: the file gets a head only with its last transaction, so that a half-built one is never taken for a replica;
 * rows go in small transactions with a pause between, so that the disk is never held for long.
 * Not promised: durability. Nothing depends on the file until the pointer names it, and it is synced before that.
 */

import { setImmediate } from 'node:timers/promises';
import type { CredentialRow, FacilityRows } from '#shared/contract/replica-row.ts';
import { bucketOfId } from '#shared/replica-digest.ts';
import { migrate, readMigrations } from '../store/migrate.ts';
import { openDatabase, type Store } from '../store/open-database.ts';
import { removeEpoch, replicaPath } from './replica-folder.ts';
import type { ReplicaHead } from './replica-head.ts';
import { ReplicaWriter } from './replica-writer.ts';
import type { RowUpsert } from './row-change.ts';
import type { RowCodes } from './row-mac.ts';

/** Rows one after another, in the order in which their tables lie on the disk: pages are filled one after another. */
export interface RowStream {
  readonly total: number;
  readonly each: () => Iterable<RowUpsert>;
}

export interface SnapshotPlan {
  readonly folder: string;
  readonly epoch: number;
  readonly cursor: number;
  readonly rows: RowStream;
  readonly codes: RowCodes;
  /** Told after each transaction. */
  readonly onProgress?: (written: number, total: number) => void;
  /** Heard between transactions. */
  readonly signal?: AbortSignal;
}

const rowsPerTransaction = 1_000;
/** While it builds, KiB: the index of credential ids is filled in no order. */
const buildCacheKib = 16_384;

/** @returns the head of the new file, which is closed. On any failure, an abort of `signal` too, nothing of it is left. */
export async function buildSnapshot(plan: SnapshotPlan): Promise<ReplicaHead> {
  const { folder, epoch } = plan;
  removeEpoch(folder, epoch);
  const store = openDatabase({ path: replicaPath(folder, epoch), mode: 'create' });
  try {
    const head = await fill(store, plan);
    store.close();
    return head;
  } catch (error) {
    store.close();
    removeEpoch(folder, epoch);
    throw error;
  }
}

async function fill(store: Store, plan: SnapshotPlan): Promise<ReplicaHead> {
  store.pragma('journal_mode = OFF');
  store.pragma('synchronous = OFF');
  store.pragma(`cache_size = -${buildCacheKib}`);
  migrate(store, readMigrations('replica'));
  const writer = new ReplicaWriter(store, plan.codes);
  const { total } = plan.rows;
  let written = 0;
  let chunk: RowUpsert[] = [];
  const flush = async () => {
    const putAll = store.transaction(() => {
      for (const upsert of chunk) writer.put(upsert);
    });
    putAll();
    written += chunk.length;
    chunk = [];
    plan.onProgress?.(written, total);
    await setImmediate();
    plan.signal?.throwIfAborted();
  };
  for (const upsert of plan.rows.each()) {
    chunk.push(upsert);
    if (chunk.length >= rowsPerTransaction) await flush();
  }
  await flush();
  const head = store.transaction(() => writer.writeHead(plan))();
  store.pragma('journal_mode = WAL');
  return head;
}

/** A facility that is in memory, as a stream. */
export const streamOf = (rows: FacilityRows): RowStream => ({
  total: countRows(rows),
  each: () => inTableOrder(rows),
});

function countRows(rows: FacilityRows): number {
  const { schedules, holidays, doors, readers, holders, credentials, grants } = rows;
  return [schedules, holidays, doors, readers, holders, credentials, grants].reduce((n, { length }) => n + length, 1);
}

/** Every row once. */
function* inTableOrder(rows: FacilityRows): Generator<RowUpsert> {
  yield { kind: 'facility', row: rows.facility };
  for (const row of rows.schedules) yield { kind: 'schedule', row };
  for (const row of rows.holidays) yield { kind: 'holiday', row };
  for (const row of rows.doors) yield { kind: 'door', row };
  for (const row of rows.readers) yield { kind: 'reader', row };
  for (const row of sortedBy(rows.holders, (holder) => bucketOfId(holder.id))) yield { kind: 'holder', row };
  for (const row of sortedByLookup(rows.credentials)) yield { kind: 'credential', row };
  for (const row of sortedBy(rows.grants, (grant) => bucketOfId(grant.credential))) yield { kind: 'grant', row };
}

function sortedBy<Row>(rows: readonly Row[], bucketOf: (row: Row) => number): readonly Row[] {
  return rows
    .map((row) => ({ row, bucket: bucketOf(row) }))
    .sort((a, b) => a.bucket - b.bucket)
    .map(({ row }) => row);
}

function sortedByLookup(rows: readonly CredentialRow[]): readonly CredentialRow[] {
  return [...rows].sort((a, b) => (a.lookup < b.lookup ? -1 : 1));
}
