/**
 * Opens a SQLite file the one way this product does: WAL, synced at every commit, typed faults.
 *
 * Guarantees: a commit that returned is on the disk; a file that is missing, forbidden, read-only, full or damaged
 * is a `StoreFault` with its own code; a damaged file is left exactly as found, its -wal included.
 * Not promised: that a file which opens is sound throughout; `check-database.ts` reads all of it, and the chain and
 * the row codes of the rooms above say whether a row is ours.
 */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import { StoreFault, withStoreFaults } from './store-fault.ts';

export type Store = Database.Database;
export type Statement<Parameters extends unknown[] = unknown[], Row = unknown> = Database.Statement<Parameters, Row>;

export interface OpenOptions {
  readonly path: string;
  /** `create` makes a missing file; `existing` refuses one; `read` opens an existing file and never writes. */
  readonly mode: 'create' | 'existing' | 'read';
  /** Of a new file, bytes, a power of two from 512 to 65 536. Small pages wear flash less, large ones read faster. */
  readonly pageSize?: number;
  /** How long to wait for another holder, ms; 0 on the main thread, which must never wait for a disk. */
  readonly busyTimeoutMs?: number;
}

/** Pages that a file keeps in this process, KiB. The kernel keeps the rest, and gives it back where memory is short. */
const cacheKib = 2_048;

/** Below it, a write-ahead log reset at the wrong moment could lose a commit (SQLite 3.51.3 release notes). */
const oldestSqlite = [3, 51, 3] as const;

/** @throws StoreFault as its codes say. */
export function openDatabase(options: OpenOptions): Store {
  return withStoreFaults(options.path, () => {
    refuseWrongFiles(options);
    const store = new Database(options.path, {
      readonly: options.mode === 'read',
      fileMustExist: options.mode !== 'create',
      timeout: options.busyTimeoutMs ?? 0,
    });
    try {
      requireSqlite(String(store.prepare('SELECT sqlite_version()').pluck().get()), options.path);
      configure(store, options);
      // The library would keep 16 MB for each; whoever writes or reads much says so.
      store.pragma(`cache_size = -${cacheKib}`);
      return store;
    } catch (error) {
      store.close();
      throw isRefusedFormat(error) ? damaged(options.path, error) : error;
    }
  });
}

/** The opening statements are constants: where SQLite calls one of them wrong, it is the file's header that is. */
const isRefusedFormat = (error: unknown): error is Error =>
  error instanceof Database.SqliteError && error.code === 'SQLITE_ERROR';

const damaged = (path: string, error: Error): StoreFault => new StoreFault('STORE_DAMAGED', path, error.message, error);

/** @throws StoreFault STORE_SQLITE_TOO_OLD for a version before 3.51.3. */
export function requireSqlite(version: string, path: string): void {
  const parts = version.split('.').map(Number);
  for (const [index, oldest] of oldestSqlite.entries()) {
    const part = parts[index] ?? 0;
    if (part > oldest) return;
    if (part < oldest || Number.isNaN(part)) {
      const detail = `SQLite ${version} is older than ${oldestSqlite.join('.')}`;
      throw new StoreFault('STORE_SQLITE_TOO_OLD', path, detail);
    }
  }
}

/**
 * States that SQLite would take for a new database, or answer with one word for many causes.
 * A -wal without its database must not be opened: a fresh file beside a stale log brings old rows back, and an empty
 * file makes SQLite delete the log.
 */
function refuseWrongFiles({ path, mode }: OpenOptions): void {
  const folder = dirname(path);
  if (!existsSync(folder)) throw new StoreFault('STORE_MISSING', path, 'the folder does not exist');
  const size = sizeOf(path);
  if (!size && sizeOf(`${path}-wal`))
    throw new StoreFault('STORE_DAMAGED', path, 'a -wal is there without its database');
  if (mode !== 'create') {
    if (size === undefined) throw new StoreFault('STORE_MISSING', path, 'the file does not exist');
    if (size === 0) throw new StoreFault('STORE_DAMAGED', path, 'the file is empty');
  }
  const needed = mode === 'read' ? constants.R_OK : constants.R_OK | constants.W_OK;
  if (size !== undefined) accessSync(path, needed);
  accessSync(folder, needed | constants.X_OK);
}

const sizeOf = (path: string): number | undefined => statSync(path, { throwIfNoEntry: false })?.size;

function configure(store: Store, options: OpenOptions): void {
  if (options.mode === 'read') {
    store.pragma('query_only = ON');
    store.pragma('schema_version');
    return;
  }
  if (options.pageSize !== undefined) store.pragma(`page_size = ${options.pageSize}`);
  const mode = store.pragma('journal_mode = WAL', { simple: true });
  if (mode !== 'wal') throw new StoreFault('STORE_FAILED', options.path, `the journal mode is ${String(mode)}`);
  store.pragma('synchronous = FULL');
  store.pragma('foreign_keys = ON');
  store.pragma('recursive_triggers = ON');
  // What was deleted (a key that has been used up, a person's data) is overwritten where it stood.
  store.pragma('secure_delete = ON');
  // A damaged schema must not run functions with side effects.
  store.pragma('trusted_schema = OFF');
  store.pragma('cell_size_check = ON');
}
