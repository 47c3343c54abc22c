/** A small disk of its own, to be filled, emptied and made read-only. Needs the right to mount. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

export interface SmallDisk {
  readonly path: string;
  /** Takes all room that is left. */
  fill(): void;
  free(): void;
  setReadOnly(isReadOnly: boolean): void;
  unmount(): void;
}

/** @returns `undefined` where this user may not mount. */
export function mountSmallDisk(path: string, mebibytes: number): SmallDisk | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (!isMounted(path, mebibytes)) return undefined;
  const filler = join(path, 'filler');
  return {
    path,
    fill: () => fill(filler),
    free: () => rmSync(filler, { force: true }),
    setReadOnly: (isReadOnly) =>
      void execFileSync('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, path], { stdio: 'ignore' }),
    unmount: () => void execFileSync('umount', ['-l', path], { stdio: 'ignore' }),
  };
}

function isMounted(path: string, mebibytes: number): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=0700`, 'kannuki-test', path], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    // No right to mount, or no mount at all.
    return false;
  }
}

function fill(file: string): void {
  const descriptor = openSync(file, 'a');
  const block = Buffer.alloc(4_096, 'full');
  try {
    for (;;) writeSync(descriptor, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(descriptor);
  }
}
