/**
 * One process to a data folder: two that wrote the same history would tear its chain.
 *
 * Guarantees: the hold is the kernel's lock on a file of the folder, so it ends with the process, however that ends, and
 * leaves nothing behind that a next start would have to judge; it also holds between containers that share the folder.
 * Not promised: anything on a file system without locks, or against who does not ask.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { StoreFault, withStoreFaults } from './store-fault.ts';

/** Must be kept: what nobody refers to is collected, and the lock with it. */
export interface FolderHold {
  release(): void;
}

/** Another process has the folder; it does not help to try again while that runs. */
class FolderInUse extends Error {
  readonly code = 'DATA_FOLDER_IN_USE';
}

/** @throws FolderInUse; StoreFault where the folder is missing, forbidden, read-only or full. */
export function holdFolder(folder: string): FolderHold {
  const path = join(folder, 'gateway.lock');
  const store = withStoreFaults(path, () => new Database(path, { timeout: 0 }));
  try {
    withStoreFaults(path, () => lock(store));
  } catch (cause) {
    store.close();
    if (cause instanceof StoreFault && cause.code === 'STORE_BUSY')
      throw new FolderInUse(`another gateway already uses the data folder ${folder}`, { cause });
    throw cause;
  }
  return { release: () => void store.close() };
}

/** Nothing is ever written: the file stays empty. */
function lock(store: Database.Database): void {
  store.pragma('journal_mode = MEMORY');
  store.exec('BEGIN EXCLUSIVE');
}
