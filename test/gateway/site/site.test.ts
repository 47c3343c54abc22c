/** Keys and devices of the site, through the thread that writes them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { OpenedJournal } from '#gateway/journal/open-journal.ts';
import { judgeKeyPrint, keyPrint, sealBytes, unsealBytes } from '#gateway/site/sealed-keys.ts';
import type { DeviceRecord } from '#gateway/site/site-rows.ts';
import { openSite, type Site } from '#gateway/site/site-store.ts';
import { identifier } from '#shared/identifier.ts';
import { createFolder, type Folder, masterKey, noon, openIn } from '../journal/journal-fixture.ts';

let folder: Folder;
let opened: OpenedJournal;
let site: Site;

async function open(): Promise<void> {
  opened = await openIn(folder.path);
  site = await openSite({ store: opened.siteStore, masterKey });
}
async function reopen(between: (path: string) => void = () => undefined): Promise<void> {
  await opened.journal.close();
  between(join(folder.path, 'site.db'));
  await open();
}
beforeEach(async () => {
  folder = createFolder();
  await open();
});
afterEach(async () => {
  await opened.journal.close();
  folder.remove();
});

const reader: DeviceRecord = {
  id: identifier<'device'>('front-reader'),
  identity: { vendor: '5C2690', model: '7.1', serial: '001337', firmware: '2.0.4' },
  enrolledAt: noon,
  refusesDefaultKey: false,
};

it('keeps a key over a restart, and in the file only sealed', async () => {
  const key = Buffer.from('sixteen byte key');
  await site.sealKey('scbk/front-reader', key);
  await reopen();
  expect(site.unsealKey('scbk/front-reader')).toEqual(new Uint8Array(key));
  expect(site.unsealKey('scbk/back-reader')).toBeUndefined();
  await opened.archive.checkpoint();
  expect(readFileSync(join(folder.path, 'site.db')).includes(key)).toBe(false);
});

it('replaces a key, and drops it', async () => {
  await site.sealKey('row-key', new Uint8Array(32).fill(1));
  await site.sealKey('row-key', new Uint8Array(32).fill(2));
  expect(site.unsealKey('row-key')?.[0]).toBe(2);
  await site.dropKey('row-key');
  await reopen();
  expect(site.keyNames()).toEqual([]);
});

it('remembers what a device was, and for ever that it refuses the default key', async () => {
  await site.pinDevice(reader);
  await site.pinDevice({ ...reader, refusesDefaultKey: true });
  await reopen();
  await site.pinDevice({ ...reader, identity: { ...reader.identity, firmware: '2.0.5' } });
  await reopen();
  expect(site.device(reader.id)).toEqual({
    ...reader,
    identity: { ...reader.identity, firmware: '2.0.5' },
    refusesDefaultKey: true,
  });
  await site.forgetDevice(reader.id);
  await reopen();
  expect(site.devices()).toEqual([]);
});

it.each([
  ['a device changed', "UPDATE device SET serial = '666'"],
  ['a device removed', 'DELETE FROM device'],
  ['a key removed', 'DELETE FROM sealed_key'],
  [
    'a key put in the place of another',
    "UPDATE sealed_key SET sealed = (SELECT sealed FROM sealed_key WHERE name = 'a') WHERE name = 'b'",
  ],
  ['the seal removed', 'DELETE FROM site_seal'],
])('sets the file aside and says so when it finds %s', async (_, forgery) => {
  await site.pinDevice(reader);
  await site.sealKey('a', new Uint8Array(16).fill(1));
  await site.sealKey('b', new Uint8Array(16).fill(2));
  await reopen((path) => {
    const db = new Database(path);
    db.exec(forgery);
    db.close();
  });
  expect(opened.archive.report.site).toMatchObject({ kind: 'lost', reason: 'damaged' });
  expect([site.keyNames(), site.devices()]).toEqual([[], []]);
});

it('opens nothing that was changed, renamed or sealed under another key', () => {
  const sealed = sealBytes(masterKey, 'scbk/a', new Uint8Array(16).fill(5));
  expect(unsealBytes(masterKey, 'scbk/a', sealed)).toEqual(new Uint8Array(16).fill(5));
  expect(unsealBytes(masterKey, 'scbk/b', sealed)).toBeUndefined();
  expect(unsealBytes(new Uint8Array(32), 'scbk/a', sealed)).toBeUndefined();
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = sealed.with(at, (sealed[at] ?? 0) ^ 1);
    expect(unsealBytes(masterKey, 'scbk/a', changed), `byte ${at}`).toBeUndefined();
    expect(unsealBytes(masterKey, 'scbk/a', sealed.subarray(0, at)), `cut at ${at}`).toBeUndefined();
  }
});

it('tells a wrong master key from a torn file', () => {
  const print = keyPrint(masterKey);
  expect(judgeKeyPrint(masterKey, print)).toBe('right-key');
  expect(judgeKeyPrint(new Uint8Array(32), print)).toBe('wrong-key');
  for (let at = 0; at < print.length; at += 1) {
    expect(judgeKeyPrint(masterKey, print.with(at, (print[at] ?? 0) ^ 0x10))).toBe('torn');
  }
  expect(judgeKeyPrint(masterKey, new Uint8Array(0))).toBe('torn');
});
