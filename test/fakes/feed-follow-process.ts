/**
 * A process that follows a feed into a folder until it is killed: a snapshot in small chunks, batch after batch, then the
 * next snapshot. It says each state that it would ack, only after it is there.
 */
import { readFileSync } from 'node:fs';
import { FeedKeeper } from '#gateway/replica/feed-keeper.ts';
import { nextEpoch, readPointer } from '#gateway/replica/replica-folder.ts';
import { ReplicaKeeper } from '#gateway/replica/replica-keeper.ts';
import { ReplicaReader } from '#gateway/replica/replica-reader.ts';
import { wallMs } from '#shared/instant.ts';
import { privateSignKey, rawPublicKey, toBase64url } from '#shared/signed-statement.ts';
import { batchesPerSnapshot, feedCredentials, feedRows, revocation } from './feed-story.ts';
import { testLookupKey, testRowKey } from './sample-facility.ts';
import { gateway, SigningCloud } from './signing-cloud.ts';

const [folder = '', keyFile = ''] = process.argv.slice(2);
const place = { folder, rowKey: testRowKey, lookupKey: testLookupKey };
const cloud = new SigningCloud();
cloud.feedKey = privateSignKey(readFileSync(keyFile));
const feedKey = toBase64url(rawPublicKey(cloud.feedKey));
const keeper = new ReplicaKeeper(place);
const feed = new FeedKeeper(place, keeper);
const say = (head: object) => process.stdout.write(`${JSON.stringify(head)}\n`);

const reader = new ReplicaReader(place);
const state = reader.reopen(undefined, wallMs(0));
let head = state.kind === 'live' ? state.head : { epoch: 0, cursor: 0, digest: '' };
reader.close();
let staged = await feed.trust({ gateway, feedKey, head, floor: head.cursor });
if (state.kind === 'live') say(head);

for (;;) {
  const story = Math.floor(head.cursor / 1_000);
  const isDone = head.epoch === 0 || head.cursor - story * 1_000 >= batchesPerSnapshot;
  if (isDone || staged?.kind === 'staged') await takeSnapshot(staged?.kind === 'staged' ? undefined : story + 1);
  const from = head.cursor;
  const taken = await feed.follow('batch', await cloud.batch(head.epoch, from, [revocation(from + 1)]));
  if (taken.kind !== 'applied') throw new Error(JSON.stringify(taken));
  head = taken.head;
  say(head);
}

/** @param story to begin; `undefined` goes on with what a former process has staged. */
async function takeSnapshot(story: number | undefined): Promise<void> {
  const of = story ?? Number(staged?.kind === 'staged' ? staged.snapshot.split('-')[1] : 0) / 1_000;
  const chunks = await cloud.snapshot(feedRows(of), { cursor: of * 1_000, size: Math.ceil(feedCredentials / 2) });
  for (let next = staged?.kind === 'staged' ? staged.next : 0; next < chunks.length; next += 1)
    staged = await feed.follow('chunk', chunks[next] ?? '');
  if (staged?.kind !== 'staged' || !staged.isWhole) throw new Error(JSON.stringify(staged));
  const pointer = readPointer(folder);
  const built = await feed.build(nextEpoch(folder, pointer.kind === 'live' ? pointer.epoch : 0));
  if (built.kind !== 'switched') throw new Error(JSON.stringify(built));
  head = built.head;
  staged = undefined;
  say(head);
  keeper.forgetOthers();
}
