/** Joining a cloud and leaving it: who is believed, what is kept, and which key finds a card. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { EnrolBeginReply, EnrolmentReply } from '#gateway/control/sync-replies.ts';
import { doorFingerprintOf, enrolmentProofOf } from '#shared/enrolment-code.ts';
import { toBase64url } from '#shared/signed-statement.ts';
import { ackIn, enrol, HandRelay, keysIn } from '../../fakes/hand-relay.ts';
import { SigningCloud } from '../../fakes/signing-cloud.ts';
import { atRest, importSmall, openDoor, type RunningDoor } from '../operate/running-door.ts';
import { doorRows } from './door-rows.ts';

let door: RunningDoor;
let cloud: SigningCloud;
const edgeKey = 'A'.repeat(43);
const begin = async () => (await door.client.call('enrol-begin', { code: cloud.code, edgeKey })) as EnrolBeginReply;
const standing = async () => (await door.client.call('enrolment', {})) as EnrolmentReply;

beforeEach(async () => {
  door = await openDoor();
  cloud = new SigningCloud(new Uint8Array(32).fill(0x44));
});
afterEach(async () => await door.remove());

it('proves that it read the code, over keys that are the same at every try', async () => {
  const first = keysIn((await begin()).proof);
  const again = keysIn((await begin()).proof);
  expect(again).toMatchObject({ doorSignKey: first.doorSignKey, doorSealKey: first.doorSealKey });
  expect(first.code).toBe(enrolmentProofOf('0123456789ABCDEF', { ...first, edgeKey }));
  expect(await standing()).toEqual({ state: 'pending', fingerprint: doorFingerprintOf(first) });
});

it('refuses a code that is none, and a second enrolment', async () => {
  await expect(door.client.call('enrol-begin', { code: 'KNK1-', edgeKey })).rejects.toMatchObject({
    code: 'ENROLMENT_CODE_MALFORMED',
  });
  await enrol(door.client, cloud);
  expect(await standing()).toMatchObject({ state: 'enrolled', gateway: 'gwy_test', facilityName: 'Test facility' });
  await expect(begin()).rejects.toMatchObject({ code: 'ALREADY_ENROLLED' });
});

it('believes nobody whose root is not the one in the code', async () => {
  const keys = keysIn((await begin()).proof);
  const other = new SigningCloud();
  const theirs = {
    enrolment: await other.enrolment(keys),
    root: other.rootKey,
    certificate: await other.certificate(),
  };
  await expect(door.client.call('enrol-finish', theirs)).rejects.toMatchObject({ code: 'ENROLMENT_NOT_PROVEN' });
  const mixed = { ...theirs, root: cloud.rootKey };
  await expect(door.client.call('enrol-finish', mixed)).rejects.toMatchObject({ code: 'ENROLMENT_NOT_PROVEN' });
  const foreign = { ...mixed, certificate: await cloud.certificate() };
  await expect(door.client.call('enrol-finish', foreign)).rejects.toMatchObject({ code: 'ENROLMENT_NOT_PROVEN' });
  const meant = await cloud.enrolment({ ...keys, doorSealKey: toBase64url(other.seal.publicKey) });
  await expect(door.client.call('enrol-finish', { ...foreign, enrolment: meant })).rejects.toMatchObject({
    code: 'ENROLMENT_NOT_PROVEN',
  });
  expect((await standing()).state).toBe('pending');
});

it('takes no import while its facility comes from a cloud, and takes one again after it has left', async () => {
  await enrol(door.client, cloud);
  const refused = await importSmall(door);
  expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('FACILITY_FROM_CLOUD') });
  expect(await door.client.call('unenrol', {})).toEqual({ state: 'none' });
  expect((await importSmall(door)).code).toBe(0);
});

it('begins anew with another cloud, whose feed stands elsewhere', async () => {
  await enrol(door.client, cloud);
  const relay = await HandRelay.open(`${door.dir}/run`);
  for (const chunk of await cloud.snapshot(doorRows(['mei'], cloud.lookupKey), { cursor: 90 }))
    expect(await relay.outcome('chunk', chunk)).toBe('switched');
  await door.client.call('unenrol', {});
  await atRest(door);
  expect(await door.decided(() => door.swipe('hall', 'mei'))).toMatchObject({ kind: 'access.granted' });
  const other = new SigningCloud(new Uint8Array(32).fill(0x55));
  await enrol(door.client, other);
  expect(await relay.ask('feed')).toMatchObject({ epoch: 0, after: 0 });
  for (const chunk of await other.snapshot(doorRows(['aiko'], other.lookupKey), { cursor: 2 }))
    expect(await relay.outcome('chunk', chunk)).toBe('switched');
  relay.close();
  await atRest(door);
  expect(await door.decided(() => door.swipe('hall', 'aiko'))).toMatchObject({ kind: 'access.granted' });
});

it('finds cards by the key of the epoch in force: of this box, of the cloud, and of this box again', async () => {
  await importSmall(door);
  await atRest(door);
  expect(await door.decided(() => door.swipe('hall', 'aiko'))).toMatchObject({ kind: 'access.granted' });
  const keys = await enrol(door.client, cloud);
  expect(await door.decided(() => door.swipe('hall', 'aiko'))).toMatchObject({ kind: 'access.granted' });
  const relay = await HandRelay.open(`${door.dir}/run`);
  for (const chunk of await cloud.snapshot(doorRows(['mei'], cloud.lookupKey), { cursor: 9, size: 3 }))
    await relay.deliver('chunk', chunk);
  await atRest(door);
  expect(await door.decided(() => door.swipe('hall', 'mei'))).toMatchObject({ kind: 'access.granted' });
  expect(await door.decided(() => door.swipe('hall', 'aiko'))).toMatchObject({ body: { code: 'CREDENTIAL_UNKNOWN' } });
  const { ack } = (await relay.ask('ack')) ?? { ack: '' };
  expect(await ackIn(ack, keys)).toMatchObject({ epoch: 2, cursor: 9, count: 1 });
  relay.close();
  await door.client.call('unenrol', {});
  await importSmall(door);
  await atRest(door);
  expect(await door.decided(() => door.swipe('hall', 'aiko'))).toMatchObject({ kind: 'access.granted' });
});
