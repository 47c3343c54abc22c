/** Disks that fill, fail, or may not be written: the journal says which, refuses, and comes back by itself. */
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createClaims, giveUp, offer, take } from '#gateway/journal/claims.ts';
import type { JournalCondition } from '#gateway/journal/condition.ts';
import { JournalService } from '#gateway/journal/journal-service.ts';
import { prepareDraft } from '#gateway/journal/prepared-entry.ts';
import { readNewest } from '#gateway/journal/read-entries.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { storeFault } from '#gateway/store/store-fault.ts';
import { bootId, createFolder, draft, type Folder, grantOf, masterKey, noon, openIn } from './journal-fixture.ts';
import { mountSmallDisk } from './small-disk.ts';

let folder: Folder;
beforeEach(() => {
  folder = createFolder();
});
afterEach(() => folder.remove());

const limits = { masterKey, bootId, budgetBytes: 2 ** 30, atBudget: 'overwrite' } as const;

function openService(directory: string, reserveBytes: number) {
  const conditions: JournalCondition[] = [];
  const listener = {
    onCommitted: () => undefined,
    onCondition: (condition: JournalCondition) => conditions.push(condition),
    onReopened: () => undefined,
  };
  const service = new JournalService({ ...limits, directory, reserveBytes }, listener, noon);
  let op = 0;
  const append = () => service.commit([{ op: op++, drafts: grantOf(`r-${op}`).map(prepareDraft), state: [] }]);
  const kinds = (count: number) =>
    readNewest(service.stores.journal, Number.MAX_SAFE_INTEGER, count).map(({ kind }) => kind);
  return { service, conditions, append, kinds };
}

/** A database that may not grow is full in SQLite's own words; used where no small disk can be mounted, and beside it. */
function limitPages(service: JournalService, more: number): void {
  const { store } = service.stores.journal;
  store.pragma(`max_page_count = ${Number(store.pragma('page_count', { simple: true })) + more}`);
}

it('goes on with the reserve when the disk is full, and says so in the same breath', async () => {
  const disk = mountSmallDisk();
  const directory = disk?.path ?? folder.path;
  const { service, conditions, append, kinds } = openService(directory, 131_072);
  try {
    expect(append()).toBeDefined();
    if (disk) disk.fill(8_192);
    else limitPages(service, 4);
    for (let n = 0; n < 200 && service.condition.storage === 'ok'; n += 1) append();
    if (disk) {
      expect(service.condition).toEqual({ state: { kind: 'available' }, storage: 'reserve-spent' });
      expect(kinds(3)).toContain('storage.changed');
      for (let n = 0; n < 2_000 && service.condition.storage !== 'full'; n += 1) append();
    }
    expect(service.condition.storage).toBe('full');
    expect(append()).toBeUndefined();
    service.probe(noon);
    expect(service.condition.storage).toBe('full');
    if (disk) disk.free();
    else limitPages(service, 10_000);
    service.probe(noon);
    expect(service.condition).toEqual({ state: { kind: 'available' }, storage: 'ok' });
    expect(kinds(1)).toEqual(['storage.changed']);
    expect(append()).toBeDefined();
    expect(conditions.map(({ storage }) => storage).at(-1)).toBe('ok');
    const verdict = verifyJournal(join(directory, 'journal.db'), service.stores.report.firstKey, { masterKey });
    expect(verdict.kind).toBe('whole');
  } finally {
    service.close();
    disk?.remove();
  }
});

it('is full without a reserve, keeps what it has, and takes entries again when there is room', () => {
  const { service, append } = openService(folder.path, 0);
  expect(append()).toBeDefined();
  limitPages(service, 2);
  let durable = 2;
  for (let done = append(); done; done = append()) durable += 2;
  expect(service.condition).toMatchObject({ state: { kind: 'full' }, storage: 'full' });
  expect(service.stores.journal.position().tip % 2 ** 40).toBe(durable);
  limitPages(service, 1_000);
  service.probe(noon);
  expect(append()).toBeDefined();
  service.close();
});

it('recovers over the thread without a restart, and writes the notes that had to wait', async () => {
  const disk = mountSmallDisk();
  if (!disk) return expect(process.getuid?.()).not.toBe(0);
  const opened = await openIn(disk.path, { noteMs: 1, reserveBytes: 0 });
  disk.fill(0);
  let result = await opened.journal.append(grantOf('r-0'));
  for (let n = 1; n < 2_000 && result.kind === 'durable'; n += 1)
    result = await opened.journal.append(grantOf(`r-${n}`));
  expect(result).toMatchObject({ kind: 'unavailable', state: { kind: 'full' } });
  await vi.waitFor(() => expect(opened.journal.state().kind).toBe('full'));
  opened.journal.note([draft('door.opened', 'r-waiting')]);
  disk.free();
  await vi.waitFor(() => expect(opened.journal.state().kind).toBe('available'), 10_000);
  await vi.waitFor(async () => {
    const kinds = (await opened.journal.read({ newest: 5 })).map(({ kind }) => kind);
    expect(kinds).toEqual(expect.arrayContaining(['storage.changed', 'door.opened']));
  });
  await opened.journal.close();
  disk.remove();
});

