/** Cloud, edge, door process and simulated doors, all real: a card that is issued opens, one that is taken back does not. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Entry } from '#gateway/journal/entry.ts';
import { type CloudHouse, openCloudHouse, until } from './cloud-house.ts';

let world: CloudHouse;
beforeAll(async () => {
  world = await openCloudHouse();
  await until('both doors to be known', async () => {
    const { doors } = await world.open.status();
    return doors.length === 2 && doors.every(({ state }) => state === 'secured');
  });
}, 180_000);
afterAll(async () => await world?.close(), 60_000);

/** What was decided of the next card at a reader. */
async function present(number: number): Promise<Entry> {
  const from = world.open.seen.length;
  await world.house.present('front-reader', number);
  let decided: Entry | undefined;
  await until('a decision', async () => {
    decided = world.open.seen.slice(from).find(({ kind }) => kind === 'access.granted' || kind === 'access.refused');
    return decided !== undefined;
  });
  if (decided === undefined) throw new Error('undecided');
  return decided;
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
    const { items } = await world.operator.get('history?limit=100');
    found = items.filter(({ request }: { request: string }) => request === granted.requestId);
    return found.some(({ kind }) => kind === 'lock.released');
  });
  expect(found.filter(({ kind }) => kind === 'access.granted')).toHaveLength(1);
});

it('honours a card with a short lease only while the cloud is heard', async () => {
  const card = await world.issue(13, { leaseMs: 4_000 });
  await effective(card);
  await until('a lease', async () => (await present(13)).body['code'] === 'GRANTED');
});
