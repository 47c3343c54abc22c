/**
 * A snapshot on its way in: the rows of its chunks in a file of their own, until they are a replica.
 *
 * Guarantees: a chunk is in with its rows and the progress, or not at all, whenever the process ends; each row carries a
 * code, so that what is built is what was verified; rows come out in the order in which their tables lie.
 * Not promised: that the file survives a power cut. What it holds is only time: damaged, it is dropped and fetched again.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FeedPut } from '#shared/contract/sync/feed.ts';
import { bucketOfId, rowKinds } from '#shared/replica-digest.ts';
import { migrate, readMigrations } from '../store/migrate.ts';
import { openDatabase, type Statement, type Store } from '../store/open-database.ts';
import { storeFault } from '../store/store-fault.ts';
import type { RowStream } from './build-snapshot.ts';
import { keyOf, keyText, type RowUpsert } from './row-change.ts';
import type { RowCodes } from './row-mac.ts';

export interface StagedProgress {
  /** The last chunk that is in, as it was signed. */
  readonly chunk: string;
  /** As the first chunk carried it. */
  readonly lookupKeySealed: string | null;
  readonly next: number;
  readonly isWhole: boolean;
}

interface StoredRow {
  readonly kind: number;
  readonly row: string;
  readonly mac: string;
}

const cacheKib = 4_096;

/** What is staged is not what was verified. */
export class StagedDamaged extends Error {
  override readonly name = 'StagedDamaged';
  readonly code = 'STORE_DAMAGED';
}

const stagedPath = (folder: string): string => join(folder, 'snapshot.db');

export function removeStaged(folder: string): void {
  for (const suffix of ['-shm', '-wal', '-journal', '']) rmSync(stagedPath(folder) + suffix, { force: true });
}

export class StagedSnapshot {
  readonly #store: Store;
  readonly #codes: RowCodes;
  readonly #put: Statement;

  private constructor(store: Store, codes: RowCodes) {
    this.#store = store;
    this.#codes = codes;
    this.#put = store.prepare('INSERT INTO staged_row VALUES (?, ?, ?, ?, unhex(?))');
  }

  /** What a former run left, if it is whole; otherwise it is removed. @throws a fault of the disk. */
  static resume(folder: string, codes: RowCodes): StagedSnapshot | undefined {
    try {
      const staged = StagedSnapshot.#open(folder, codes, 'existing');
      if (staged.progress() !== undefined) return staged;
      staged.close();
    } catch (error) {
      if (storeFault(error, stagedPath(folder)) === undefined) throw error;
    }
    removeStaged(folder);
    return undefined;
  }

  /** An empty one, in the place of whatever was there. @throws StoreFault */
  static begin(folder: string, codes: RowCodes): StagedSnapshot {
    removeStaged(folder);
    return StagedSnapshot.#open(folder, codes, 'create');
  }

  static #open(folder: string, codes: RowCodes, mode: 'create' | 'existing'): StagedSnapshot {
    const store = openDatabase({ path: stagedPath(folder), mode });
    try {
      // The log keeps it whole through the end of the process; a sync would only hold up the journal's.
      store.pragma('synchronous = OFF');
      store.pragma(`cache_size = -${cacheKib}`);
      migrate(store, readMigrations('staging'));
      return new StagedSnapshot(store, codes);
    } catch (error) {
      store.close();
      throw error;
    }
  }

  progress(): StagedProgress | undefined {
    const row = this.#store
      .prepare<[], [string, string | null, number, number]>('SELECT chunk, lookup_key, next, is_whole FROM progress')
      .raw()
      .get();
    return row && { chunk: row[0], lookupKeySealed: row[1], next: row[2], isWhole: row[3] === 1 };
  }

  /** @throws StoreFault; SQLITE_CONSTRAINT where a row came twice. */
  add(rows: readonly FeedPut[], progress: StagedProgress): void {
    const { chunk, lookupKeySealed, next, isWhole } = progress;
    const addAll = this.#store.transaction(() => {
      for (const { kind, row } of rows) this.#putRow({ kind, row } as RowUpsert);
      this.#store
        .prepare('INSERT OR REPLACE INTO progress VALUES (1, ?, ?, ?, ?)')
        .run(chunk, lookupKeySealed, next, Number(isWhole));
    });
    addAll.immediate();
  }

  /** @throws StagedDamaged while it is read, where a row does not carry its code. */
  rows(): RowStream {
    const total = Number(this.#store.prepare('SELECT count(*) FROM staged_row').pluck().get());
    return { total, each: () => this.#each() };
  }

  close(): void {
    this.#store.close();
  }

  *#each(): Generator<RowUpsert> {
    const select = 'SELECT kind, row, lower(hex(mac)) AS mac FROM staged_row ORDER BY kind, place, key';
    for (const { kind, row, mac } of this.#store.prepare<[], StoredRow>(select).iterate()) {
      if (this.#codes.mac(`staged|${kind}|${row}`) !== mac) throw new StagedDamaged('a staged row is not as it came');
      yield { kind: rowKinds[kind], row: JSON.parse(row) } as RowUpsert;
    }
  }

  #putRow(upsert: RowUpsert): void {
    const kind = rowKinds.indexOf(upsert.kind);
    const row = JSON.stringify(upsert.row);
    this.#put.run(kind, placeOf(upsert), keyIn(upsert), row, this.#codes.mac(`staged|${kind}|${row}`));
  }
}

function placeOf(upsert: RowUpsert): number {
  if (upsert.kind === 'holder') return bucketOfId(upsert.row.id);
  return upsert.kind === 'grant' ? bucketOfId(upsert.row.credential) : 0;
}

/** Credentials lie in the order of their lookups. */
const keyIn = (upsert: RowUpsert): string =>
  upsert.kind === 'credential' ? upsert.row.lookup : keyText(keyOf(upsert));