it('closes a file that proves damaged in use, sets it aside, and goes on with a new epoch', () => {
  const { service, append, kinds } = openService(folder.path, 0);
  for (let n = 0; n < 400; n += 1) append();
  service.stores.journal.store.pragma('wal_checkpoint(TRUNCATE)');
  service.stores.journal.store.pragma('cache_size = 0');
  const file = openSync(join(folder.path, 'journal.db'), 'r+');
  for (let page = 4; page < 300; page += 1) writeSync(file, Buffer.alloc(1_024, 0x77), 0, 1_024, page * 1_024);
  closeSync(file);
  let done = append();
  for (let n = 0; n < 50 && done; n += 1) done = append();
  expect(done).toBeUndefined();
  expect(service.condition.state.kind).toBe('failed');
  service.probe(noon);
  expect(service.condition.state.kind).toBe('available');
  expect(service.stores.report).toMatchObject({ epoch: 2, journal: { kind: 'lost', reason: 'damaged' } });
  expect(append()).toBeDefined();
  expect(kinds(10)).toContain('journal.lost');
  service.close();
});

it('names a folder that may not be written, and one that is missing', () => {
  const closed = join(folder.path, 'closed');
  mkdirSync(closed, { mode: 0o500 });
  // Nothing is forbidden to root; there a disk mounted read-only is what cannot be written.
  const disk = mountSmallDisk();
  disk?.makeReadOnly();
  const [path, code] = disk ? [disk.path, 'STORE_READ_ONLY'] : [closed, 'STORE_FORBIDDEN'];
  expect(() => openService(path, 0)).toThrow(expect.objectContaining({ code }));
  disk?.remove();
  expect(() => openService(join(folder.path, 'absent'), 0)).toThrow(expect.objectContaining({ code: 'STORE_MISSING' }));
});

it('refuses when the disk does not answer in time, and says later that the grant was not carried out', async () => {
  const opened = await openIn(folder.path, { deadlineMs: 40, noteMs: 1 });
  const holder = new Database(join(folder.path, 'journal.db'));
  holder.exec('BEGIN IMMEDIATE');
  const late = opened.journal.append(grantOf('r-late'));
  expect(await late).toMatchObject({ kind: 'unavailable', state: { kind: 'failed' } });
  expect(opened.journal.state().kind).toBe('failed');
  expect(await opened.journal.append(grantOf('r-never'))).toMatchObject({ kind: 'unavailable' });
  holder.exec('COMMIT');
  holder.close();
  await vi.waitFor(() => expect(opened.journal.state().kind).toBe('available'), 10_000);
  await vi.waitFor(async () => {
    const entries = await opened.journal.read({ newest: 9 });
    const told = entries.map(({ kind, requestId }) => `${kind} ${requestId}`);
    const isWritten = told.includes('access.granted r-late');
    expect(told.includes('lock.not-executed r-late')).toBe(isWritten);
    expect(told.join()).not.toContain('r-never');
  });
  expect(await opened.journal.append(grantOf('r-again'))).toMatchObject({ kind: 'durable' });
  await opened.journal.close();
});

it.each([
  ['EROFS', 'STORE_READ_ONLY'],
  ['EACCES', 'STORE_FORBIDDEN'],
  ['ENOSPC', 'STORE_FULL'],
  ['SQLITE_FULL', 'STORE_FULL'],
  ['SQLITE_READONLY_DBMOVED', 'STORE_READ_ONLY'],
  ['SQLITE_IOERR_WRITE', 'STORE_FAILED'],
  ['SQLITE_CORRUPT_INDEX', 'STORE_DAMAGED'],
  ['SQLITE_NOTADB', 'STORE_DAMAGED'],
  ['SQLITE_BUSY_SNAPSHOT', 'STORE_BUSY'],
])('knows %s as %s', (native, code) => {
  expect(storeFault(Object.assign(new Error('x'), { code: native }), '/data/journal.db')).toMatchObject({ code });
});

it('takes a wrong statement for a bug and not for a fault of the disk', () => {
  expect(storeFault(Object.assign(new Error('x'), { code: 'SQLITE_ERROR' }), 'p')).toBeUndefined();
  expect(storeFault(new TypeError('x'), 'p')).toBeUndefined();
});

it('never writes what was given up, and never gives up what is being written', () => {
  const claims = createClaims();
  offer(claims, 7);
  expect(giveUp(claims, 7)).toBe(true);
  expect(take(claims, 7)).toBe(false);
  offer(claims, 8);
  expect(take(claims, 8)).toBe(true);
  expect(giveUp(claims, 8)).toBe(false);
});
