/** A process that takes a snapshot, piece by piece, and makes it the replica. Arguments: folder, number of credentials. */
import { FeedKeeper } from '#gateway/replica/feed-keeper.ts';
import { ReplicaKeeper } from '#gateway/replica/replica-keeper.ts';
import { rawPublicKey, toBase64url } from '#shared/signed-statement.ts';
import { snapshotRows } from '../benchmark/b3-rows.ts';
import { testLookupKey, testRowKey } from '../fakes/sample-facility.ts';
import { gateway, SigningCloud } from '../fakes/signing-cloud.ts';

const [folder = '', credentials] = process.argv.slice(2);
const place = { folder, rowKey: testRowKey, lookupKey: testLookupKey };
const keeper = new ReplicaKeeper(place);
const feed = new FeedKeeper(place, keeper);
const cloud = new SigningCloud();
const head = { epoch: 0, cursor: 0, digest: '' };
await feed.trust({ gateway, feedKey: toBase64url(rawPublicKey(cloud.feedKey)), head, floor: 0 });
for (const chunk of await cloud.snapshot(snapshotRows(Number(credentials), 8), { cursor: 10 }))
  await feed.follow('chunk', chunk);
process.stdout.write(`${JSON.stringify(await feed.build(1))}\n`);
feed.close();
keeper.close();
