import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { verifyAudit } from '#cloud/database/verify-audit.ts';
import { sealFor } from '#shared/sealed-box.ts';
import { fromBase64url } from '#shared/signed-statement.ts';
import type { TestGateway } from '../gateway-sync/test-gateway.ts';
import { openRoom, type Room } from './open-room.ts';

let room: Room;
let gateway: TestGateway;
let second: TestGateway;
let holder: string;
let doors = 0;
beforeAll(async () => {
  room = await openRoom();
  gateway = await room.gateway('Front');
  second = await room.gateway('Back');
  holder = await made('/holders', { name: 'Hanako' });
  await follow(gateway);
});
afterAll(() => room.close());

async function made(path: string, body: object): Promise<string> {
  const reply = await room.call<{ id: string }>('POST', path, body);
  expect(reply, JSON.stringify(reply)).toMatchObject({ status: 201 });
  return reply.body.id;
}

async function newDoor(of: TestGateway | undefined, more: object = {}): Promise<string> {
  doors += 1;
  const door = await made('/doors', { name: `Door ${doors}`, lock: null, ...more });
  if (of)
    expect(await bind(door, of)).toMatchObject({ status: 200, body: { outcome: { status: 'applied', to: 'bound' } } });
  return door;
}

/** Takes in and signs all that was said so far. */
async function follow(of: TestGateway): Promise<void> {
  const open = async () =>
    (await sql`select from feed_group where last_seq is null`.execute(room.database.admin)).rows.length;
  await vi.waitFor(async () => expect(await open()).toBe(0), { timeout: 20_000, interval: 10 });
  await of.catchUp();
}

const bind = (door: string, to: TestGateway | null) =>
  room.call('PUT', `/doors/${door}/gateway`, { gateway: to?.id ?? null });

interface Item {
  readonly id: string;
  readonly delivery: readonly {
    door: string;
    gateway: string | null;
    state: string;
    since: string;
    lastSeenAt: string;
  }[];
}

let cards = 0;
async function issue(body: object): Promise<Item> {
  cards += 1;
  const card = { format: 'H10301', facility: 9, number: cards };
  const reply = await room.call<{ item: Item }>('POST', '/credentials', { holder, card, ...body });
  expect(reply, JSON.stringify(reply)).toMatchObject({ status: 201 });
  return reply.body.item;
}

const read = async (id: string) => (await room.call<Item>('GET', `/credentials/${id}`)).body;

it('says pending until the door has signed that it acts on it, for issue and for revocation alike', async () => {
  const door = await newDoor(gateway);
  await follow(gateway);
  const item = await issue({ grants: [{ door }] });
  expect(item.delivery).toMatchObject([{ door, gateway: gateway.id, state: 'pending_at_door' }]);
  await follow(gateway);
  const issuedState = await read(item.id);
  expect(issuedState.delivery).toMatchObject([{ door, state: 'effective_at_door' }]);
  expect([...gateway.rows.keys()]).toContain(`credential ${item.id}`);

  const revoked = await room.call<{ item: Item }>('POST', `/credentials/${item.id}/revoke`, {});
  expect(revoked.body.item.delivery).toMatchObject([{ door, state: 'pending_at_door' }]);
  const { batch } = await gateway.poll(5_000);
  if (!batch) throw new Error('nothing came');
  gateway.apply(batch);
  expect((await read(item.id)).delivery).toMatchObject([{ state: 'pending_at_door' }]);
  expect((await gateway.ack()).status).toBe(200);
  const [now] = (await read(item.id)).delivery;
  expect(now).toMatchObject({ door, state: 'effective_at_door' });
  expect(Date.parse(now?.since ?? '')).toBeGreaterThan(Date.parse(issuedState.delivery[0]?.since ?? ''));
  expect(gateway.rows.get(`credential ${item.id}`)?.row).toMatchObject({ status: 'revoked' });
  expect([...gateway.rows.keys()].filter((key) => key.startsWith(`grant ${item.id}`))).toEqual([]);
});

it('says of a gateway that is silent when it was last heard of', async () => {
  const door = await newDoor(gateway);
  await follow(gateway);
  const item = await issue({ grants: [{ door }] });
  await sql`update gateway_health set last_seen_at = now() - interval '5 minutes' where gateway_id = ${gateway.id}`.execute(
    room.database.admin,
  );
  const [state] = (await read(item.id)).delivery;
  expect(state).toMatchObject({ door, state: 'unreachable' });
  expect(Date.parse(state?.lastSeenAt ?? '')).toBeLessThan(Date.now() - 290_000);
  await follow(gateway);
  expect((await read(item.id)).delivery).toMatchObject([{ state: 'effective_at_door' }]);
});

