import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deriveFeedRows } from '#cloud/credential/derive-feed-rows.ts';
import { readSaid } from '#cloud/credential/read-said.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { storedChange } from '#cloud/gateway-sync/feed-draft.ts';
import { type CanonicalValue, canonicalText } from '#shared/canonical.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';
import { openRoom, type Room } from './open-room.ts';

const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 1_000_000);
const rounds = process.env['KANNUKI_FULL'] === '1' ? 150 : 25;
/** So many people at work at once. */
const atOnce = 4;

let room: Room;
beforeAll(async () => {
  room = await openRoom();
});
afterAll(() => room.close());

const tables = [
  'schedule',
  'holiday',
  'door',
  'reader',
  'door_group',
  'holder',
  'credential',
  'credential_grant',
] as const;
type Table = (typeof tables)[number];

async function idsOf(table: Table): Promise<readonly { id: string; version: number }[]> {
  const isThere = table === 'holder' || table === 'credential' ? sql`` : sql`and deleted_at is null`;
  const found = await sql<{ id: string; version: number }>`select id, version from ${sql.table(table)}
    where facility_id = ${room.facility} ${isThere} order by id`.execute(room.database.admin);
  return found.rows;
}

/** The facility's last words, and what they should be, as sorted text. */
async function words(): Promise<{ readonly said: readonly string[]; readonly derived: readonly string[] }> {
  const ids = Object.fromEntries(
    await Promise.all(tables.map(async (table) => [table, (await idsOf(table)).map(({ id }) => id)] as const)),
  ) as Record<Table, string[]>;
  const said = await sql<{ kind: string; key: string; row: CanonicalValue }>`select kind, key, row from feed_source
    where facility_id = ${room.facility}`.execute(room.database.admin);
  const derived = await tenantTransaction(
    room.database.app,
    { actor: 'test', facilityIds: [room.facility] },
    async (transaction) =>
      deriveFeedRows(
        await readSaid(transaction, room.facility, {
          facility: true,
          schedules: ids.schedule,
          holidays: ids.holiday,
          doors: ids.door,
          readers: ids.reader,
          holders: ids.holder,
        }),
      ),
  );
  return {
    said: said.rows.map(({ kind, key, row }) => `${kind} ${key} ${canonicalText(row)}`).sort(),
    derived: derived
      .map(storedChange)
      .map(({ kind, key, row }) => `${kind} ${key} ${canonicalText(row as CanonicalValue)}`)
      .sort(),
  };
}

type Act = (random: () => number) => Promise<number>;

function pick<Item>(items: readonly Item[], random: () => number): Item | undefined {
  return items[Math.floor(random() * items.length)];
}

const name = () => ({ name: randomUUID() });
const weekly = [{ days: ['mon'], from: '08:00', until: '19:00' }];
const send = async (method: string, path: string, body?: object): Promise<number> =>
  (await room.call(method, path, body)).status;

async function target(random: () => number): Promise<object> {
  const [door, group] = [pick(await idsOf('door'), random), pick(await idsOf('door_group'), random)];
  const schedule = random() < 0.5 ? null : (pick(await idsOf('schedule'), random)?.id ?? null);
  return { schedule, ...(random() < 0.5 && group ? { group: group.id } : { door: door?.id ?? 'none' }) };
}

const bits = (random: () => number) => ({
  bits: `1${Math.floor(random() * 40)
    .toString(2)
    .padStart(25, '0')}`,
});

const acts: readonly Act[] = [
  () => send('POST', '/schedules', { ...name(), weekly }),
  () => send('POST', '/doors', { ...name(), lock: null }),
  async (random) =>
    send('POST', '/readers', { ...name(), door: pick(await idsOf('door'), random)?.id ?? 'x', device: 'd' }),
  () => send('POST', '/holders', name()),
  async (random) => {
    const doors = (await idsOf('door')).filter(() => random() < 0.4).map(({ id }) => id);
    return send('POST', '/door-groups', { ...name(), doors });
  },
  async (random) => {
    const group = pick(await idsOf('door_group'), random);
    const doors = (await idsOf('door')).filter(() => random() < 0.4).map(({ id }) => id);
    return send('PUT', `/door-groups/${group?.id}`, { ...name(), doors, version: group?.version ?? 1 });
  },
  async (random) => {
    const door = pick(await idsOf('door'), random);
    return send('PUT', `/doors/${door?.id}`, { ...name(), lock: null, version: door?.version ?? 1 });
  },
  async (random) => {
    const table = pick(['schedules', 'doors', 'readers', 'door-groups'] as const, random) ?? 'doors';
    const rows = { schedules: 'schedule', doors: 'door', readers: 'reader', 'door-groups': 'door_group' } as const;
    const row = pick(await idsOf(rows[table]), random);
    return random() < 0.3 ? send('DELETE', `/${table}/${row?.id}?version=${row?.version}`) : 200;
  },
  async (random) => {
    const holder = pick(await idsOf('holder'), random);
    return send('PUT', `/holders/${holder?.id}`, { ...name(), version: holder?.version ?? 1 });
  },
  async (random) => {
    const holder = pick(await idsOf('holder'), random)?.id ?? 'x';
    const grants = [await target(random), await target(random)];
    return send('POST', '/credentials', { holder, card: bits(random), grants });
  },
  async (random) => {
    const holder = pick(await idsOf('holder'), random)?.id ?? 'x';
    return send('POST', '/credentials', { holder, pin: { digits: 8 }, grants: [await target(random)] });
  },
  async (random) =>
    send('POST', '/grants', {
      credential: pick(await idsOf('credential'), random)?.id ?? 'x',
      ...(await target(random)),
    }),
  async (random) => {
    const grant = pick(await idsOf('credential_grant'), random);
    return send('DELETE', `/grants/${grant?.id}?version=${grant?.version}`);
  },
  ...(['suspend', 'restore', 'revoke'] as const).map(
    (verb): Act =>
      async (random) =>
        send('POST', `/credentials/${pick(await idsOf('credential'), random)?.id}/${verb}`, {}),
  ),
  async (random) =>
    send('POST', `/credentials/${pick(await idsOf('credential'), random)?.id}/reissue`, { card: bits(random) }),
  async (random) => {
    const [from, to] = [pick(await idsOf('door'), random)?.id ?? 'x', pick(await idsOf('door'), random)?.id ?? 'x'];
    return send('POST', `/credentials/${pick(await idsOf('credential'), random)?.id}/change-door`, { from, to });
  },
  async (random) => {
    const holder = pick(await idsOf('holder'), random);
    return random() < 0.2 ? send('POST', `/holders/${holder?.id}/erase`, { version: holder?.version ?? 1 }) : 200;
  },
];

it(`says of a facility exactly what is derived from it, whatever people do at once (seed ${seed})`, async () => {
  const random = seededRandom(seed);
  const seen = new Map<number, number>();
  for (let at = 0; at < 12; at += 1) for (const first of acts.slice(0, 4)) await first(random);
  for (let round = 0; round < rounds; round += 1) {
    const chosen = Array.from({ length: atOnce }, () => pick(acts, random) ?? acts[0]);
    const statuses = await Promise.all(chosen.map((act) => act?.(random) ?? 0));
    for (const status of statuses) {
      expect(status, `seed ${seed}, round ${round}: a change neither took nor was refused`).toBeLessThan(500);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
    const { said, derived } = await words();
    expect(said, `seed ${seed}, round ${round}`).toEqual(derived);
  }
  expect(seen.get(201) ?? 0, 'most of it took').toBeGreaterThan(5);
}, 300_000);
