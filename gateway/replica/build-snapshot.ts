/**
 * Builds a new replica file out of all rows of a facility, beside the live one and without touching it.
 *
 * Guarantees: the file gets a head only with its last transaction, so that a half-built one is never taken for a replica;
 * it is synced every few MiB, with a pause for others in between, so that the disk is never held for long.
 * Not promised: that the end of it is on the disk. Nothing depends on the file until the pointer names it, and it is synced
 * before that.
 */

import { setImmediate } from 'node:timers/promises';
import type { FacilityRows } from '#shared/contract/replica-row.ts';
import { invariant } from '#shared/invariant.ts';
import { type Columns, columnsOf } from '#shared/replica-columns.ts';
import { type RowKind, rowKinds } from '#shared/replica-digest.ts';
import { migrate, readMigrations } from '../store/migrate.ts';
import { openDatabase, type Store } from '../store/open-database.ts';
import { removeEpoch, replicaPath } from './replica-folder.ts';
import type { ReplicaHead } from './replica-head.ts';
import { ReplicaWriter } from './replica-writer.ts';
import type { RowCodes } from './row-mac.ts';
import { buildSql } from './row-sql.ts';
import { inTableOrder, type PlacedRow } from './table-order.ts';

export interface SnapshotPlan {
  readonly folder: string;
  readonly epoch: number;
  readonly cursor: number;
  /** In the order in which their tables lie on the disk. */
  readonly rows: Iterable<PlacedRow>;
  readonly codes: RowCodes;
  /** Told how many there are by now, whenever others had their turn. */
  readonly onProgress?: (written: number) => void;
  /** Heard whenever others had their turn. */
  readonly signal?: AbortSignal;
}

const rowsPerTurn = 500;
/** One to two MiB: as much as is left to the disk at once. The index comes in one commit of its own. */
const rowsPerCommit = 8_000;
/** While it builds, KiB: more than one commit. */
const buildCacheKib = 8_192;

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

/** Of two rows with one identity, or two credentials with one lookup value, there was no room for the second. */
export const isRowTwice = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CONSTRAINT');

async function fill(store: Store, plan: SnapshotPlan): Promise<ReplicaHead> {
  // Thrown away on any failure, it needs no way back on the disk: each page is written once, and synced with its commit.
  store.pragma('journal_mode = MEMORY');
  store.pragma('synchronous = NORMAL');
  store.pragma(`cache_size = -${buildCacheKib}`);
  migrate(store, readMigrations('replica'));
  const index = takeIndex(store);
  const writer = new ReplicaWriter(store, plan.codes);
  let written = 0;
  store.exec(buildSql.begin);
  for (const row of plan.rows) {
    writer.put(row);
    written += 1;
    if (written % rowsPerCommit === 0) store.exec(buildSql.nextCommit);
    if (written % rowsPerTurn === 0) await takeTurns(plan, written);
  }
  store.exec(buildSql.commit);
  await takeTurns(plan, written);
  store.exec(index);
  const head = store.transaction(() => writer.writeHead(plan))();
  store.pragma('journal_mode = WAL');
  return head;
}

async function takeTurns({ onProgress, signal }: SnapshotPlan, written: number): Promise<void> {
  onProgress?.(written);
  await setImmediate();
  signal?.throwIfAborted();
}

/** Takes out the index that would be filled in no order. @returns the statement that makes it again, at once. */
function takeIndex(store: Store): string {
  const made = store.prepare<[], string>(buildSql.findIndex).pluck().get();
  invariant(made, 'the schema has the index of credential ids');
  store.exec(buildSql.dropIndex);
  return made;
}

/** A facility that is in memory, every row once. */
export function* streamOf(rows: FacilityRows): Generator<PlacedRow> {
  for (const kind of rowKinds) {
    for (const columns of inTableOrder(kind, columnsIn[kind](rows))) yield { kind, columns };
  }
}

const columnsIn: Readonly<Record<RowKind, (rows: FacilityRows) => readonly Columns[]>> = {
  facility: ({ facility }) => [columnsOf.facility(facility)],
  schedule: ({ schedules }) => schedules.map(columnsOf.schedule),
  holiday: ({ holidays }) => holidays.map(columnsOf.holiday),
  door: ({ doors }) => doors.map(columnsOf.door),
  reader: ({ readers }) => readers.map(columnsOf.reader),
  holder: ({ holders }) => holders.map(columnsOf.holder),
  credential: ({ credentials }) => credentials.map(columnsOf.credential),
  grant: ({ grants }) => grants.map(columnsOf.grant),
};

export function countRows(rows: FacilityRows): number {
  const { schedules, holidays, doors, readers, holders, credentials, grants } = rows;
  return [schedules, holidays, doors, readers, holders, credentials, grants].reduce((n, { length }) => n + length, 1);
}
