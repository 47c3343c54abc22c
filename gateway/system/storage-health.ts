/**
 * How the disk under the data directory is: room left, whether it can be written, how fast it is being worn.
 *
 * Not promised: the wear itself. Cards do not tell; bytes written per day is what can be compared with their rating.
 */
import { accessSync, constants, statfsSync } from 'node:fs';

export interface StorageHealth {
  readonly totalBytes: number;
  /** For this user. */
  readonly freeBytes: number;
  readonly state: 'ok' | 'low' | 'full' | 'read-only' | 'unreachable';
}

/** Below it something should be done, bytes: a few days of a busy journal. */
const lowBytes = 64 * 2 ** 20;
const fullBytes = 2 ** 20;

export function readStorageHealth(directory: string): StorageHealth {
  try {
    const { blocks, bavail, bsize } = statfsSync(directory);
    const freeBytes = bavail * bsize;
    return { totalBytes: blocks * bsize, freeBytes, state: judgeStorage(freeBytes, isWritable(directory)) };
  } catch {
    // Whatever the reason, nothing can be said of this disk but that it does not answer.
    return { totalBytes: 0, freeBytes: 0, state: 'unreachable' };
  }
}

export function judgeStorage(freeBytes: number, canWrite: boolean): StorageHealth['state'] {
  if (!canWrite) return 'read-only';
  if (freeBytes < fullBytes) return 'full';
  return freeBytes < lowBytes ? 'low' : 'ok';
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** One reading of a counter of bytes written. */
export interface WriteSample {
  /** Monotonic, ms. */
  readonly at: number;
  readonly bytes: number;
}

const dayMs = 86_400_000;
/** A rate over less time than this says nothing, ms. */
const shortestMs = 60_000;

/** Keeps one sample an hour for a day, and the newest. @param samples ascending. */
export function keepSamples(samples: readonly WriteSample[], fresh: WriteSample): readonly WriteSample[] {
  const young = samples.filter(({ at }) => fresh.at - at <= dayMs);
  const before = young.at(-2);
  const last = young.at(-1);
  const isSameHour = before && last && last.at - before.at < dayMs / 24;
  return isSameHour ? [...young.slice(0, -1), fresh] : [...young, fresh];
}

/** Bytes per day over the samples kept; `undefined` before a minute has passed. */
export function flashBytesPerDay(samples: readonly WriteSample[]): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.at - first.at < shortestMs) return undefined;
  return Math.round(((last.bytes - first.bytes) * dayMs) / (last.at - first.at));
}
