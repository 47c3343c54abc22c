import { randomUUID, scryptSync } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readFacilityKeys } from '#cloud/credential/facility-keys.ts';
import { isGuessable } from '#cloud/credential/pin-policy.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { readWrittenCard } from '#protocol/wiegand/written-card.ts';
import { pinSlowHash } from '#shared/credential-lookup.ts';
import { verifyPass } from '#shared/pass.ts';
import { publicSignKey, rawPublicKey } from '#shared/signed-statement.ts';
import { openRoom, type Room } from './open-room.ts';

let room: Room;
let lobby: string;
let vault: string;
let holder: string;
beforeAll(async () => {
  room = await openRoom();
  lobby = await made('/doors', { name: 'Lobby', lock: null });
  vault = await made('/doors', { name: 'Vault', lock: null });
  holder = await made('/holders', { name: 'Hanako' });
});
afterAll(() => room.close());

interface Credential {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  readonly grants: readonly { readonly id: string; readonly door: string | null }[];
  readonly delivery: readonly { readonly door: string; readonly state: string }[];
  readonly [field: string]: unknown;
}
interface IssuedReply {
  readonly item: Credential;
  readonly secret?: { readonly pin?: string; readonly pass?: string };
}

async function made(path: string, body: object): Promise<string> {
  const reply = await room.call<{ id: string }>('POST', path, body);
  expect(reply, JSON.stringify(reply)).toMatchObject({ status: 201 });
  return reply.body.id;
}

async function issued(body: object): Promise<IssuedReply> {
  const reply = await room.call<IssuedReply>('POST', '/credentials', { holder, ...body });
  expect(reply, JSON.stringify(reply)).toMatchObject({ status: 201 });
  return reply.body;
}

let cards = 1_000;
function newCard(): { format: string; facility: number; number: number } {
  cards += 1;
  return { format: 'H10301', facility: 7, number: cards };
}

async function words(kind: string, credential: string): Promise<readonly Record<string, unknown>[]> {
  const found = await sql<{ row: Record<string, unknown> }>`select row from feed_source
    where facility_id = ${room.facility} and kind = ${kind}
      and (key = ${credential} or row ->> 'credential' = ${credential})`.execute(room.database.admin);
  return found.rows.map(({ row }) => row);
}

const act = (id: string, verb: string, body: object = {}) => room.call('POST', `/credentials/${id}/${verb}`, body);

it('issues a card that doors find by the same lookup as a local import makes', async () => {
  const card = newCard();
  const { item } = await issued({ card, grants: [{ door: lobby }] });
  expect(item).toMatchObject({ status: 'issued', kind: 'card', cardBits: 26, cloneableAs: '26 bits (H10301)' });
  const keys = await tenantTransaction(
    room.database.app,
    { actor: 'test', facilityIds: [room.facility] },
    (transaction) => readFacilityKeys(transaction, room.sealer, room.facility),
  );
  const read = readWrittenCard(card);
  if (read.kind !== 'card') throw new Error('no card');
  const [row] = await words('credential', item.id);
  expect(row).toMatchObject({ id: item.id, holder, lookup: keys.lookup.ofCard(read.normalized), status: 'issued' });
  expect(await words('grant', item.id)).toMatchObject([{ door: lobby, credential: item.id, schedule: null }]);
  expect(item.delivery).toMatchObject([{ door: lobby, gateway: null, state: 'pending_at_door', lastSeenAt: null }]);
});

it('shows a PIN once, hashed for the doors as they hash it, and once more to whoever asks', async () => {
  const { item, secret } = await issued({ pin: { digits: 6 }, grants: [{ door: lobby }] });
  const pin = secret?.pin ?? '';
  expect(pin).toMatch(/^\d{6}$/);
  expect(isGuessable(pin)).toBe(false);
  const keys = await tenantTransaction(
    room.database.app,
    { actor: 'test', facilityIds: [room.facility] },
    (transaction) => readFacilityKeys(transaction, room.sealer, room.facility),
  );
  const { bytes, ...cost } = pinSlowHash;
  const slow = new Uint8Array(scryptSync(pin, keys.pinSalt, bytes, cost));
  expect((await words('credential', item.id))[0]).toMatchObject({ kind: 'pin', lookup: keys.lookup.ofPin(slow) });
  expect(JSON.stringify(await room.call('GET', `/credentials/${item.id}`))).not.toContain(pin);
  expect(await act(item.id, 'reveal')).toMatchObject({ status: 200, body: { secret: { pin } } });
  expect((await act(item.id, 'revoke')).status).toBe(200);
  expect(await act(item.id, 'reveal')).toMatchObject({ status: 422, body: { code: 'VALUE_GONE' } });
});

