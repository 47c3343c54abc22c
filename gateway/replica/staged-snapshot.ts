/**
 * A snapshot on its way in: the rows of its chunks in a file of their own, until they are a replica.
 *
 * Guarantees: a chunk is in with its rows and the progress, or not at all, whenever the process ends; what is read carries
 * a code, so that what is built is what was verified; rows come out in the order in which their tables lie. The file is
 * synced every few MiB, so that nothing else on the disk waits for all of it.
 * Not promised: that the last chunks survive a power cut. What it holds is only time: damaged, it is dropped and fetched again.
 *
 * A chunk is divided by parts of the tables, each a stretch of buckets: written, a part grows at its end; read, one part at
 * a time is in memory, and sorted there. Rows of a chunk put one by one in their tables' order would touch a page each.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { FeedPut } from '#shared/contract/sync/feed.ts';
import type { Columns } from '#shared/replica-columns.ts';
import { bucketCount, type RowKind, rowKinds } from '#shared/replica-digest.ts';
import { migrate, readMigrations } from '../store/migrate.ts';
import { openDatabase, type Statement, type Store } from '../store/open-database.ts';
import { storeFault } from '../store/store-fault.ts';
import { bucketOfColumns, columnsOfUpsert, type RowUpsert } from './row-change.ts';
import type { RowCodes } from './row-mac.ts';
import { inTableOrder, type PlacedRow } from './table-order.ts';

export interface StagedBeginning {
  /** The first chunk, as it was signed. */
  readonly chunk: string;
  readonly lookupKeySealed: string | null;
}

export interface StagedProgress {
  /** Of the chunk that comes next. */
  readonly next: number;
  readonly isWhole: boolean;
}

interface Piece {
  readonly chunk: number;
  readonly rows: string;
  readonly mac: string;
}

const cacheKib = 4_096;
/** Of a kind of many rows; at 240 000 credentials a part is some 11 000 rows. */
const partsPerKind = 32;

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
    this.#put = store.prepare('INSERT INTO piece VALUES (?, ?, ?, unhex(?))');
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

  /** Without a row yet, in the place of whatever was there. @throws StoreFault */
  static begin(folder: string, codes: RowCodes, { chunk, lookupKeySealed }: StagedBeginning): StagedSnapshot {
    removeStaged(folder);
    const staged = StagedSnapshot.#open(folder, codes, 'create');
    staged.#store.prepare('INSERT INTO beginning VALUES (1, ?, ?)').run(lookupKeySealed, chunk);
    return staged;
  }

  static #open(folder: string, codes: RowCodes, mode: 'create' | 'existing'): StagedSnapshot {
    const store = openDatabase({ path: stagedPath(folder), mode });
    try {
      // The log keeps it whole through the end of the process; it is synced whenever it is moved into the file.
      store.pragma('synchronous = NORMAL');
      store.pragma(`cache_size = -${cacheKib}`);
      migrate(store, readMigrations('staging'));
      return new StagedSnapshot(store, codes);
    } catch (error) {
      store.close();
      throw error;
    }
  }

  firstChunk(): string | undefined {
    return this.#store.prepare<[], string>('SELECT chunk FROM beginning').pluck().get();
  }

  lookupKeySealed(): string | null {
    return this.#store.prepare<[], string | null>('SELECT lookup_key FROM beginning').pluck().get() ?? null;
  }

  progress(): StagedProgress | undefined {
    const row = this.#store.prepare<[], [number, number]>('SELECT next, is_whole FROM progress').raw().get();
    return row && { next: row[0], isWhole: row[1] === 1 };
  }

  /** The rows of the chunk before `next`. @throws StoreFault */
  add(rows: readonly FeedPut[], { next, isWhole }: StagedProgress): void {
    const addAll = this.#store.transaction(() => {
      for (const [part, columns] of dividedByPart(rows)) {
        const text = JSON.stringify(columns);
        this.#put.run(part, next - 1, text, this.#codeOf(part, next - 1, text));
      }
      this.#store.prepare('INSERT OR REPLACE INTO progress VALUES (1, ?, ?)').run(next, Number(isWhole));
    });
    addAll.immediate();
  }

  /** @throws StagedDamaged while it is read, where a piece does not carry its code. */
  *rows(): Generator<PlacedRow> {
    const ofPart = this.#store.prepare<[number], Piece>(
      'SELECT chunk, rows, lower(hex(mac)) AS mac FROM piece WHERE part = ?',
    );
    for (const [place, kind] of rowKinds.entries()) {
      for (let part = place * partsPerKind; part < (place + 1) * partsPerKind; part += 1) {
        const rows = ofPart.all(part).flatMap((piece) => this.#verified(part, piece));
        for (const columns of inTableOrder(kind, rows)) yield { kind, columns };
      }
    }
  }

  close(): void {
    this.#store.close();
  }

  #verified(part: number, { chunk, rows, mac }: Piece): Columns[] {
    if (this.#codeOf(part, chunk, rows) !== mac) throw new StagedDamaged('a staged piece is not as it came');
    return JSON.parse(rows) as Columns[];
  }

  #codeOf(part: number, chunk: number, text: string): string {
    return this.#codes.mac(`staged|${part}|${chunk}|${text}`);
  }
}

function dividedByPart(rows: readonly FeedPut[]): ReadonlyMap<number, readonly Columns[]> {
  const parts = new Map<number, Columns[]>();
  for (const { kind, row } of rows) {
    const columns = columnsOfUpsert({ kind, row } as RowUpsert);
    const part = partOf(kind, columns);
    const others = parts.get(part);
    if (others === undefined) parts.set(part, [columns]);
    else others.push(columns);
  }
  return parts;
}

function partOf(kind: RowKind, columns: Columns): number {
  const stretch = Math.floor((bucketOfColumns(kind, columns) * partsPerKind) / bucketCount);
  return rowKinds.indexOf(kind) * partsPerKind + stretch;
}
