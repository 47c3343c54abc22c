/**
 * Sets a damaged file aside, whole, under a name that says when: it is evidence, and perhaps most of a history.
 *
 * Guarantees: nothing is deleted; the move is on the disk before this returns; a fresh file may then be made under
 * the old name without a stale -wal beside it. Whoever calls must say it: to the journal, to the person on duty.
 */
import { existsSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { withStoreFaults } from './store-fault.ts';
import { syncFolder } from './sync-folder.ts';

/** What stands between a file's own name and when it was set aside. */
const asideMark = '.damaged-';

/**
 * Every connection to the file must be closed.
 * @param at wall time, ms, for the name.
 * @returns the new path of the database file; its -wal and -shm stand beside it.
 */
export function quarantine(path: string, at: number): string {
  return withStoreFaults(path, () => {
    const stamp = new Date(at).toISOString().replaceAll(':', '').replace('.', '-');
    const aside = freeName(join(dirname(path), `${basename(path)}${asideMark}${stamp}`));
    // The database first: were the power to fail in between, a log without its database is refused, and set aside next time.
    for (const suffix of ['', '-wal', '-shm']) {
      if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix);
    }
    syncFolder(dirname(path));
    return aside;
  });
}

function freeName(wanted: string): string {
  let name = wanted;
  for (let twin = 2; existsSync(name) || existsSync(`${name}-wal`); twin += 1) name = `${wanted}-${twin}`;
  return name;
}

/** The names of the databases in `folder` that were set aside, oldest first; none where the folder cannot be read. */
export function namesSetAside(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.includes(asideMark) && !/-(wal|shm)$/.test(name))
      .toSorted();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    return [];
  }
}
