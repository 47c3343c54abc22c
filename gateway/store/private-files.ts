/**
 * Takes from others what they may do with the gateway's own files: those of before, or of a backup put back.
 *
 * Not promised: where the disk does not let us, the folder's own mode must do. A key's file is never put right in passing:
 * who could read it may have.
 */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const isOurs = (name: string): boolean => name.includes('.db') || name === 'gateway.lock' || name === 'replica.json';

export function keepFilesPrivate(folder: string): void {
  for (const name of readdirSync(folder).filter(isOurs)) {
    try {
      const path = join(folder, name);
      const { mode } = lstatSync(path);
      if ((mode & 0o077) !== 0) chmodSync(path, mode & 0o700);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
    }
  }
}
