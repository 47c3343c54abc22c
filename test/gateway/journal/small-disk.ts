/**
 * A disk that can be full: a memory file system of one megabyte where we may mount one, otherwise a limit on the size
 * of the database file, which SQLite reports in the same words.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly path: string;
  /** Fills it up to so many bytes. */
  fill(leaveBytes: number): void;
  /** Gives the filling back. */
  free(): void;
  /** Nothing on it may be open for writing. */
  makeReadOnly(): void;
  remove(): void;
}

/** @returns `undefined` where mounting is not allowed. */
export function mountSmallDisk(): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), 'kannuki-disk-'));
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'none', path]).status !== 0) {
    rmSync(path, { recursive: true });
    return undefined;
  }
  const filling = join(path, 'filling');
  return {
    path,
    fill: (leaveBytes) => {
      const { bavail, bsize } = statfsSync(path);
      writeFileSync(filling, Buffer.alloc(Math.max(0, bavail * bsize - leaveBytes), 1));
    },
    free: () => rmSync(filling, { force: true }),
    makeReadOnly: () => {
      if (spawnSync('mount', ['-o', 'remount,ro', path]).status !== 0) throw new Error(`${path} stays writable`);
    },
    remove: () => {
      spawnSync('umount', ['-l', path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
