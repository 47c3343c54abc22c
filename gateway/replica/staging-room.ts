/** Whether the disk has room for a snapshot beside the journal, which must never lose its own. */
import { statfsSync } from 'node:fs';
import { StoreFault } from '../store/store-fault.ts';

/** Left free, bytes: what a day of history takes, many times over. */
const keptFreeBytes = 64 * 1024 * 1024;

/** @throws StoreFault STORE_FULL */
export function requireRoom(folder: string): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < keptFreeBytes) throw new StoreFault('STORE_FULL', folder, 'there is no room for a snapshot');
}
