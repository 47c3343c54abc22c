import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { reconcileFeed } from '#cloud/credential/reconcile-feed.ts';
import { sweepKeys } from '#cloud/credential/sweep-keys.ts';
import { openRoom, type Room } from './open-room.ts';

let room: Room;
let holder: string;
beforeAll(async () => {
  room = await openRoom();
  holder = await made('/holders', { name: 'Hanako' });
});
afterAll(() => room.close());

async function made(path: string, body: object): Promise<string> {
  const reply = await room.call<{ id: string }>('POST', path, body);
  expect(reply, JSON.stringify(reply)).toMatchObject({ status: 201 });
  return reply.body.id;
}

let cards = 0;
async function issue(body: object): Promise<string> {
  cards += 1;
  const card = { format: 'H10301', facility: 9, number: cards };
  const reply = await room.call<{ item: { id: string } }>('POST', '/credentials', { holder, card, ...body });
  expect(reply, JSON.stringify(reply)).toMatchObject({ status: 201 });
  return reply.body.item.id;
}

const statusOf = async (id: string) => (await room.call<{ status: string }>('GET', `/credentials/${id}`)).body.status;
const set = (id: string, what: ReturnType<typeof sql>) =>
  sql`update credential set ${what} where id = ${id}`.execute(room.database.admin);

it('ends what is over, suspended or not, and nothing that still has time', async () => {
  const validUntil = new Date(Date.now() + 3_600_000).toISOString();
  const [over, paused, running, endless] = [
    await issue({ validUntil }),
    await issue({ validUntil }),
    await issue({ validUntil }),
    await issue({}),
  ];
  await room.call('POST', `/credentials/${paused}/suspend`, {});
  for (const id of [over, paused]) await set(id, sql`valid_until = now() - interval '1 second'`);
  expect(await sweepKeys(room.database.worker)).toMatchObject({ ended: 2 });
  expect(await Promise.all([over, paused, running, endless].map(statusOf))).toEqual([
    'expired',
    'expired',
    'issued',
    'issued',
  ]);
  expect(await sweepKeys(room.database.worker)).toMatchObject({ ended: 0 });
});

it('takes back the keys of whoever lost the role they came with', async () => {
  const user = room.userOf('technician');
  const staff = await made('/holders', { name: 'Taro', user });
  const id = await issue({ holder: staff });
  expect(await sweepKeys(room.database.worker)).toMatchObject({ ended: 0 });
  await sql`delete from role_assignment where facility_id = ${room.facility} and user_id = ${user}`.execute(
    room.database.admin,
  );
  expect(await sweepKeys(room.database.worker)).toMatchObject({ ended: 1 });
  expect(await statusOf(id)).toBe('revoked');
  const again = await room.call('POST', '/credentials', { holder: staff, card: { bits: '10101' } });
  expect(again).toMatchObject({ status: 422, body: { code: 'HOLDER_WITHOUT_ROLE' } });
  const log = await sql<{ actor: string; reason: string }>`select actor, reason from state_transition_log
    where entity_id = ${id} order by id desc limit 1`.execute(room.database.admin);
  expect(log.rows).toEqual([{ actor: 'worker:keys', reason: 'sweep' }]);
});

it('forgets what ended three months ago, at the gateways too, and its card is as new', async () => {
  const id = await issue({});
  await room.call('POST', `/credentials/${id}/revoke`, {});
  expect(await sweepKeys(room.database.worker)).toMatchObject({ forgotten: 0 });
  await set(id, sql`ended_at = now() - interval '91 days'`);
  expect(await sweepKeys(room.database.worker)).toMatchObject({ forgotten: 1 });
  const left = await sql`select from feed_source where kind = 'credential' and key = ${id}`.execute(
    room.database.admin,
  );
  expect(left.rows).toEqual([]);
});

it('remembers a short PIN that ended for a day: their space would fill', async () => {
  const issuePin = async (digits: number): Promise<string> => {
    const body = { holder, pin: { digits } };
    return (await room.call<{ item: { id: string } }>('POST', '/credentials', body)).body.item.id;
  };
  const [short, long] = [await issuePin(4), await issuePin(6)];
  for (const id of [short, long]) {
    await room.call('POST', `/credentials/${id}/revoke`, {});
    await set(id, sql`ended_at = now() - interval '2 days'`);
  }
  expect(await sweepKeys(room.database.worker)).toMatchObject({ forgotten: 1 });
  const left = await sql<{ id: string }>`select id from credential where lookup is not null and kind = 'pin'`.execute(
    room.database.admin,
  );
  expect(left.rows).toEqual([{ id: long }]);
});

it('looks after every facility, each in its own name', async () => {
  const there = await room.call<{ id: string }>('POST', '/holders', { name: 'Other' }, { facility: room.other });
  const body = { holder: there.body.id, card: { bits: '110011' } };
  const issued = await room.call<{ item: { id: string } }>('POST', '/credentials', body, { facility: room.other });
  await set(issued.body.item.id, sql`valid_until = now() - interval '1 second'`);
  expect(await sweepKeys(room.database.worker)).toMatchObject({ ended: 1 });
});

it('forgets enrolment windows of days ago', async () => {
  const door = await made('/doors', { name: 'Lobby', lock: null });
  const reader = await made('/readers', { name: 'In', door, device: 'dev1' });
  const insert = (id: string, hours: number) =>
    sql`insert into enrolment_window
    (facility_id, id, reader_id, gateway_id, opened_by, opened_at, closes_at) values (${room.facility}, ${id}, ${reader}, 'gwy_x',
    'test', now() - make_interval(hours => ${hours + 1}), now() - make_interval(hours => ${hours}))`.execute(
      room.database.admin,
    );
  await insert('win_old', 30);
  await insert('win_new', 1);
  await sweepKeys(room.database.worker);
  const left = await sql<{ id: string }>`select id from enrolment_window`.execute(room.database.admin);
  expect(left.rows).toEqual([{ id: 'win_new' }]);
});

it('finds what was said wrongly, says it right, and tells that it did', async () => {
  const id = await issue({});
  expect(await reconcileFeed(room.database.worker)).toBe(0);
  await sql`update feed_source set row = row || '{"status": "suspended"}' where key = ${id}`.execute(
    room.database.admin,
  );
  await sql`insert into feed_source (facility_id, kind, key, door_id, row) values
    (${room.facility}, 'door', 'dor_ghost', 'dor_ghost', '{"id": "dor_ghost"}')`.execute(room.database.admin);
  expect(await reconcileFeed(room.database.worker)).toBe(2);
  expect(await reconcileFeed(room.database.worker)).toBe(0);
  const said = await sql<{ row: { status: string } }>`select row from feed_source
    where facility_id = ${room.facility} and (key = ${id} or key = 'dor_ghost')`.execute(room.database.admin);
  expect(said.rows).toMatchObject([{ row: { status: 'issued' } }]);
  const audited = await sql<{
    detail: object;
  }>`select detail from audit_event where action = 'feed.reconciled'`.execute(room.database.admin);
  expect(audited.rows).toEqual([{ detail: { rows: 1 } }, { detail: { rows: 1 } }]);
});
