/** The feed at a door process that runs: drift is repaired, snapshots go on after a restart, what must not be missed is said. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { statementType } from '#shared/contract/sync/statement.ts';
import { plainHashOf } from '#shared/replica-columns.ts';
import { bucketOfLookup, sumHex } from '#shared/replica-digest.ts';
import { ackIn, type DoorKeys, enrol, HandRelay } from '../../fakes/hand-relay.ts';
import { digestOfRows, gateway, put, SigningCloud } from '../../fakes/signing-cloud.ts';
import { atRest, openDoor, type RunningDoor } from '../operate/running-door.ts';
import { cardOf, doorRows } from './door-rows.ts';

let door: RunningDoor;
let cloud: SigningCloud;
let keys: DoorKeys;
let relay: HandRelay;

const needs = async () => await relay.told({ feed: { head: 10, snapshotNeeded: false } });
const standing = async () => await ackIn((await relay.ask('ack'))?.ack ?? '', keys);

beforeEach(async () => {
  door = await openDoor();
  cloud = new SigningCloud();
  keys = await enrol(door.client, cloud);
  relay = await HandRelay.open(`${door.dir}/run`);
});
afterEach(async () => {
  relay.close();
  await door.remove();
});

async function takeSnapshot(people: readonly ('aiko' | 'mei' | 'gone')[]) {
  const rows = doorRows(people, cloud.lookupKey);
  for (const chunk of await cloud.snapshot(rows, { cursor: 10 })) await relay.deliver('chunk', chunk);
  await atRest(door);
  return rows;
}

it('needs a snapshot until it stands on one of the cloud, and says with its signature what it then holds', async () => {
  expect(await needs()).toMatchObject({ snapshot: true, ack: false });
  expect(await relay.ask('ack')).toBeNull();
  const rows = await takeSnapshot(['aiko']);
  expect(await needs()).toMatchObject({ snapshot: false, ack: true });
  expect(await standing()).toMatchObject({ cursor: 10, digest: digestOfRows(rows) });
  await relay.told({ ack: 'applied', epoch: 1, cursor: 10 });
  expect(await needs()).toMatchObject({ ack: false });
});

it('repairs what drifted: its sums go up, the rows of the buckets that differ come down', async () => {
  const rows = await takeSnapshot(['aiko', 'gone']);
  await relay.told({ ack: 'differs', epoch: 1, cursor: 10 });
  for (const kind of ['facility', 'schedule', 'holiday', 'door', 'reader', 'holder']) {
    expect((await relay.ask('repair'))?.kind).toBe(kind);
    await relay.told({ repair: 'same' });
  }
  const asked = await relay.ask('repair');
  const card = cardOf('gone', cloud.lookupKey);
  const bucket = bucketOfLookup(card.lookup);
  expect(asked).toMatchObject({ kind: 'credential', cursor: 10 });
  expect(asked?.sums[bucket]).toBe(sumHex(BigInt(`0x${plainHashOf('credential', card)}`)));
  const repair = { gateway, epoch: 1, cursor: 10, kind: 'credential', buckets: [bucket], issuedAt: 0 };
  const empty = await cloud.sign(statementType.repair, { ...repair, rows: [] });
  const early = await cloud.sign(statementType.repair, { ...repair, cursor: 9, rows: [] });
  expect(await relay.outcome('repair', early)).toBe('refused: older');
  expect(await relay.outcome('repair', empty)).toBe('applied');
  const decided = await door.decided(() => door.swipe('hall', 'gone'));
  expect(decided.body['code']).toBe('CREDENTIAL_UNKNOWN');
  const left = rows.filter((each) => each.kind !== 'credential' || each.row.id !== card.id);
  expect((await standing()).digest).toBe(digestOfRows(left));
});

it('goes on with a snapshot where the process ended, and refuses one whose rows are not what it announced', async () => {
  const rows = doorRows(['aiko', 'mei'], cloud.lookupKey);
  const chunks = await cloud.snapshot(rows, { cursor: 20, size: 4 });
  for (const chunk of chunks.slice(0, 2)) expect(await relay.outcome('chunk', chunk)).toBe('staged');
  expect(await relay.ask('snapshot')).toEqual({ index: 2, snapshot: 'snap-20' });
  expect(await relay.outcome('chunk', chunks[3] ?? '')).toBe('refused: out-of-order');
  expect(await relay.outcome('chunk', chunks[0] ?? '')).toBe('staged');
  relay.close();
  await door.stop();
  door = await openDoor(door);
  relay = await HandRelay.open(`${door.dir}/run`);
  await expect.poll(async () => (await relay.ask('snapshot')).index, { timeout: 20_000 }).toBe(2);
  for (const chunk of chunks.slice(2, -1)) expect(await relay.outcome('chunk', chunk)).toBe('staged');
  expect(await relay.outcome('chunk', chunks.at(-1) ?? '')).toBe('switched');
  expect((await standing()).digest).toBe(digestOfRows(rows));
  const [alone = ''] = await cloud.snapshot(rows, { cursor: 30 });
  const said = JSON.parse(Buffer.from(alone.split('.')[1] ?? '', 'base64url').toString('utf8'));
  const short = await cloud.sign(statementType.snapshotChunk, { ...said, rows: said.rows.slice(1) });
  expect(await relay.outcome('chunk', short)).toBe('refused: digest-differs');
  expect((await standing()).cursor).toBe(20);
});

it('says that it is held up where the cloud changed something that it does not know', async () => {
  await takeSnapshot(['aiko']);
  const said = { gateway, epoch: 1, from: 10, to: 11, head: 12, issuedAt: 0 };
  const changes = [put('credential', cardOf('mei', cloud.lookupKey, { version: 11 }))];
  const unsupported = await cloud.sign(statementType.feedBatch, { ...said, changes, unsupported: 'technician' });
  expect(await relay.outcome('batch', unsupported)).toBe('applied');
  expect((await door.status()).alarms).toContainEqual(
    expect.objectContaining({ code: 'FEED_HELD_UP', detail: 'technician' }),
  );
  expect(await relay.outcome('batch', await cloud.batch(1, 11, []))).toBe('duplicate');
  const next = put('credential', cardOf('mei', cloud.lookupKey, { version: 12 }));
  expect(await relay.outcome('batch', await cloud.batch(1, 11, [next]))).toBe('applied');
  expect((await door.status()).alarms.map(({ code }) => code)).not.toContain('FEED_HELD_UP');
});

it('takes a row out by its version, and keeps one that is newer', async () => {
  await takeSnapshot(['aiko', 'mei']);
  const remove = (version: number) =>
    ({ op: 'remove', kind: 'credential', id: cardOf('mei', cloud.lookupKey).id, version }) as const;
  const newer = cardOf('mei', cloud.lookupKey, { status: 'suspended', version: 15 });
  await relay.deliver('urgent', await cloud.urgent(1, 15, [newer]));
  await relay.deliver('batch', await cloud.batch(1, 10, [remove(11)], 15));
  expect((await door.decided(() => door.swipe('hall', 'mei'))).body['code']).toBe('CREDENTIAL_SUSPENDED');
  await relay.deliver('batch', await cloud.batch(1, 11, [remove(16)], 16));
  expect((await door.decided(() => door.swipe('hall', 'mei'))).body['code']).toBe('CREDENTIAL_UNKNOWN');
});