it('gives a gateway only its own doors, and a door that moves takes its grants along', async () => {
  const door = await newDoor(gateway);
  const item = await issue({ grants: [{ door }] });
  await follow(gateway);
  await follow(second);
  const holds = (of: TestGateway) => [...of.rows.keys()].filter((key) => key.includes(door));
  expect(
    holds(gateway)
      .map((key) => key.split(' ')[0])
      .sort(),
  ).toEqual(['door', 'grant']);
  expect(holds(second)).toEqual([]);
  expect((await bind(door, second)).status).toBe(200);
  expect((await read(item.id)).delivery).toMatchObject([{ gateway: second.id, state: 'pending_at_door' }]);
  await follow(gateway);
  await follow(second);
  expect(holds(gateway)).toEqual([]);
  expect(holds(second).length).toBe(2);
  expect((await read(item.id)).delivery).toMatchObject([{ gateway: second.id, state: 'effective_at_door' }]);
  expect(await bind(door, second)).toMatchObject({ body: { outcome: { status: 'noop' } } });
});

it('does not bind a door that is wired like another of that gateway', async () => {
  const lock = { device: 'dev1', output: 3 };
  await newDoor(gateway, { lock });
  const other = await newDoor(undefined, { lock });
  expect(await bind(other, gateway)).toMatchObject({ status: 409, body: { code: 'WIRED_TWICE' } });
  expect((await bind(other, second)).status).toBe(200);
  const third = await newDoor(gateway);
  expect(await room.call('PUT', `/doors/${third}`, { name: 'Third', lock, version: 1 })).toMatchObject({
    status: 409,
    body: { code: 'ALREADY_EXISTS', fields: [{ path: '/body/lock' }] },
  });
});

it('has counted uses at one gateway only', async () => {
  const [here, there] = [await newDoor(gateway), await newDoor(second)];
  const card = { bits: '1010101010101010101' };
  const both = { holder, card, usesMax: 3, grants: [{ door: here }, { door: there }] };
  expect(await room.call('POST', '/credentials', both)).toMatchObject({
    status: 422,
    body: { code: 'USES_NEED_ONE_GATEWAY', fields: [{ path: '/body/grants' }] },
  });
  const item = await issue({ usesMax: 3, grants: [{ door: here }] });
  expect(await room.call('POST', '/grants', { credential: item.id, door: there })).toMatchObject({
    status: 422,
    body: { code: 'USES_NEED_ONE_GATEWAY' },
  });
  const loose = await newDoor(undefined);
  expect((await room.call('POST', '/grants', { credential: item.id, door: loose })).status).toBe(201);
  expect(await bind(loose, second)).toMatchObject({ status: 422, body: { code: 'USES_NEED_ONE_GATEWAY' } });
});

it('enrols a card that is shown to a reader, once, in its time', async () => {
  const door = await newDoor(gateway);
  const reader = await made('/readers', { name: 'In', door, device: 'dev1', head: 7, uidOrder: 'reversed' });
  await follow(gateway);
  const opened = await room.call<{ id: string }>('POST', '/enrolment-windows', { reader });
  expect(opened).toMatchObject({ status: 201, body: { state: 'waiting', reader, cardBits: null } });
  const window = opened.body.id;
  const issueWith = () =>
    room.call<{ item: Item }>('POST', '/credentials', { holder, card: { window }, grants: [{ door }] });
  expect(await issueWith()).toMatchObject({
    status: 422,
    body: { code: 'ENROLMENT_WAITING', fields: [{ path: '/body/card/window' }] },
  });
  const { commands } = await gateway.poll();
  expect(commands.map(({ what }) => what)).toEqual([{ act: 'read-card', reader, window, seconds: 60 }]);

  const bits = '11111111000000001010101000001111';
  const show = (secret: object, of: object = {}) => {
    const sealed = sealFor(
      fromBase64url(room.feedKeys.terms.sealKey),
      'card read',
      Buffer.from(JSON.stringify(secret)),
    );
    return gateway.send('POST', '/gateway/v1/read', { body: { window, reader, sealed, ...of } });
  };
  await show({ bits: 'no bits' });
  await show({ bits: '1111' }, { reader: 'rdr_other' });
  expect((await room.call('GET', `/enrolment-windows/${window}`)).body).toMatchObject({ state: 'waiting' });
  await show({ bits });
  expect((await room.call('GET', `/enrolment-windows/${window}`)).body).toMatchObject({
    state: 'read',
    cardBits: 32,
    cloneableAs: 'a serial number of 32 bits',
  });
  const issued = await issueWith();
  expect(issued, JSON.stringify(issued)).toMatchObject({ status: 201, body: { item: { kind: 'card', cardBits: 32 } } });
  expect((await room.call('GET', `/enrolment-windows/${window}`)).body).toMatchObject({ state: 'used' });
  expect(await issueWith()).toMatchObject({ status: 422, body: { code: 'ENROLMENT_CLOSED' } });
  // The same serial number, written as it stands on the card: the reader sends the last byte first.
  expect(await room.call('POST', '/credentials', { holder, card: { bitCount: 32, hex: '0faa00ff' } })).toMatchObject({
    status: 409,
    body: { code: 'CARD_TAKEN' },
  });
});

