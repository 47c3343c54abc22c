import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openRoom, type Room } from './open-room.ts';

let room: Room;
beforeAll(async () => {
  room = await openRoom();
});
afterAll(() => room.close());

const door = (name: string, more: object = {}) => ({ name, lock: null, ...more });
const fresh = (word: string): string => `${word} ${randomUUID()}`;

interface Made {
  readonly id: string;
  readonly version: number;
  readonly [field: string]: unknown;
}

async function make(path: string, body: object): Promise<Made> {
  const reply = await room.call<Made>('POST', path, body);
  expect(reply, JSON.stringify(reply)).toMatchObject({ status: 201 });
  return reply.body;
}

async function lastWord(kind: string, key: string): Promise<Record<string, unknown> | undefined> {
  const found = await sql<{ row: Record<string, unknown> }>`select row from feed_source
    where facility_id = ${room.facility} and kind = ${kind} and key = ${key}`.execute(room.database.admin);
  return found.rows[0]?.row;
}

it('makes a door with every default said, and tells the gateways of it', async () => {
  const made = await make('/doors', door(fresh('Door')));
  expect(made).toMatchObject({ version: 1, strikeMs: 5_000, secondFactor: 'never', gateway: null });
  expect(await lastWord('door', made.id)).toMatchObject({ id: made.id, strikeMs: 5_000, relockOnOpen: true });
  expect(await lastWord('facility', room.facility)).toMatchObject({ zone: 'Asia/Tokyo' });
});

it('refuses unknown fields, and says each field that is wrong by its path', async () => {
  const reply = await room.call('POST', '/doors', door('x', { strikeMs: 1, colour: 'red' }));
  expect(reply).toMatchObject({ status: 422, body: { code: 'REQUEST_INVALID' } });
  const paths = (reply.body['fields'] as { path: string; key: string }[]).map(({ path, key }) => `${path} ${key}`);
  expect(paths.sort()).toEqual(['/body/colour field.unknown', '/body/strikeMs field.too_small']);
});

it('answers a stale change with 409 and what it is now', async () => {
  const made = await make('/holidays', { name: fresh('Day'), date: '2027-01-01' });
  const next = { name: fresh('Day'), date: '2027-01-02', version: 1 };
  expect(await room.call('PUT', `/holidays/${made.id}`, next)).toMatchObject({ status: 200, body: { version: 2 } });
  const stale = await room.call('PUT', `/holidays/${made.id}`, next);
  expect(stale).toMatchObject({
    status: 409,
    body: { code: 'VERSION_STALE', current: { version: 2, date: '2027-01-02' } },
  });
});

it('writes once for one key, however often it is asked', async () => {
  const body = { name: fresh('Day'), date: '2027-02-01' };
  const first = await room.call('POST', '/holidays', body, { key: 'a-key-for-one-holiday' });
  const again = await room.call('POST', '/holidays', body, { key: 'a-key-for-one-holiday' });
  expect(again).toEqual(first);
});

it('keeps names and days apart within a facility, and not across facilities', async () => {
  const name = fresh('Lobby');
  await make('/doors', door(name));
  expect(await room.call('POST', '/doors', door(name))).toMatchObject({
    status: 409,
    body: { code: 'ALREADY_EXISTS', fields: [{ path: '/body/name', key: 'field.taken' }] },
  });
  const elsewhere = await room.call('POST', '/doors', door(name), { facility: room.other });
  expect(elsewhere.status).toBe(201);
});

it('says which reference names nothing, in the words for absent and foreign alike', async () => {
  const foreign = await room.call<Made>('POST', '/schedules', plain(fresh('Hours')), { facility: room.other });
  for (const schedule of ['sch_nothing', foreign.body.id]) {
    const reply = await room.call('POST', '/doors', door(fresh('Door'), { secondFactor: { schedule } }));
    expect(reply).toMatchObject({
      status: 422,
      body: { code: 'REFERENCE_UNKNOWN', fields: [{ path: '/body/secondFactor/schedule' }] },
    });
    expect(JSON.stringify(reply.body)).not.toContain(foreign.body.id);
  }
});

const plain = (name: string) => ({ name, weekly: [{ days: ['mon'], from: '08:00', until: '19:00' }] });

