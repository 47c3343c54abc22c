/** The journal as the gateway uses it: over its thread, on real files. */
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Entry } from '#gateway/journal/entry.ts';
import { appendInterrupted, type OpenedJournal } from '#gateway/journal/open-journal.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { wallMs } from '#shared/instant.ts';
import { seqOf } from '#shared/journal-chain.ts';
import { createFolder, draft, type Folder, grantOf, masterKey, noon, openIn } from './journal-fixture.ts';

let folder: Folder;
let opened: OpenedJournal;
const stamp = { at: wallMs(noon), clockState: 'trusted' } as const;

beforeEach(async () => {
  folder = createFolder();
  opened = await openIn(folder.path, { noteMs: 20 });
});
afterEach(async () => {
  if (opened.journal.state().kind !== 'closed') await opened.journal.close();
  folder.remove();
});

async function reopen(): Promise<void> {
  await opened.journal.close();
  opened = await openIn(folder.path);
}
const kinds = (entries: readonly Entry[]): readonly string[] => entries.map(({ kind }) => kind);

it('gives entries their place in the order in which they were handed over', async () => {
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, n) => opened.journal.append([draft('door.opened', `r-${n}`)])),
  );
  expect(results).toEqual(results.map((_, n) => ({ kind: 'durable', firstSeq: n + 1, lastSeq: n + 1 })));
  const read = await opened.journal.read({ afterSeq: 0, limit: 1_000 });
  expect(read.map(({ requestId }) => requestId)).toEqual(results.map((_, n) => `r-${n}`));
});

it('keeps a note before what was appended after it', async () => {
  opened.journal.note([draft('door.opened')]);
  await opened.journal.append([draft('door.closed')]);
  expect(kinds(await opened.journal.read({ newest: 10 }))).toEqual(['door.opened', 'door.closed']);
});

it('writes a note by itself after a while, and tells followers once it is durable', async () => {
  const heard: Entry[] = [];
  const stop = opened.journal.follow((entries) => heard.push(...entries));
  opened.journal.note([draft('door.opened')], [{ kind: 'mode', key: 'front', value: 'free' }]);
  await vi.waitFor(() => expect(kinds(heard)).toEqual(['door.opened']));
  expect(await opened.journal.loadState()).toEqual([{ kind: 'mode', key: 'front', value: 'free' }]);
  stop();
  await opened.journal.append([draft('door.closed')]);
  expect(heard).toHaveLength(1);
});

it('keeps state with the entries it belongs to, replaces it, and removes it', async () => {
  await opened.journal.append(
    [draft('access.granted')],
    [
      { kind: 'uses', key: 'c-1', value: 1 },
      { kind: 'area', key: 'h-1', value: { area: 'lab' } },
    ],
  );
  await opened.journal.append([draft('access.granted')], [{ kind: 'uses', key: 'c-1', value: 2 }]);
  await reopen();
  expect(await opened.journal.loadState()).toEqual([
    { kind: 'area', key: 'h-1', value: { area: 'lab' } },
    { kind: 'uses', key: 'c-1', value: 2 },
  ]);
  await opened.journal.append([], [{ kind: 'uses', key: 'c-1', value: null }]);
  await reopen();
  expect(await opened.journal.loadState()).toEqual([{ kind: 'area', key: 'h-1', value: { area: 'lab' } }]);
});

it('reads in pieces what is longer than one', async () => {
  await opened.journal.append(Array.from({ length: 450 }, (_, n) => draft('door.opened', null, { n })));
  const after = await opened.journal.read({ afterSeq: 120, limit: 300 });
  expect(after.map(({ seq }) => seq)).toEqual(Array.from({ length: 300 }, (_, n) => n + 121));
  const newest = await opened.journal.read({ newest: 250 });
  expect(newest.map(({ seq }) => seq)).toEqual(Array.from({ length: 250 }, (_, n) => n + 201));
});

it('refuses a draft that cannot be written where it was made', () => {
  expect(() => opened.journal.append([draft('door.opened', null, { half: 0.5 })])).toThrow('canonical numbers');
  expect(() => opened.journal.append([draft('door.opened', null, { long: 'x'.repeat(20_000) })])).toThrow('at most');
});

it('is unavailable when more waits than it will hold', async () => {
  const many = Array.from({ length: 8_000 }, () => draft('door.opened'));
  const first = opened.journal.append(many);
  const second = await opened.journal.append(many);
  expect(second).toMatchObject({ kind: 'unavailable', state: { kind: 'failed' } });
  expect(await first).toMatchObject({ kind: 'durable', lastSeq: 8_000 });
});

it('takes nothing after it was closed', async () => {
  await opened.journal.close();
  expect(await opened.journal.append([draft('door.opened')])).toMatchObject({
    kind: 'unavailable',
    state: { kind: 'closed' },
  });
});

