/** The key that a panel gave a simulated peripheral: kept over restarts, as the real one keeps it. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeviceId } from '#shared/identifier.ts';

const fileOf = (stateDir: string, id: DeviceId) => join(stateDir, `installed-${id}.key`);

/** @returns `undefined` if none was ever set. */
export function loadInstalledKey(stateDir: string, id: DeviceId): Uint8Array | undefined {
  try {
    return Uint8Array.from(Buffer.from(readFileSync(fileOf(stateDir, id), 'utf8').trim(), 'hex'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function saveInstalledKey(stateDir: string, id: DeviceId, key: Uint8Array): void {
  const file = fileOf(stateDir, id);
  writeFileSync(`${file}.new`, `${Buffer.from(key).toString('hex')}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
