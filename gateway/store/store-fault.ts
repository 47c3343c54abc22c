/**
 * What can go wrong with a database file, by name.
 *
 * Every fault of a file leaves this folder as one of these, so that a supervisor switches on a code instead of
 * reading SQLite's words. Anything that is not a fault of the file (a wrong statement, a broken invariant) passes
 * through untouched: it is a bug.
 */
import type { FaultCode } from '#shared/code.ts';

export type StoreFaultCode = Extract<FaultCode, `STORE_${string}`>;

export class StoreFault extends Error {
  override readonly name = 'StoreFault';
  readonly code: StoreFaultCode;
  readonly path: string;

  constructor(code: StoreFaultCode, path: string, detail: string, cause?: unknown) {
    super(`${path}: ${detail}`, { cause });
    this.code = code;
    this.path = path;
  }
}

/** By the beginning of SQLite's extended code name or of errno; the first that fits. */
const meanings: readonly (readonly [prefix: string, code: StoreFaultCode])[] = [
  ['SQLITE_FULL', 'STORE_FULL'],
  // The index of the write-ahead log could not grow: there is no room for it.
  ['SQLITE_IOERR_SHMSIZE', 'STORE_FULL'],
  ['SQLITE_READONLY', 'STORE_READ_ONLY'],
  ['SQLITE_CORRUPT', 'STORE_DAMAGED'],
  ['SQLITE_NOTADB', 'STORE_DAMAGED'],
  ['SQLITE_FORMAT', 'STORE_DAMAGED'],
  ['SQLITE_IOERR_SHORT_READ', 'STORE_DAMAGED'],
  ['SQLITE_IOERR_CORRUPTFS', 'STORE_DAMAGED'],
  ['SQLITE_BUSY', 'STORE_BUSY'],
  ['SQLITE_LOCKED', 'STORE_BUSY'],
  ['SQLITE_PERM', 'STORE_FORBIDDEN'],
  ['SQLITE_AUTH', 'STORE_FORBIDDEN'],
  ['SQLITE_IOERR', 'STORE_FAILED'],
  ['SQLITE_CANTOPEN', 'STORE_FAILED'],
  ['SQLITE_NOMEM', 'STORE_FAILED'],
  ['ENOENT', 'STORE_MISSING'],
  ['EACCES', 'STORE_FORBIDDEN'],
  ['EPERM', 'STORE_FORBIDDEN'],
  ['EROFS', 'STORE_READ_ONLY'],
  ['ENOSPC', 'STORE_FULL'],
  ['EDQUOT', 'STORE_FULL'],
  ['EFBIG', 'STORE_FULL'],
  ['EIO', 'STORE_FAILED'],
  ['EMFILE', 'STORE_FAILED'],
];

/** The fault an error stands for, or `undefined` if it is not one of the file but a bug. */
export function storeFault(error: unknown, path: string): StoreFault | undefined {
  if (error instanceof StoreFault) return error;
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  const native = error.code;
  const meaning = meanings.find(([prefix]) => native.startsWith(prefix));
  return meaning && new StoreFault(meaning[1], path, `${error.message} (${native})`, error);
}

/** Runs `work` on the file at `path`; its faults come out typed. */
export function withStoreFaults<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw storeFault(error, path) ?? error;
  }
}