it('opens no window where no gateway works the reader, and takes no card after its time', async () => {
  const loose = await newDoor(undefined);
  const reader = await made('/readers', { name: 'In', door: loose, device: 'dev1' });
  expect(await room.call('POST', '/enrolment-windows', { reader })).toMatchObject({
    status: 422,
    body: { code: 'DOOR_UNBOUND', fields: [{ path: '/body/reader' }] },
  });
  expect((await bind(loose, second)).status).toBe(200);
  const opened = await room.call<{ id: string }>('POST', '/enrolment-windows', { reader });
  expect(opened.status).toBe(201);
  await sql`update enrolment_window set opened_at = now() - interval '1 hour', closes_at = now() - interval '59 minutes'
    where id = ${opened.body.id}`.execute(room.database.admin);
  expect((await room.call('GET', `/enrolment-windows/${opened.body.id}`)).body).toMatchObject({ state: 'closed' });
  const card = { window: opened.body.id };
  expect(await room.call('POST', '/credentials', { holder, card })).toMatchObject({
    body: { code: 'ENROLMENT_CLOSED' },
  });
});

it('leaves nothing of an erased holder but ids: not in a table, not at a gateway, and the chain still holds', async () => {
  const name = 'Zenobia Unmistakable';
  const email = 'zenobia@unmistakable.test';
  const door = await newDoor(gateway);
  const zenobia = await made('/holders', { name, email, externalRef: 'zen-77' });
  const item = await issue({ holder: zenobia, grants: [{ door }] });
  await follow(gateway);
  expect(gateway.rows.get(`holder ${zenobia}`)?.row).toMatchObject({ name });
  const lookup = (gateway.rows.get(`credential ${item.id}`)?.row as { lookup?: string } | undefined)?.lookup ?? 'none';
  // A gateway that comes in holds a snapshot with the name, and another is half-way through its own.
  await (await room.gateway('Late')).takeSnapshot();
  const holderNow = await room.call<{ version: number }>('GET', `/holders/${zenobia}`);
  const erased = await room.call('POST', `/holders/${zenobia}/erase`, { version: holderNow.body.version });
  expect(erased).toMatchObject({ status: 200, body: { name: null, email: null, externalRef: null } });
  await follow(gateway);
  expect(gateway.rows.has(`holder ${zenobia}`)).toBe(false);
  expect(gateway.rows.has(`credential ${item.id}`)).toBe(false);
  const tables = await sql<{ name: string }>`select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(room.database.admin);
  for (const { name: table } of tables.rows) {
    const found = await sql<{ text: string }>`select coalesce(string_agg(t::text, ' '), '') as text
      from ${sql.table(table)} t`.execute(room.database.admin);
    const text = found.rows[0]?.text ?? '';
    for (const value of [name, email, 'zen-77']) expect(text.includes(value), `${value} in ${table}`).toBe(false);
    // The feed's history keeps the keyed hash of the card for some days, for gateways that are behind.
    if (table !== 'feed_change') expect(text.includes(lookup), `lookup in ${table}`).toBe(false);
  }
  const claims = { actor: 'test', facilityIds: [room.facility] };
  const chain = await tenantTransaction(room.database.app, claims, (transaction) =>
    verifyAudit(transaction, room.facility),
  );
  expect(chain.faults).toEqual([]);
  expect(chain.head.seq).toBeGreaterThan(0);
});
