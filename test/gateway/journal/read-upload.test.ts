/** What goes up: contiguous, up to a signed head, behind a named gap, and verifiable from the first key alone. */
import { hash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { OpenedJournal, OpenJournalOptions } from '#gateway/journal/open-journal.ts';
import { prepareDraft } from '#gateway/journal/prepared-entry.ts';
import type { UploadPage } from '#gateway/journal/read-upload.ts';
import { journalUpload, personalTextMax, uploadBytesMax } from '#shared/contract/sync/journal.ts';
import { wallMs } from '#shared/instant.ts';
import { entryHash, hexOf, placeOf } from '#shared/journal-chain.ts';
import { isHeadSignedBy } from '#shared/signed-head.ts';
import { fromBase64url } from '#shared/signed-statement.ts';
import {
  appendHere,
  closeHere,
  createFolder,
  draft,
  type Folder,
  noon,
  openHere,
  openIn,
  signHere,
} from './journal-fixture.ts';

let folder: Folder;
let opened: OpenedJournal;
const stamp = { at: wallMs(noon), clockState: 'trusted' } as const;

beforeEach(() => {
  folder = createFolder();
});
afterEach(async () => {
  await opened.journal.close();
  folder.remove();
});

const open = async (options: Partial<OpenJournalOptions> = {}): Promise<void> => {
  opened = await openIn(folder.path, options);
};
const append = (count: number) => opened.journal.append(Array.from({ length: count }, () => draft('door.opened')));

/** As the cloud would: every hash recomputed, every head by the key that the one before it named. */
function verified(page: UploadPage, firstKey: Uint8Array): Uint8Array {
  let prevHash = page.prevHash;
  for (const [index, entry] of page.entries.entries()) {
    expect(entry.seq).toBe(page.firstSeq + index);
    const { seq, personalHash, hash: own, personal: _personal, ...rest } = entry;
    const chained = {
      ...rest,
      place: placeOf(page.epoch, seq),
      personalHash: personalHash === null ? null : Buffer.from(personalHash, 'hex'),
      prevHash: Buffer.from(prevHash, 'hex'),
    };
    expect(hexOf(entryHash(chained))).toBe(own);
    prevHash = own;
  }
  let key = firstKey;
  for (const head of page.heads) {
    const nextKey = fromBase64url(head.nextKey);
    const claim = { place: placeOf(head.epoch, head.seq), at: head.at, hash: Buffer.from(head.hash, 'hex'), nextKey };
    expect(isHeadSignedBy({ ...claim, signature: fromBase64url(head.signature) }, key)).toBe(true);
    key = nextKey;
  }
  expect(page.heads.at(-1)).toMatchObject({ seq: page.entries.at(-1)?.seq, hash: page.entries.at(-1)?.hash });
  const { begins: _begins, gap: _gap, ...body } = page;
  expect(journalUpload.safeParse(body).success).toBe(true);
  return key;
}

/** Everything that is there, page by page, each proved by the head of the one before it and small enough for the cloud. */
async function everyPage(): Promise<readonly UploadPage[]> {
  const { firstKey, tip } = await opened.archive.extent();
  const pages: UploadPage[] = [];
  let key = firstKey;
  let after = { epoch: 1, seq: 0, entries: 500 };
  while (after.seq < tip.seq) {
    const page = await opened.archive.upload(after);
    if (page === undefined) throw new Error(`nothing after ${after.seq}`);
    key = verified(page, key);
    expect(Buffer.byteLength(JSON.stringify(page))).toBeLessThan(uploadBytesMax);
    pages.push(page);
    after = { ...after, seq: page.entries.at(-1)?.seq ?? 0 };
  }
  expect(await opened.archive.upload(after)).toBeUndefined();
  return pages;
}

it('gives everything, page by page, each ending at a head that the one before it leads to', async () => {
  await open();
  for (let n = 0; n < 13; n += 1) await append(100);
  expect((await everyPage()).length).toBeLessThanOrEqual(11);
});

it('sends fewer where fewer are wanted, but never without a head', async () => {
  await open();
  for (let n = 0; n < 6; n += 1) await append(100);
  const page = await opened.archive.upload({ epoch: 1, seq: 0, entries: 300 });
  expect(page?.entries).toHaveLength(256);
  const least = await opened.archive.upload({ epoch: 1, seq: 0, entries: 1 });
  expect([least?.entries.length, least?.heads.length]).toEqual([64, 1]);
});

it('gives long entries in pages that the cloud takes, each under a head', async () => {
  await open();
  const long = { ...draft('door.opened'), body: { text: '扉"'.repeat(2_000) } };
  for (let n = 0; n < 20; n += 1) await opened.journal.append(Array.from({ length: 15 }, () => long));
  await everyPage();
  const least = await opened.archive.upload({ epoch: 1, seq: 0, entries: 1 });
  expect(Buffer.byteLength(JSON.stringify(least))).toBeLessThan(100 * 1024);
});

it('signs the end of the journal when it is asked for, and not a second time', async () => {
  await open();
  await append(3);
  const first = await opened.archive.upload({ epoch: 1, seq: 0, entries: 500 });
  expect(first?.heads).toHaveLength(1);
  expect(await opened.archive.upload({ epoch: 1, seq: 0, entries: 500 })).toEqual(first);
});

it('sends the values of persons beside the chain, with the salt that proves them', async () => {
  await open();
  await opened.journal.append([{ ...draft('access.granted'), personal: { name: 'Aiko' } }]);
  const entry = (await opened.archive.upload({ epoch: 1, seq: 0, entries: 500 }))?.entries[0];
  if (entry?.personal === undefined) throw new Error('no personal values');
  expect(entry.personal.value).toBe('{"name":"Aiko"}');
  const salted = Buffer.concat([fromBase64url(entry.personal.salt), Buffer.from(entry.personal.value)]);
  expect(hash('sha256', salted, 'hex')).toBe(entry.personalHash);
});

it('gives long values of persons in pages that the cloud takes', async () => {
  await open();
  // In canonical text each quotation mark takes two characters.
  const personal = { name: '扉"'.repeat(1_300) };
  for (let n = 0; n < 20; n += 1) {
    await opened.journal.append(Array.from({ length: 20 }, () => ({ ...draft('access.granted'), personal })));
  }
  const pages = await everyPage();
  expect(pages.flatMap(({ entries }) => entries).every(({ personal: value }) => value !== undefined)).toBe(true);
});

it('takes no longer value of a person than an upload may hold; one that is there keeps no history from going up', async () => {
  const tooLong = { name: 'x'.repeat(personalTextMax) };
  expect(() => prepareDraft({ ...draft('access.granted'), personal: tooLong })).toThrow('characters');
  const stores = openHere(folder.path);
  appendHere(stores, [draft('access.requested')]);
  const prepared = { ...prepareDraft(draft('access.granted')), personal: JSON.stringify(tooLong) };
  stores.journal.transact((transaction) => transaction.append(prepared));
  signHere(stores);
  closeHere(stores);
  await open();
  const { firstKey } = await opened.archive.extent();
  const page = await opened.archive.upload({ epoch: 1, seq: 0, entries: 500 });
  if (page === undefined) throw new Error('nothing goes up');
  verified(page, firstKey);
  expect(page.entries[1]).toMatchObject({ kind: 'access.granted', personalHash: expect.any(String) });
  expect(page.entries[1]?.personal).toBeUndefined();
});

it('names the gap where unanswered entries were given up, and goes on behind it', async () => {
  await open({ budgetBytes: 300_000 });
  for (let n = 0; n < 200; n += 1) await append(10);
  const page = await opened.archive.upload({ epoch: 1, seq: 3, entries: 500 });
  expect(page?.gap).toMatchObject({ fromSeq: 4, toSeq: (page?.firstSeq ?? 0) - 1 });
  expect(page?.gap?.lastHash).toBe(page?.prevHash);
});

it('begins a later epoch with the key of its first head and the place before it', async () => {
  await open();
  await append(2);
  await opened.archive.beginEpoch({ epoch: 4, seq: 900 }, stamp);
  const old = await opened.archive.upload({ epoch: 1, seq: 0, entries: 500 });
  expect(old?.entries.at(-1)?.seq).toBe(2);
  const page = await opened.archive.upload({ epoch: 1, seq: 2, entries: 500 });
  expect(page).toMatchObject({ epoch: 5, firstSeq: 1, begins: { before: { epoch: 1, seq: 2 } } });
  expect(page?.begins?.firstKey).toBe(old?.heads.at(-1)?.nextKey);
});
