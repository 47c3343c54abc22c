/**
 * A file that only takes up room, given back when the disk is full: so the journal can say that it is, and the doors
 * are not all locked out in the same second.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { storeFault } from '../store/store-fault.ts';

const blockBytes = 65_536;

export interface ReserveFile {
  /** Whether the room is set aside now. */
  isHeld(): boolean;
  /** Takes the room again, in real blocks. @returns false if there is not enough. */
  hold(): boolean;
  /** Gives the room back. @returns false if there was none. */
  release(): boolean;
}

/** @param bytes how much to hold, a multiple of 64 KiB; 0 = none. */
export function openReserve(path: string, bytes: number): ReserveFile {
  const isHeld = (): boolean => bytes > 0 && statSync(path, { throwIfNoEntry: false })?.size === bytes;
  return {
    isHeld,
    hold: () => isHeld() || (bytes > 0 && isWritten(path, bytes)),
    release: () => {
      if (!isHeld()) return false;
      rmSync(path);
      return true;
    },
  };
}

function isWritten(path: string, bytes: number): boolean {
  const partial = `${path}.part`;
  try {
    writeBlocks(partial, bytes);
    renameSync(partial, path);
    return true;
  } catch (error) {
    rmSync(partial, { force: true });
    if (!storeFault(error, path)) throw error;
    return false;
  }
}

function writeBlocks(path: string, bytes: number): void {
  const descriptor = openSync(path, 'w', 0o600);
  try {
    // Not zeros: a file system may keep those for free.
    const block = Buffer.alloc(blockBytes, 'kannuki reserve ');
    for (let written = 0; written < bytes; )
      written += writeSync(descriptor, block, 0, Math.min(blockBytes, bytes - written));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