it('keeps no card and no PIN in clear anywhere in the database', async () => {
  const { secret } = await issued({ pin: { digits: 10 }, grants: [] });
  await issued({ card: { bits: '10110011100011110000' }, grants: [] });
  const tables = await sql<{ name: string }>`select relname as name from pg_class
    where relkind = 'r' and relnamespace = 'public'::regnamespace`.execute(room.database.admin);
  for (const { name } of tables.rows) {
    const found = await sql<{
      text: string;
    }>`select coalesce(string_agg(t::text, ' '), '') as text from ${sql.table(name)} t`.execute(room.database.admin);
    const text = found.rows[0]?.text ?? '';
    expect(text.includes(secret?.pin ?? 'none'), name).toBe(false);
    expect(text.includes(Buffer.from(secret?.pin ?? '', 'utf8').toString('hex')), name).toBe(false);
    expect(text.includes('10110011100011110000'), name).toBe(false);
  }
});

it('refuses a card that is somebody’s, naming the field, and takes it once that credential ended', async () => {
  const card = newCard();
  const { item } = await issued({ card, grants: [{ door: lobby }] });
  const again = () => room.call<IssuedReply>('POST', '/credentials', { holder, card, grants: [{ door: vault }] });
  expect(await again()).toMatchObject({
    status: 409,
    body: { code: 'CARD_TAKEN', fields: [{ path: '/body/card', key: 'field.taken' }] },
  });
  expect(JSON.stringify((await again()).body)).not.toContain(item.id);
  await act(item.id, 'revoke');
  expect((await words('credential', item.id))[0]).toMatchObject({ status: 'revoked' });
  const next = await again();
  expect(next.status).toBe(201);
  expect(await words('credential', item.id)).toEqual([]);
  expect((await words('credential', next.body.item.id))[0]).toMatchObject({ status: 'issued' });
});

