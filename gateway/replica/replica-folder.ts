/**
 * The files of the replica in the data folder: `replica-<epoch>.db` for each epoch, and `replica.json`, which names the live one.
 *
 * Guarantees: an epoch's name is never used twice and never renamed over, so that no fresh file ever stands beside a
 * stale -wal; the pointer changes at one instant, after which both it and what it names are on the disk.
 * Not promised: that the pointer tells the truth. Whether the file is the newest is for its head and the journal.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

const pointerName = 'replica.json';
const pointerSchema = z.strictObject({ epoch: z.int().min(1) });

export type Pointer =
  | { readonly kind: 'none' }
  | { readonly kind: 'live'; readonly epoch: number }
  | { readonly kind: 'damaged'; readonly detail: string };

export function replicaPath(folder: string, epoch: number): string {
  return join(folder, `replica-${epoch}.db`);
}

export function readPointer(folder: string): Pointer {
  const path = join(folder, pointerName);
  if (!existsSync(path)) return { kind: 'none' };
  const pointer = parsePointer(readFileSync(path, 'utf8'));
  return pointer === undefined
    ? { kind: 'damaged', detail: `${path} does not name an epoch` }
    : { kind: 'live', ...pointer };
}

function parsePointer(text: string): z.infer<typeof pointerSchema> | undefined {
  try {
    return pointerSchema.safeParse(JSON.parse(text)).data;
  } catch {
    // Not JSON: torn by something other than us, for the pointer is switched by a rename.
    return undefined;
  }
}

/** Makes `epoch` the live one. Its file must be complete and closed; it is synced here, before the pointer names it. */
export function switchPointer(folder: string, epoch: number): void {
  syncPath(replicaPath(folder, epoch));
  syncPath(folder);
  const path = join(folder, pointerName);
  const next = `${path}.next`;
  const file = openSync(next, 'w', 0o600);
  try {
    writeSync(file, `${JSON.stringify({ epoch })}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
  syncPath(folder);
}

/** Epochs of which a file is there, or a part of one; ascending. */
function epochsOnDisk(folder: string): readonly number[] {
  const epochs = new Set<number>();
  for (const name of readdirSync(folder)) {
    const epoch = /^replica-(\d{1,15})\.db/.exec(name)?.[1];
    if (epoch !== undefined) epochs.add(Number(epoch));
  }
  return [...epochs].sort((a, b) => a - b);
}

/** An epoch that no file, no pointer and no journal entry has used. @param floor the highest epoch known elsewhere. */
export function nextEpoch(folder: string, floor: number): number {
  const pointer = readPointer(folder);
  return Math.max(floor, pointer.kind === 'live' ? pointer.epoch : 0, ...epochsOnDisk(folder)) + 1;
}

/** Deletes the files of an epoch. The database goes last: a -wal is never left without it. */
export function removeEpoch(folder: string, epoch: number): void {
  for (const suffix of ['-shm', '-wal', '-journal', '']) rmSync(replicaPath(folder, epoch) + suffix, { force: true });
}

/** What a crash left behind: every epoch but the live one. Does nothing while it is not certain which that is. */
export function removeLeftovers(folder: string): void {
  const pointer = readPointer(folder);
  if (pointer.kind !== 'live') return;
  for (const epoch of epochsOnDisk(folder)) if (epoch !== pointer.epoch) removeEpoch(folder, epoch);
}

function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
