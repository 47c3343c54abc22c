/** Cloud, edge, door process and simulated doors, all real: a card that is issued opens, one that is taken back does not. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Entry } from '#gateway/journal/entry.ts';
import { waitUntil } from '../fakes/wait-until.ts';
import { type CloudHouse, openCloudHouse, until } from './cloud-house.ts';
import { runCommand } from './running-gateway.ts';
import { seenKinds } from './test-house.ts';

let world: CloudHouse;
beforeAll(async () => {
  world = await openCloudHouse();
  await atRest();
}, 180_000);
afterAll(async () => {
  await world?.close();
}, 60_000);

const atRest = () =>
  until('doors and devices to be known', async () => {
    const { doors, devices } = await world.open.status();
    const isKnown = doors.length === 2 && doors.every(({ state }) => state === 'secured');
    return isKnown && devices.every(({ state }) => state === 'online');
  });

/** What was decided of the next card at a reader. */
async function present(number: number): Promise<Entry> {
  const from = world.open.seen.length;
  await world.house.present('front-reader', number);
  const seen = () => world.open.seen.slice(from);
  const decided = () => seen().find(({ kind }) => kind === 'access.granted' || kind === 'access.refused');
  await waitUntil(
    'a decision',
    () => decided() !== undefined,
    60_000,
    () => seenKinds(seen()),
  );
  return decided() as Entry;
}

const effective = (credential: string) =>
  until(`${credential} to be effective at its doors`, async () => {
    const { delivery } = await world.operator.get(`credentials/${credential}`);
    return (
      delivery.length > 0 && delivery.every(({ state }: { readonly state: string }) => state === 'effective_at_door')
    );
  });

it('opens for a card that was issued in the cloud, and refuses it once it was taken back there', async () => {
  expect((await present(11)).body['code']).toBe('CREDENTIAL_UNKNOWN');
  const card = await world.issue(11);
  await effective(card);
  expect((await present(11)).body['code']).toBe('GRANTED');
  await world.operator.post(`credentials/${card}/revoke`);
  await effective(card);
  expect((await present(11)).body['code']).toBe('CREDENTIAL_REVOKED');
});

it('brings what happened at the door to the cloud, once', async () => {
  const card = await world.issue(12);
  await effective(card);
  const granted = await present(12);
  let found: readonly { readonly request: string; readonly kind: string }[] = [];
  await until('the grant to arrive', async () => {
    const { items } = await world.operator.get('journal?limit=100');
    found = items.filter(({ request }: { request: string }) => request === granted.requestId);
    return found.some(({ kind }) => kind === 'lock.released');
  });
  expect(found.filter(({ kind }) => kind === 'access.granted')).toHaveLength(1);
});

it('honours a card with a short lease only while the cloud is heard, and again when it is heard again', async () => {
  const card = await world.issue(13, { leaseMs: 5_000 });
  await effective(card);
  const code = async () => (await present(13)).body['code'];
  await until('a lease', async () => (await code()) === 'GRANTED');
  await world.killEdge();
  await until('the lease to end', async () => (await code()) === 'REPLICA_STALE');
  expect((await world.open.status()).cloud?.contactAgeMs).toBeGreaterThan(5_000);
  world.startEdge();
  await until('a new lease', async () => (await code()) === 'GRANTED');
});

it('releases a door from afar, once, and tells what became of it', async () => {
  const before = world.house.record('back').length;
  const { id } = await world.operator.post('doors/back/release', {});
  await until('the command to be executed', async () => {
    const { status } = await world.operator.get(`commands/${id}`);
    return status === 'executed';
  });
  const received = world.open.seen.filter(({ kind, requestId }) => kind === 'command.received' && requestId === id);
  expect(received).toHaveLength(1);
  expect(world.house.record('back').length).toBeGreaterThan(before);
});

it('goes on when any of the processes dies and comes back: what was changed meanwhile arrives, nothing is lost', async () => {
  const known = await world.issue(14, { leaseMs: 'unlimited' });
  await effective(known);
  await world.killCloud();
  expect((await present(14)).body['code']).toBe('GRANTED');
  await world.restartDoor();
  await atRest();
  const offline = await present(14);
  expect(offline.body['code']).toBe('GRANTED');
  await world.killEdge();
  await world.startCloud();
  const later = await world.issue(15);
  await world.operator.post(`credentials/${known}/revoke`);
  world.startEdge();
  await effective(later);
  await effective(known);
  expect((await present(15)).body['code']).toBe('GRANTED');
  expect((await present(14)).body['code']).toBe('CREDENTIAL_REVOKED');
  await until('what happened without the cloud to arrive there', async () => {
    const { items } = await world.operator.get(`journal?limit=100&request=${offline.requestId}`);
    return items.some(({ kind }: { readonly kind: string }) => kind === 'access.granted');
  });
}, 180_000);

it('refuses a local import, and says how the way to the cloud is', async () => {
  await expect(world.house.import(world.open)).rejects.toMatchObject({ code: 'FACILITY_FROM_CLOUD' });
  await until('the way to be told', async () => (await world.open.status()).cloud?.uplink === 'online');
  const { code, out } = await runCommand('status', '--config', world.house.configFile);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining(`${world.gatewayId} · online`) });
});