it('gives a card to one of two who ask at the same moment, and says to the other that it is taken', async () => {
  const other = await made('/holders', { name: 'Other' });
  for (let round = 0; round < 5; round += 1) {
    const card = newCard();
    const replies = await Promise.all(
      [holder, other].map((of) => room.call('POST', '/credentials', { holder: of, card, grants: [{ door: lobby }] })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
    const late = replies.find(({ status }) => status === 409);
    expect(late?.body).toMatchObject({ code: 'CARD_TAKEN', fields: [{ path: '/body/card' }] });
  }
});

it('issues once for one key, and shows the same PIN again', async () => {
  const body = { holder, pin: { digits: 6 } };
  const send = () => room.call<IssuedReply>('POST', '/credentials', body, { key: 'the-key-of-one-issue' });
  const first = await send();
  const before = await count();
  expect(await send()).toEqual(first);
  expect(await count()).toBe(before);
});

it('lets two facilities have the same card, and says nothing of one to the other', async () => {
  const card = newCard();
  await issued({ card, grants: [] });
  const other = await room.call<{ id: string }>('POST', '/holders', { name: 'Other' }, { facility: room.other });
  const there = await room.call('POST', '/credentials', { holder: other.body.id, card }, { facility: room.other });
  expect(there.status).toBe(201);
});

it.each([
  [{ format: 'H10301', facility: 7, number: 70_000 }, '/body/card'],
  [{ format: 'H1', number: 1 }, '/body/card/format'],
  [{ bitCount: 26, hex: 'ff' }, '/body/card/hex'],
])('says what is wrong with the card %j', async (card, path) => {
  expect(await room.call('POST', '/credentials', { holder, card })).toMatchObject({
    status: 422,
    body: { code: 'CARD_UNREADABLE', fields: [{ path }] },
  });
});

it.each([
  [{}, '/body/card', 'field.required'],
  [{ pin: {}, pass: {} }, '/body/card', 'field.required'],
  [{ pin: { digits: 3 } }, '/body/pin/digits', 'field.too_small'],
  [{ pin: { digits: 11 } }, '/body/pin/digits', 'field.too_big'],
  [
    { pin: {}, validFrom: '2027-01-02T00:00:00Z', validUntil: '2027-01-01T00:00:00Z' },
    '/body/validUntil',
    'field.end_before_start',
  ],
  [{ pin: {}, validFrom: '2027-01-02' }, '/body/validFrom', 'field.malformed'],
  [{ pin: {}, grants: [{}] }, '/body/grants/0/door', 'field.invalid'],
  [{ pass: {}, grants: [{ door: 'd' }] }, '/body/validUntil', 'field.required'],
  [{ pin: {}, usesMax: 0 }, '/body/usesMax', 'field.too_small'],
])('refuses %j at %s', async (body, path, key) => {
  const reply = await room.call('POST', '/credentials', { holder, ...body });
  expect(reply).toMatchObject({ status: 422, body: { code: 'REQUEST_INVALID' } });
  expect(reply.body['fields']).toContainEqual(expect.objectContaining({ path, key }));
});

it('issues many at once, or none of them', async () => {
  const items = Array.from({ length: 60 }, () => ({ holder, card: newCard(), grants: [{ door: lobby }] }));
  const all = await room.call<{ items: IssuedReply[] }>('POST', '/credentials/bulk', { items });
  expect(all.status).toBe(201);
  expect(new Set(all.body.items.map(({ item }) => item.id)).size).toBe(60);
  expect(all.body.items[59]?.item).toMatchObject({ delivery: [{ door: lobby, state: 'pending_at_door' }] });
  const [first] = items;
  const mixed = [
    { holder, card: newCard() },
    { holder, card: first?.card },
    { holder, card: newCard() },
  ];
  const before = await count();
  expect(await room.call('POST', '/credentials/bulk', { items: mixed })).toMatchObject({
    status: 409,
    body: { code: 'CARD_TAKEN', fields: [{ path: '/body/items/1/card' }] },
  });
  expect(await count()).toBe(before);
  const twice = newCard();
  expect(
    await room.call('POST', '/credentials/bulk', {
      items: [
        { holder, card: twice },
        { holder, card: twice },
      ],
    }),
  ).toMatchObject({ status: 409, body: { fields: [{ path: '/body/items/1/card', key: 'field.twice' }] } });
});

async function count(): Promise<number | undefined> {
  const found = await sql<{ n: number }>`select count(*)::int as n from credential`.execute(room.database.admin);
  return found.rows[0]?.n;
}

it('gives at most ten PINs of four digits to a door they open alone, and more where a card comes first', async () => {
  const narrow = await made('/doors', { name: `Narrow ${randomUUID()}`, lock: null });
  const items = Array.from({ length: 10 }, () => ({ holder, pin: { digits: 4 }, grants: [{ door: narrow }] }));
  const first = await room.call<{ items: (IssuedReply & { secret: { pin: string } })[] }>('POST', '/credentials/bulk', {
    items,
  });
  expect(first.status).toBe(201);
  expect(new Set(first.body.items.map(({ secret }) => secret.pin)).size).toBe(10);
  const more = { holder, pin: { digits: 4 }, grants: [{ door: narrow }] };
  expect(await room.call('POST', '/credentials', more)).toMatchObject({
    status: 422,
    body: { code: 'PIN_SPACE_EXHAUSTED', fields: [{ path: '/body/pin/digits' }] },
  });
  expect((await room.call('POST', '/credentials', { ...more, pin: { digits: 5 } })).status).toBe(201);
  const { item } = await issued({ pin: { digits: 4 }, grants: [] });
  const grant = { credential: item.id, door: narrow };
  expect(await room.call('POST', '/grants', grant)).toMatchObject({ body: { code: 'PIN_SPACE_EXHAUSTED' } });
  const group = await room.call<Credential>('POST', '/door-groups', { name: `Group ${randomUUID()}`, doors: [] });
  expect((await room.call('POST', '/grants', { credential: item.id, group: group.body.id })).status).toBe(201);
  const joined = { name: `Group ${randomUUID()}`, doors: [narrow], version: 1 };
  expect(await room.call('PUT', `/door-groups/${group.body.id}`, joined)).toMatchObject({
    body: { code: 'PIN_SPACE_EXHAUSTED', fields: [{ path: '/body/doors' }] },
  });
  const guarded = { name: `Narrow ${randomUUID()}`, lock: null, secondFactor: 'always', version: 1 };
  expect((await room.call('PUT', `/doors/${narrow}`, guarded)).status).toBe(200);
  expect((await room.call('POST', '/grants', grant)).status).toBe(201);
  expect(await room.call('PUT', `/doors/${narrow}`, { ...guarded, secondFactor: 'never', version: 2 })).toMatchObject({
    body: { code: 'PIN_SPACE_EXHAUSTED', fields: [{ path: '/body/secondFactor' }] },
  });
});

it('lets an ended PIN make room for another', async () => {
  const narrow = await made('/doors', { name: `Narrow ${randomUUID()}`, lock: null });
  const items = Array.from({ length: 10 }, () => ({ holder, pin: { digits: 4 }, grants: [{ door: narrow }] }));
  const all = await room.call<{ items: IssuedReply[] }>('POST', '/credentials/bulk', { items });
  await act(all.body.items[0]?.item.id ?? '', 'revoke');
  await issued({ pin: { digits: 4 }, grants: [{ door: narrow }] });
});

it('signs a pass for the doors of its grants, that verifies without contact', async () => {
  const group = await made('/door-groups', { name: `Suite ${randomUUID()}`, doors: [vault] });
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const { item, secret } = await issued({
    pass: {},
    validUntil: until,
    usesMax: 1,
    grants: [{ door: lobby }, { group }],
  });
  const key = publicSignKey(rawPublicKey(room.feedKeys.signKey));
  const verified = await verifyPass(secret?.pass ?? '', { key, facility: room.facility });
  expect(verified).toMatchObject({
    kind: 'verified',
    value: { id: item.id, doors: [lobby, vault].sort(), until: Date.parse(until), once: true },
  });
  expect(await words('credential', item.id)).toEqual([]);
  expect((await room.call('POST', '/grants', { credential: item.id, door: vault })).body).toMatchObject({
    code: 'KIND_UNSUITED',
  });
});

it('revokes for good, with the conflict of two who decide at once', async () => {
  const { item } = await issued({ card: newCard(), grants: [{ door: lobby }] });
  expect(await act(item.id, 'suspend', { version: 1 })).toMatchObject({
    status: 200,
    body: { outcome: { status: 'applied', to: 'suspended' }, item: { version: 2, status: 'suspended' } },
  });
  expect((await words('credential', item.id))[0]).toMatchObject({ status: 'suspended' });
  expect(await act(item.id, 'revoke', { version: 1 })).toMatchObject({
    status: 409,
    body: { code: 'CREDENTIAL_STATE_CHANGED', current: { state: 'suspended', item: { version: 2 } } },
  });
  expect(await act(item.id, 'revoke', { version: 2, reason: 'lost' })).toMatchObject({ status: 200 });
  expect((await words('credential', item.id))[0]).toMatchObject({ status: 'revoked' });
  expect(await words('grant', item.id)).toEqual([]);
  expect(await act(item.id, 'revoke')).toMatchObject({
    status: 200,
    body: { outcome: { status: 'noop', code: 'ALREADY_REVOKED' } },
  });
  expect(await act(item.id, 'restore')).toMatchObject({ status: 422, body: { code: 'ILLEGAL_TRANSITION' } });
});

it('has one winner of two who revoke and restore at the same moment, whoever it is', async () => {
  const { item } = await issued({ card: newCard(), grants: [{ door: lobby }] });
  await act(item.id, 'suspend');
  const replies = await Promise.all([act(item.id, 'revoke', { version: 2 }), act(item.id, 'restore', { version: 2 })]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
});

it('reissues a card in its place, the same card too, with its grants and terms', async () => {
  const card = newCard();
  const { item } = await issued({ card, isFirstPerson: true, grants: [{ door: lobby }, { door: vault }] });
  expect(await act(item.id, 'reissue', {})).toMatchObject({ status: 422, body: { fields: [{ path: '/body/card' }] } });
  const next = await room.call<IssuedReply>('POST', `/credentials/${item.id}/reissue`, { card });
  expect(next).toMatchObject({
    status: 201,
    body: { item: { replaces: item.id, isFirstPerson: true, status: 'issued' } },
  });
  expect(next.body.item.grants.map(({ door }) => door).sort()).toEqual([lobby, vault].sort());
  expect(await room.call('GET', `/credentials/${item.id}`)).toMatchObject({ body: { status: 'revoked' } });
  expect(await words('credential', item.id)).toEqual([]);
  expect((await words('grant', next.body.item.id)).length).toBe(2);
  expect((await act(item.id, 'reissue', { card: newCard() })).status).toBe(422);
});

it('changes nothing where the new card is somebody’s', async () => {
  const taken = newCard();
  await issued({ card: taken, grants: [] });
  const { item } = await issued({ card: newCard(), grants: [{ door: lobby }] });
  expect(await act(item.id, 'reissue', { card: taken })).toMatchObject({ status: 409, body: { code: 'CARD_TAKEN' } });
  expect(await room.call('GET', `/credentials/${item.id}`)).toMatchObject({ body: { status: 'issued', version: 1 } });
});

it('moves a grant to another door, once', async () => {
  const { item } = await issued({ card: newCard(), grants: [{ door: lobby }] });
  expect(await act(item.id, 'change-door', { from: lobby, to: vault })).toMatchObject({
    status: 200,
    body: { outcome: { status: 'applied', to: 'issued' }, item: { grants: [{ door: vault }], version: 2 } },
  });
  expect(await words('grant', item.id)).toMatchObject([{ door: vault }]);
  expect(await act(item.id, 'change-door', { from: vault, to: vault })).toMatchObject({
    body: { outcome: { status: 'noop', code: 'ALREADY_DONE' } },
  });
  expect(await act(item.id, 'change-door', { from: lobby, to: vault })).toMatchObject({
    status: 422,
    body: { code: 'DOOR_NOT_GRANTED' },
  });
});

it('grants a group door by door, and takes doors away with the group and the grant', async () => {
  const third = await made('/doors', { name: `Third ${randomUUID()}`, lock: null });
  const group = await made('/door-groups', { name: `Wing ${randomUUID()}`, doors: [lobby, vault] });
  const { item } = await issued({ card: newCard(), grants: [{ group }] });
  const doors = async () => (await words('grant', item.id)).map(({ door }) => door).sort();
  expect(await doors()).toEqual([lobby, vault].sort());
  const wing = { name: `Wing ${randomUUID()}`, doors: [third], version: 1 };
  expect((await room.call('PUT', `/door-groups/${group}`, wing)).status).toBe(200);
  expect(await doors()).toEqual([third]);
  expect((await room.call('DELETE', `/door-groups/${group}?version=2`)).body).toMatchObject({
    code: 'STILL_REFERENCED',
  });
  const [grant] = item.grants;
  expect((await room.call('DELETE', `/grants/${grant?.id}?version=1`)).status).toBe(200);
  expect(await doors()).toEqual([]);
  expect((await words('credential', item.id)).length).toBe(1);
  expect((await room.call('DELETE', `/door-groups/${group}?version=2`)).status).toBe(200);
});

it('issues for nobody who is gone, and restores nothing to them', async () => {
  const gone = await made('/holders', { name: 'Gone' });
  const { item } = (await room.call<IssuedReply>('POST', '/credentials', { holder: gone, card: newCard() })).body;
  expect(await room.call('POST', `/holders/${gone}/erase`, { version: 1 })).toMatchObject({
    status: 200,
    body: { name: null, email: null },
  });
  expect(await room.call('GET', `/credentials/${item.id}`)).toMatchObject({ body: { status: 'revoked' } });
  expect(await room.call('POST', '/credentials', { holder: gone, card: newCard() })).toMatchObject({
    status: 422,
    body: { code: 'HOLDER_ERASED', fields: [{ path: '/body/holder' }] },
  });
  const unknown = await room.call('POST', '/credentials', { holder: 'hol_nobody', card: newCard() });
  expect(unknown).toMatchObject({
    status: 422,
    body: { code: 'REFERENCE_UNKNOWN', fields: [{ path: '/body/holder' }] },
  });
});

it('lets staff hand out and take back, and only managers say what is opened', async () => {
  const status = async (body: object, role: 'staff' | 'technician' | 'guest') =>
    (await room.call('POST', '/credentials', { holder, ...body }, { role })).status;
  expect(await status({ card: newCard() }, 'staff')).toBe(201);
  expect(await status({ card: newCard(), grants: [{ door: lobby }] }, 'staff')).toBe(403);
  expect(await status({ card: newCard() }, 'technician')).toBe(403);
  expect(await status({ card: newCard() }, 'guest')).toBe(403);
});
