/** Letting history go: only behind signed heads, only what was answered for or is said to be overwritten. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { OpenedJournal, OpenJournalOptions } from '#gateway/journal/open-journal.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { hexOf, seqOf } from '#shared/journal-chain.ts';
import { createFolder, draft, type Folder, masterKey, noon, openIn } from './journal-fixture.ts';

let folder: Folder;
let opened: OpenedJournal;

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
const verdict = () => verifyJournal(join(folder.path, 'journal.db'), opened.archive.report.firstKey, { masterKey });
const ackOf = async (seq: number) => {
  const [entry] = await opened.journal.read({ afterSeq: seq - 1, limit: 1 });
  return { epoch: 1, seq, hash: entry?.hash ?? '' };
};

it('prunes what is acknowledged and old, up to a head, and still verifies from the first key', async () => {
  await open();
  for (let n = 0; n < 3; n += 1) {
    await append(100);
    await opened.archive.signHead();
  }
  expect(await opened.archive.prune(noon + 1)).toBe(false);
  expect(await opened.archive.acknowledge(await ackOf(250))).toBe(true);
  expect(await opened.archive.prune(noon)).toBe(false);
  expect(await opened.archive.prune(noon + 1)).toBe(true);
  await vi.waitFor(() => expect(verdict()).toMatchObject({ kind: 'whole', first: { seq: 201 }, last: { seq: 301 } }));
  const [gap] = await opened.journal.read({ newest: 1 });
  expect(gap).toMatchObject({
    kind: 'journal.gap',
    body: { from: { epoch: 1, seq: 1 }, to: { epoch: 1, seq: 200 }, reason: 'acknowledged' },
  });
});

it('does not believe an acknowledgement of another history', async () => {
  await open();
  await append(10);
  await opened.archive.signHead();
  expect(await opened.archive.acknowledge({ epoch: 1, seq: 10, hash: '00'.repeat(32) })).toBe(false);
  expect(await opened.archive.acknowledge({ epoch: 1, seq: 11, hash: '00'.repeat(32) })).toBe(false);
  expect(await opened.archive.prune(noon + 1)).toBe(false);
});

it('overwrites the oldest at its budget, with a signed gap', async () => {
  await open({ budgetBytes: 300_000 });
  for (let n = 0; n < 400; n += 1) {
    expect(await append(10)).toMatchObject({ kind: 'durable' });
    if (n % 10 === 0) await opened.archive.signHead();
  }
  const entries = await opened.journal.read({ newest: 1_000 });
  const gaps = entries.filter(({ kind }) => kind === 'journal.gap');
  expect(gaps.length).toBeGreaterThan(0);
  for (const gap of gaps) expect(gap.body).toMatchObject({ reason: 'overwritten' });
  const heads = await opened.archive.heads({ afterPlace: 0, limit: 1_000 });
  const last = gaps.at(-1)?.body as { to: { seq: number }; lastHash: string };
  expect(heads.find(({ place }) => seqOf(place) === last.to.seq)).toSatisfy(
    (head) => hexOf(head.hash) === last.lastHash,
  );
  expect(heads.some(({ place }) => seqOf(place) === gaps.at(-1)?.seq)).toBe(true);
  expect(verdict()).toMatchObject({ kind: 'whole', last: { seq: entries.at(-1)?.seq } });
});

it('refuses at its budget where the facility says so, until the cloud has answered', async () => {
  await open({ budgetBytes: 200_000, atBudget: 'refuse' });
  let result = await append(10);
  for (let n = 0; n < 400 && result.kind === 'durable'; n += 1) result = await append(10);
  expect(result).toMatchObject({ kind: 'unavailable', state: { kind: 'budget' } });
  expect(opened.journal.state().kind).toBe('budget');
  await opened.archive.signHead();
  const head = (await opened.archive.heads({ afterPlace: 0, limit: 1_000 })).at(-1);
  if (!head) throw new Error('there is no head');
  expect(await opened.archive.acknowledge({ epoch: 1, seq: seqOf(head.place), hash: hexOf(head.hash) })).toBe(true);
  expect(await opened.archive.prune(noon + 1)).toBe(true);
  await vi.waitFor(() => expect(opened.journal.state().kind).toBe('available'));
  await vi.waitFor(async () => expect(await append(1)).toMatchObject({ kind: 'durable' }));
});
