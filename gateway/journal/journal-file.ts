/**
 * journal.db, opened and found whole: what its last commit left is what our last commit wrote.
 *
 * Guarantees: before the first entry is taken, the seal, the tail of the chain back to the last signed head, the key of
 * the next head and every row of state have been verified; anything else is STORE_DAMAGED, never a smaller history.
 * Not promised: the middle of the history; `verify-journal.ts` walks all of it, and `read-entries.ts` verifies what it
 * serves. Synchronous, for a thread of its own.
 */

import { genesisHash, placeOf } from '#shared/journal-chain.ts';
import { createHeadKey } from '#shared/signed-head.ts';
import { keyPrint } from '../site/sealed-keys.ts';
import { migrate, readMigrations } from '../store/migrate.ts';
import { openDatabase, type Store } from '../store/open-database.ts';
import { deriveKey, emptySum } from '../store/row-code.ts';
import { storeFault } from '../store/store-fault.ts';
import { type EntryRow, type JournalTables, prepareTables } from './journal-tables.ts';
import { type JournalKeys, JournalTransaction, type Position } from './journal-transaction.ts';
import { stateKeyPurpose } from './state-seal.ts';
import { verifiedPosition } from './verified-position.ts';

/**
 * Bytes per page of a new journal. A commit writes whole pages, so small ones wear flash less; an entry of 300 bytes
 * still shares a page of 1 024 with two others.
 */
const journalPageSize = 1_024;

export interface JournalFileOptions {
  readonly path: string;
  readonly masterKey: Uint8Array;
  readonly bootId: string;
  /** `create` makes a missing file, beginning with `newEpoch`. */
  readonly mode: 'existing' | 'create';
  readonly newEpoch: number;
  /** Told of entries once they are durable. */
  readonly onCommitted?: (rows: readonly EntryRow[]) => void;
}

export interface JournalFile {
  /** Made just now. */
  readonly isNew: boolean;
  readonly path: string;
  readonly store: Store;
  readonly tables: JournalTables;
  readonly keys: JournalKeys;
  position(): Position;
  /** Runs `work` in one transaction, sealed and durable on return; a throw leaves everything as it was. */
  transact<Result>(work: (transaction: JournalTransaction) => Result): Result;
  close(): void;
}

/** @throws StoreFault; the file is then closed and untouched. */
export function openJournalFile(options: JournalFileOptions): JournalFile {
  const store = openDatabase({
    path: options.path,
    mode: options.mode,
    pageSize: journalPageSize,
    busyTimeoutMs: 1_000,
  });
  try {
    migrate(store, readMigrations('journal'));
    // The thread checkpoints when it is idle: a commit must not pay for it.
    store.pragma('wal_autocheckpoint = 0');
    return createFile(store, options);
  } catch (error) {
    store.close();
    throw storeFault(error, options.path) ?? error;
  }
}

function createFile(store: Store, options: JournalFileOptions): JournalFile {
  const tables = prepareTables(store);
  const keys = { master: options.masterKey, state: deriveKey(options.masterKey, stateKeyPurpose) };
  let position: Position;
  function transact<Result>(start: Position, work: (transaction: JournalTransaction) => Result): Result {
    const transaction = new JournalTransaction(tables, keys, options.bootId, start);
    const run = store.transaction(() => {
      const result = work(transaction);
      transaction.finish();
      return result;
    });
    const result = run.immediate();
    position = transaction.position;
    if (transaction.entries.length > 0) options.onCommitted?.(transaction.entries);
    return result;
  }
  const isNew = options.mode === 'create' && isFresh(tables);
  if (isNew) {
    const key = createHeadKey();
    const start = freshPosition(options.newEpoch, key.publicKey, keyPrint(options.masterKey));
    transact(start, (transaction) => transaction.createRows(start.extent, key.privateKey));
  } else {
    position = verifiedPosition(options.path, tables, keys);
  }
  return {
    isNew,
    path: options.path,
    store,
    tables,
    keys,
    position: () => position,
    transact: (work) => transact(position, work),
    close: () => store.close(),
  };
}

/** A file whose creation was cut short has no row at all; half of them is damage. */
function isFresh(tables: JournalTables): boolean {
  const rows = [tables.extent.get(), tables.seal.get(), tables.headKey.get(), tables.lastPlace.get()];
  return rows.every((row) => row === undefined);
}

function freshPosition(epoch: number, firstKey: Uint8Array, print: Uint8Array): Position {
  return {
    tip: placeOf(epoch, 0),
    tipHash: genesisHash,
    tipAt: 0,
    stateSum: emptySum,
    headPlace: 0,
    extent: { firstEpoch: epoch, firstKey, keyPrint: print, boundary: 0, boundaryHash: genesisHash, acked: 0 },
  };
}
