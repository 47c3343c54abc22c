import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { StorageWatch, type StorageWatchPorts } from '#gateway/operate/storage-watch.ts';
import { openDatabase } from '#gateway/store/open-database.ts';
import { monotonicNow } from '#gateway/system/monotonic.ts';
import { ownThreads } from '#gateway/threads.ts';
import { waitUntil } from '../../fakes/wait-until.ts';

const rows = 2_000;

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'kannuki-storage-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

function writeDatabase(path: string): void {
  const store = openDatabase({ path, mode: 'create' });
  store.exec('CREATE TABLE thing (id INTEGER PRIMARY KEY, name TEXT NOT NULL)');
  const put = store.prepare('INSERT INTO thing (name) VALUES (?)');
  store.transaction(() => {
    for (let count = 0; count < rows; count += 1) put.run(`thing ${count}`);
  })();
  store.close();
}

/** Writes over the middle of the file, as a worn card does. */
function damage(path: string): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(4_096, 0xff), 0, 4_096, Math.floor(statSync(path).size / 8_192) * 4_096);
  closeSync(file);
}

function watch(dataDir: string, ports: Partial<StorageWatchPorts> = {}): StorageWatch {
  const watched = new StorageWatch({
    dataDir,
    now: monotonicNow,
    writtenBytes: async () => 0,
    checkReplica: async () => {},
    checkThread: ownThreads.check,
    firstCheckMs: 0,
    onHealth: () => {},
    onDamage: () => {},
    failed: (error) => {
      throw error;
    },
    ...ports,
  });
  onTestFinished(() => watched.close());
  return watched;
}

it('reads every database after the replica was checked, and names the damaged one', async () => {
  const dataDir = folder();
  for (const name of ['journal.db', 'site.db']) writeDatabase(join(dataDir, name));
  damage(join(dataDir, 'journal.db'));
  writeFileSync(join(dataDir, 'journal.db.damaged-1'), 'set aside earlier');
  const told: string[] = [];
  const watched = watch(dataDir, {
    checkReplica: async () => void told.push('replica'),
    onDamage: (file) => told.push(file),
  });
  await waitUntil('both files to be read', () => watched.status().files.length === 2);
  const found = watched.status().files.map(({ name, state }) => [name, state]);
  expect(Object.fromEntries(found)).toEqual({ 'journal.db': 'damaged', 'site.db': 'sound' });
  expect(told).toEqual(['replica', 'journal.db']);
});

it('tells how the disk is before anything else', () => {
  const health: string[] = [];
  const { state, freeBytes, totalBytes } = watch(folder(), { onHealth: (said) => health.push(said) }).status();
  expect(health[0]).toBe(state);
  expect(freeBytes).toBeLessThanOrEqual(totalBytes);
});

it('says that a folder is gone, and reports a look that failed', async () => {
  const failures: unknown[] = [];
  const watched = watch('/nowhere/at/all', { failed: (error) => failures.push(error) });
  expect(watched.status().state).toBe('unreachable');
  await waitUntil('the failed look', () => failures.length > 0);
});

it('ends in silence when the process ends while it reads', async () => {
  const dataDir = folder();
  for (let file = 0; file < 6; file += 1) writeDatabase(join(dataDir, `part-${file}.db`));
  const failures: unknown[] = [];
  const watched = watch(dataDir, { failed: (error) => failures.push(error) });
  await waitUntil('the first file', () => watched.status().files.length > 0);
  watched.close();
  const read = watched.status().files.length;
  const next = watch(dataDir);
  await waitUntil('another watch to read all', () => next.status().files.length === 6);
  expect(failures).toEqual([]);
  expect(read).toBeLessThan(6);
  expect(watched.status().files.length).toBe(read);
});

it('looks at the disk each time it is asked, and tells what it found', () => {
  const health: string[] = [];
  const dataDir = folder();
  const watched = watch(dataDir, { onHealth: (said) => health.push(said), failed: () => {} });
  rmSync(dataDir, { recursive: true });
  expect(watched.status().state).toBe('unreachable');
  expect(health.at(-1)).toBe('unreachable');
});

it('calls a file damaged that proved so in use, until the file is gone', () => {
  const dataDir = folder();
  writeDatabase(join(dataDir, 'replica-1.db'));
  const watched = watch(dataDir, { firstCheckMs: 60_000 });
  watched.condemn('replica-1.db', 'malformed');
  expect(watched.status().files).toEqual([{ name: 'replica-1.db', state: 'damaged', detail: 'malformed' }]);
  rmSync(join(dataDir, 'replica-1.db'));
  expect(watched.status().files).toEqual([]);
});
