import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished } from 'vitest';
import { FeedKeeper, type FollowOutcome } from '#gateway/replica/feed-keeper.ts';
import { readPointer } from '#gateway/replica/replica-folder.ts';
import { ReplicaKeeper } from '#gateway/replica/replica-keeper.ts';
import { createRowCodes } from '#gateway/replica/row-mac.ts';
import { StagedSnapshot } from '#gateway/replica/staged-snapshot.ts';
import type { FeedPut } from '#shared/contract/sync/feed.ts';
import { identifier } from '#shared/identifier.ts';
import { bucketOfId, bucketOfLookup, rowKinds } from '#shared/replica-digest.ts';
import { rawPublicKey, toBase64url } from '#shared/signed-statement.ts';
import { recordWriter } from '../../crash/record-writer.ts';
import { feedRows } from '../../fakes/feed-story.ts';
import { temporaryFolder } from '../../fakes/replica-folder.ts';
import { sampleCredential, testLookupKey, testRowKey } from '../../fakes/sample-facility.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';
import { digestOfRows, gateway, put, SigningCloud } from '../../fakes/signing-cloud.ts';

const cloud = new SigningCloud();
const codes = createRowCodes(testRowKey);
const mebibyte = 1_024 * 1_024;

interface Life {
  readonly feed: FeedKeeper;
  /** What a former life left. */
  readonly found: FollowOutcome | undefined;
  end(): void;
}

async function live(folder: string): Promise<Life> {
  const place = { folder, rowKey: testRowKey, lookupKey: testLookupKey };
  const keeper = new ReplicaKeeper(place);
  const feed = new FeedKeeper(place, keeper);
  const end = () => {
    feed.close();
    keeper.close();
  };
  onTestFinished(end);
  const head = { epoch: 0, cursor: 0, digest: '' };
  const found = await feed.trust({ gateway, feedKey: toBase64url(rawPublicKey(cloud.feedKey)), head, floor: 0 });
  return { feed, found, end };
}

async function take(feed: FeedKeeper, chunks: readonly string[]): Promise<FollowOutcome | undefined> {
  let taken: FollowOutcome | undefined;
  for (const chunk of chunks) taken = await feed.follow('chunk', chunk);
  return taken;
}

function change(folder: string, sql: string): void {
  const file = new Database(join(folder, 'snapshot.db'));
  expect(file.prepare(sql).run().changes).toBe(1);
  file.close();
}

it('gives back every row once, in the order of the tables, in whatever order they came', () => {
  const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 2 ** 31);
  const random = seededRandom(seed);
  const rows = feedRows(1)
    .map((row) => ({ row, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ row }) => row);
  const staged = StagedSnapshot.begin(temporaryFolder(), codes, { chunk: 'first', lookupKeySealed: null });
  onTestFinished(() => staged.close());
  for (let chunk = 0; chunk * 100 < rows.length; chunk += 1)
    staged.add(rows.slice(chunk * 100, chunk * 100 + 100), { next: chunk + 1, isWhole: false });
  const places = [...staged.rows()].map(({ kind, columns }) => {
    const first = String(columns[0]);
    const bucket = kind === 'credential' ? bucketOfLookup(first) : bucketOfId(first);
    const isSpread = kind === 'holder' || kind === 'credential' || kind === 'grant';
    return rowKinds.indexOf(kind) * 10_000 + (isSpread ? bucket : 0);
  });
  expect({ seed, count: places.length }).toEqual({ seed, count: rows.length });
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

it('goes on in a later life where it stopped, and becomes the replica with the digest that was announced', async () => {
  const folder = temporaryFolder();
  const chunks = await cloud.snapshot(feedRows(1), { cursor: 1_000, size: 100 });
  const first = await live(folder);
  expect(await take(first.feed, chunks.slice(0, 4))).toMatchObject({ kind: 'staged', next: 4, isWhole: false });
  first.end();
  const second = await live(folder);
  expect(second.found).toMatchObject({ kind: 'staged', next: 4, isWhole: false });
  expect(await take(second.feed, chunks.slice(4))).toMatchObject({ kind: 'staged', isWhole: true });
  const built = await second.feed.build(1);
  expect(built).toMatchObject({ kind: 'switched', head: { cursor: 1_000, digest: digestOfRows(feedRows(1)) } });
});

const lastPiece = '(part, chunk) = (SELECT part, chunk FROM piece ORDER BY part DESC, chunk DESC LIMIT 1)';

it.each([
  ['changed', `UPDATE piece SET rows = replace(rows, ',1]', ',2]') WHERE ${lastPiece}`],
  ['put in the place of another', `UPDATE piece SET chunk = chunk + 50 WHERE ${lastPiece}`],
  ['taken out', `DELETE FROM piece WHERE ${lastPiece}`],
])('never becomes the replica where a piece was %s, and begins anew', async (_what, sql) => {
  const folder = temporaryFolder();
  const chunks = await cloud.snapshot(feedRows(1), { cursor: 1_000, size: 500 });
  const first = await live(folder);
  await take(first.feed, chunks);
  first.end();
  change(folder, sql);
  const { feed } = await live(folder);
  expect(await feed.build(1)).toEqual({ kind: 'refused', reason: 'digest-differs' });
  expect(readPointer(folder).kind).toBe('none');
  await take(feed, chunks);
  expect(await feed.build(2)).toMatchObject({ kind: 'switched' });
});

it.each<readonly [string, FeedPut]>([
  ['a row twice', put('holder', { id: identifier<'holder'>('h5'), name: 'Once more', version: 2 })],
  [
    'two credentials with one lookup value',
    put('credential', { ...sampleCredential(5), id: identifier<'credential'>('other') }),
  ],
  ['one credential under two lookup values', put('credential', { ...sampleCredential(5), lookup: 'ab'.repeat(32) })],
])('is refused for good where it holds %s', async (_what, twin) => {
  const folder = temporaryFolder();
  const chunks = await cloud.snapshot([...feedRows(1), twin], { cursor: 1_000, size: 500 });
  const { feed, end } = await live(folder);
  expect(await take(feed, chunks)).toMatchObject({ isWhole: true });
  expect(await feed.build(1)).toEqual({ kind: 'refused', reason: 'inconsistent' });
  end();
  expect((await live(folder)).found).toBeUndefined();
  expect(readPointer(folder).kind).toBe('none');
});

it('leaves the disk no more than a few MiB behind, however large it is', async () => {
  const script = new URL('../../crash/write-snapshot.ts', import.meta.url);
  const { events, output } = await recordWriter({ workFolder: temporaryFolder(), script, arguments: ['12000'] });
  expect(JSON.parse(output)).toMatchObject({ kind: 'switched' });
  const [behind, most, size] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  for (const { kind, path, offset, bytes } of events) {
    const now = kind === 'write' ? (behind.get(path) ?? 0) + bytes.length : 0;
    behind.set(path, now);
    most.set(path, Math.max(most.get(path) ?? 0, now));
    if (kind === 'write') size.set(path, Math.max(size.get(path) ?? 0, offset + bytes.length));
  }
  const bounds = { 'snapshot.db-wal': 5, 'snapshot.db': 5, 'replica-1.db': 2 };
  for (const [path, bound] of Object.entries(bounds)) expect(most.get(path), path).toBeLessThan(bound * mebibyte);
  expect(size.get('replica-1.db')).toBeGreaterThan(3 * mebibyte);
}, 120_000);