it('does not delete what is still used, and does once it is not', async () => {
  await make('/schedules', plain(fresh('Hours')));
  const schedule = await make('/schedules', plain(fresh('Hours')));
  const kept = await make('/doors', door(fresh('Door'), { freeSchedule: schedule.id }));
  const remove = () => room.call('DELETE', `/schedules/${schedule.id}?version=1`);
  expect(await remove()).toMatchObject({ status: 422, body: { code: 'STILL_REFERENCED' } });
  expect((await room.call('PUT', `/doors/${kept.id}`, { ...door(fresh('Door')), version: 1 })).status).toBe(200);
  expect(await lastWord('schedule', schedule.id)).toBeDefined();
  expect(await remove()).toMatchObject({ status: 200, body: { id: schedule.id } });
  expect(await lastWord('schedule', schedule.id)).toBeUndefined();
  expect((await room.call('GET', `/schedules/${schedule.id}`)).status).toBe(404);
  expect((await remove()).status).toBe(404);
});

it('refuses schedules that say nothing, and intervals without a length', async () => {
  const none = await room.call('POST', '/schedules', { name: fresh('Hours'), weekly: [] });
  expect(none).toMatchObject({ status: 422, body: { fields: [{ path: '/body/weekly', key: 'field.required' }] } });
  const flat = { name: fresh('Hours'), weekly: [{ days: ['mon'], from: '08:00', until: '08:00' }] };
  expect(await room.call('POST', '/schedules', flat)).toMatchObject({
    status: 422,
    body: { fields: [{ path: '/body/weekly/0/until', key: 'field.end_before_start' }] },
  });
});

it('makes readers and groups of doors that are there', async () => {
  const made = await make('/doors', door(fresh('Door')));
  const reader = await make('/readers', { name: 'In', door: made.id, device: 'osdp-1', cardFormats: ['H10301'] });
  expect(await lastWord('reader', reader.id)).toMatchObject({ door: made.id, head: 0, cardFormats: ['H10301'] });
  const wrong = await room.call('POST', '/readers', { name: 'In', door: made.id, device: 'd', cardFormats: ['H1'] });
  expect(wrong).toMatchObject({ status: 422, body: { fields: [{ path: '/body/cardFormats/0' }] } });
  const group = await make('/door-groups', { name: fresh('Group'), doors: [made.id] });
  expect(group).toMatchObject({ doors: [made.id] });
  const missing = await room.call('POST', '/door-groups', { name: fresh('Group'), doors: [made.id, 'dor_none'] });
  expect(missing).toMatchObject({ status: 422, body: { fields: [{ path: '/body/doors/1' }] } });
});

it('goes through a list page by page, each thing once, and takes no cursor of another list', async () => {
  for (let at = 0; at < 7; at += 1) await make('/holders', { name: fresh('Holder') });
  const seen: string[] = [];
  let cursor = '';
  do {
    const page = await room.call<{ items: Made[]; next?: string }>('GET', `/holders?limit=3${cursor}`);
    seen.push(...page.body.items.map(({ id }) => id));
    cursor = page.body.next === undefined ? '' : `&cursor=${page.body.next}`;
    if (page.body.next !== undefined) {
      expect((await room.call('GET', `/doors?cursor=${page.body.next}`)).status).toBe(400);
    }
  } while (cursor !== '');
  const total = await sql<{
    n: number;
  }>`select count(*)::int as n from holder where facility_id = ${room.facility}`.execute(room.database.admin);
  expect(seen.length).toBe(total.rows[0]?.n);
  expect(new Set(seen).size).toBe(seen.length);
});

it.each(['/doors', '/holders', '/schedules', '/readers', '/door-groups', '/holidays'])(
  'shows nothing of %s to another facility: the same as what is not there',
  async (path) => {
    const list = await room.call<{ items: Made[] }>('GET', `${path}?limit=1`);
    const [item] = list.body.items;
    if (item === undefined) throw new Error(`no ${path} to look for`);
    for (const id of [item.id, 'nothing_here']) {
      const read = await room.call('GET', `${path}/${id}`, undefined, { facility: room.other });
      expect(read).toMatchObject({ status: 404, body: { code: 'NOT_FOUND' } });
    }
  },
);

it('lets staff and technicians read doors and not write them, and guests do neither', async () => {
  const status = async (method: string, role: 'staff' | 'technician' | 'guest') =>
    (await room.call(method, '/doors', method === 'GET' ? undefined : door(fresh('Door')), { role })).status;
  expect([await status('GET', 'staff'), await status('GET', 'technician'), await status('GET', 'guest')]).toEqual([
    200, 200, 403,
  ]);
  expect([await status('POST', 'staff'), await status('POST', 'technician'), await status('POST', 'guest')]).toEqual([
    403, 403, 403,
  ]);
  expect((await room.call('GET', '/holders', undefined, { role: 'technician' })).status).toBe(403);
});