it('settles everything that was handed over before it closes', async () => {
  const appended = opened.journal.append([draft('access.requested')]);
  opened.journal.note([draft('door.opened')]);
  await reopen();
  expect(await appended).toMatchObject({ kind: 'durable' });
  expect(kinds(await opened.journal.read({ newest: 5 }))).toEqual(['access.requested', 'door.opened']);
});

it('signs every 64 entries, inside a commit too, and at the close what is left', async () => {
  const seqs = async () => (await opened.archive.heads({ afterPlace: 0, limit: 20 })).map(({ place }) => seqOf(place));
  for (let n = 0; n < 2; n += 1) await opened.journal.append(Array.from({ length: 500 }, () => draft('door.opened')));
  const full = Array.from({ length: 15 }, (_, index) => 64 * (index + 1));
  expect(await seqs()).toEqual(full);
  await reopen();
  expect(await seqs()).toEqual([...full, 1_000]);
  expect(await opened.archive.signHead()).toBeUndefined();
});

it('ends a grant that nobody saw the end of, once', async () => {
  await opened.journal.append(grantOf('r-seen'));
  await opened.journal.append([draft('lock.released', 'r-seen')]);
  await opened.journal.append(grantOf('r-unseen'));
  await opened.journal.append([draft('alarm.raised', 'r-unseen')]);
  await reopen();
  expect(await appendInterrupted(opened, stamp)).toEqual([
    { requestId: 'r-unseen', door: 'front', begunBy: 'access.granted' },
  ]);
  const [last] = await opened.journal.read({ newest: 1 });
  expect(last).toMatchObject({ kind: 'release.interrupted', requestId: 'r-unseen', door: 'front' });
  expect(await appendInterrupted(opened, stamp)).toEqual([]);
});

it('begins a new epoch on the old chain when the cloud knows more than is here', async () => {
  await opened.journal.append(grantOf('r-1'));
  expect(await opened.archive.beginEpoch({ epoch: 1, seq: 900 }, stamp)).toBe(2);
  await opened.journal.append([draft('door.opened')]);
  const entries = await opened.journal.read({ newest: 10 });
  expect(entries.map(({ epoch, seq, kind }) => `${epoch}.${seq} ${kind}`)).toEqual([
    '1.1 access.requested',
    '1.2 access.granted',
    '2.1 journal.lost',
    '2.2 door.opened',
  ]);
  expect(entries[2]?.body).toEqual({ reason: 'tail-lost', epoch: 1, heldSeq: 2, knownEpoch: 1, knownSeq: 900 });
  expect(await opened.journal.read({ afterSeq: 0, limit: 10 })).toHaveLength(2);
  await reopen();
  const verdict = verifyJournal(join(folder.path, 'journal.db'), opened.archive.report.firstKey, { masterKey });
  expect(verdict).toMatchObject({ kind: 'whole', entries: 4, last: { epoch: 2, seq: 2 } });
});

it('sets a damaged journal aside, says so in a later epoch, and goes on', async () => {
  await opened.journal.append(grantOf('r-1'));
  await opened.journal.close();
  writeFileSync(join(folder.path, 'journal.db'), Buffer.alloc(8_192, 0x5a));
  opened = await openIn(folder.path);
  const { journal, epoch } = opened.archive.report;
  expect(journal).toMatchObject({ kind: 'lost', reason: 'damaged' });
  expect(epoch).toBe(2);
  const [first] = await opened.journal.read({ newest: 1 });
  expect(first).toMatchObject({ kind: 'journal.lost', epoch: 2, seq: 1, clockState: 'untrusted' });
  expect(existsSync(join(folder.path, String(first?.body['aside'])))).toBe(true);
  await reopen();
  expect(opened.archive.report.journal).toEqual({ kind: 'opened' });
});

it('notices that a journal is gone, and never uses its epoch again', async () => {
  await opened.journal.append(grantOf('r-1'));
  await opened.journal.close();
  for (const name of readdirSync(folder.path).filter((name) => name.startsWith('journal.db')))
    rmSync(join(folder.path, name));
  opened = await openIn(folder.path);
  expect(opened.archive.report).toMatchObject({ epoch: 2, journal: { kind: 'lost', reason: 'missing' } });
});

it('says in the journal that the site is gone', async () => {
  await opened.journal.append(grantOf('r-1'));
  await opened.journal.close();
  rmSync(join(folder.path, 'site.db'));
  opened = await openIn(folder.path);
  expect(opened.archive.report.site).toMatchObject({ kind: 'lost', reason: 'missing' });
  const [last] = await opened.journal.read({ newest: 1 });
  expect(last).toMatchObject({ kind: 'storage.changed', body: { file: 'site.db', reason: 'missing' } });
});

it('leaves files under another master key alone', async () => {
  await opened.journal.close();
  const before = readdirSync(folder.path);
  await expect(openIn(folder.path, { masterKey: new Uint8Array(32) })).rejects.toMatchObject({
    code: 'STORE_WRONG_KEY',
  });
  expect(readdirSync(folder.path)).toEqual(before);
  opened = await openIn(folder.path);
  expect(opened.archive.report.journal.kind).toBe('opened');
});
