/** A cloud that was put back from a copy, a gateway that lost its rows: each is told what the other has forgotten. */
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CloudHints } from '#gateway/follow/cloud-hints.ts';
import { ackIn, type DoorKeys, enrol, HandRelay } from '../../fakes/hand-relay.ts';
import { SigningCloud } from '../../fakes/signing-cloud.ts';
import { atRest, openDoor, type RunningDoor } from '../operate/running-door.ts';
import { cardOf, doorRows } from './door-rows.ts';

let door: RunningDoor;
let cloud: SigningCloud;
let keys: DoorKeys;
let relay: HandRelay;

const standing = async () => await ackIn((await relay.ask('ack'))?.ack ?? '', keys);
const polled = async (news: { snapshotNeeded?: boolean; isUnheard?: boolean } = {}) =>
  await relay.told({ feed: { head: 10, snapshotNeeded: false, ...news } });
const heard = { ack: 'applied', epoch: 1, cursor: 10 } as const;
const snapshotAt = async (cursor: number) =>
  (await cloud.snapshot(doorRows(['aiko', 'mei'], cloud.lookupKey), { cursor }))[0] ?? '';

beforeEach(async () => {
  door = await openDoor();
  cloud = new SigningCloud();
  keys = await enrol(door.client, cloud);
  relay = await HandRelay.open(`${door.dir}/run`);
  await relay.deliver('chunk', await snapshotAt(10));
  await atRest(door);
});
afterEach(async () => {
  relay.close();
  await door.remove();
});

async function takeUp(former: { readonly dir: string }): Promise<void> {
  door = await openDoor(former);
  relay = await HandRelay.open(`${door.dir}/run`);
  await expect
    .poll(
      () =>
        relay.ask('feed').then(
          () => true,
          () => false,
        ),
      { timeout: 20_000 },
    )
    .toBe(true);
}

it('says with each ack how far it ever was or looked ahead', async () => {
  expect(await standing()).toMatchObject({ cursor: 10, floor: 10 });
  const gone = cardOf('mei', cloud.lookupKey, { status: 'revoked', version: 30 });
  expect(await relay.outcome('urgent', await cloud.urgent(1, 30, [gone]))).toBe('applied');
  expect(await standing()).toMatchObject({ cursor: 10, floor: 30 });
});

it('tells a cloud once more where it stands that gives an older snapshot, and asks for another one', async () => {
  expect(await relay.told(heard)).toMatchObject({ ack: false });
  expect(await relay.deliver('chunk', await snapshotAt(9))).toMatchObject({ reason: 'older', needs: { ack: true } });
  expect(await relay.ask('snapshot')).toEqual({ index: 0 });
});

it('tells a cloud that wants to give a snapshot first where it stands, and takes one if it still wants to', async () => {
  await relay.told(heard);
  expect(await polled({ snapshotNeeded: true })).toMatchObject({ ack: true, snapshot: false });
  await relay.told(heard);
  expect(await polled({ snapshotNeeded: true })).toMatchObject({ ack: false, snapshot: true });
});

it('tells a cloud once more where it stands that gave no contact to who stands at the head', async () => {
  await relay.told(heard);
  expect(await polled()).toMatchObject({ ack: false });
  expect(await polled({ isUnheard: true })).toMatchObject({ ack: true });
});

it('begins the two words anew after a poll that went well', () => {
  const hints = new CloudHints();
  const want = (snapshotNeeded: boolean) => {
    hints.answered(heard);
    hints.fed({ head: 10, snapshotNeeded }, 1);
    return hints.isSnapshotNeeded(1);
  };
  expect([true, false, true, true].map(want)).toEqual([false, false, false, true]);
});

it('says that it has nothing, and below what it takes nothing, where its rows are lost', async () => {
  relay.close();
  await door.stop();
  for (const name of readdirSync(door.dataDir))
    if (name.startsWith('replica')) rmSync(join(door.dataDir, name), { recursive: true });
  await takeUp(door);
  expect(await polled()).toMatchObject({ ack: true, snapshot: true });
  expect(await standing()).toMatchObject({ epoch: 0, cursor: 0, floor: 10 });
  expect(await relay.told({ ...heard, epoch: 0, cursor: 0 })).toMatchObject({ ack: false });
  expect(await relay.deliver('chunk', await snapshotAt(9))).toMatchObject({ reason: 'older', needs: { ack: true } });
  expect(await relay.outcome('chunk', await snapshotAt(11))).toBe('switched');
});

it('keeps how far urgent rows looked ahead before they count: no snapshot from before them undoes them after a crash', async () => {
  const gone = cardOf('mei', cloud.lookupKey, { status: 'revoked', version: 30 });
  expect(await relay.outcome('urgent', await cloud.urgent(1, 30, [gone]))).toBe('applied');
  const crashed = { dir: mkdtempSync(join(tmpdir(), 'kannuki-door-')) };
  cpSync(door.dataDir, join(crashed.dir, 'data'), { recursive: true });
  relay.close();
  await door.remove();
  await takeUp(crashed);
  expect(await standing()).toMatchObject({ cursor: 10, floor: 30 });
  expect(await relay.outcome('chunk', await snapshotAt(29))).toBe('refused: older');
});
