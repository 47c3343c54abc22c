/** Makes a name that was created, moved or removed in a folder survive a power cut. */
import { closeSync, fsyncSync, openSync } from 'node:fs';

export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
