import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestCloud, type Person } from './test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call } = cloud;
let owner: Person;
let url: string;
beforeAll(async () => {
  owner = await cloud.owner('ida');
  url = `/v1/facilities/${owner.facility}/tokens`;
});
const body = { name: 'booking system', actions: ['issue_credential'] };
const count = async (name: string) => {
  const found = await sql<{ n: number }>`select count(*)::int as n from service_token where name = ${name}`.execute(
    cloud.database.admin,
  );
  return found.rows[0]?.n;
};

it('does a change once, however often it is asked for, and gives the first answer again', async () => {
  const ask = () => call({ as: owner.token, url, body: { ...body, name: 'once' }, key: 'key-of-once' });
  const first = await ask();
  const second = await ask();
  expect(first.status).toBe(201);
  expect(second).toMatchObject({ status: 201, body: first.body });
  expect(first.headers['idempotent-replayed']).toBeUndefined();
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(await count('once')).toBe(1);
});

it('does it once when asked twice at the same time', async () => {
  const ask = () => call({ as: owner.token, url, body: { ...body, name: 'at once' }, key: 'key-of-at-once' });
  const answers = await Promise.all([ask(), ask(), ask(), ask()]);
  expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
  expect(await count('at once')).toBe(1);
});

it('refuses the key with another body, another address or another method', async () => {
  const key = 'key-of-something';
  expect((await call({ as: owner.token, url, body, key })).status).toBe(201);
  const others = [
    { url, body: { ...body, name: 'other' } },
    { url: `/v1/facilities/${owner.facility}/invitations`, body: { email: 'x@example.test', role: 'staff' } },
    { method: 'PATCH' as const, url: `/v1/facilities/${owner.facility}`, body: { version: 1 } },
  ];
  for (const other of others) {
    const refused = await call({ as: owner.token, key, ...other });
    expect(refused).toMatchObject({ status: 422, body: { code: 'IDEMPOTENCY_KEY_REUSED' } });
  }
});

it('wants a key for every change', async () => {
  for (const key of ['', 'short', 'with a space in it', 'k'.repeat(129)]) {
    const refused = await call({ as: owner.token, url, body, key });
    expect(refused).toMatchObject({ status: 400, body: { code: 'IDEMPOTENCY_KEY_MISSING' } });
  }
});

it('keeps no refusal: what was refused may be tried again under the same key', async () => {
  const place = `/v1/facilities/${owner.facility}`;
  const key = 'key-of-refused';
  const body = { version: 99, name: 'Later' };
  expect((await call({ as: owner.token, method: 'PATCH', url: place, body, key })).status).toBe(409);
  await sql`select set_config('app.verb', 'test', false)`.execute(cloud.database.admin);
  await sql`update facility set version = 99 where id = ${owner.facility}`.execute(cloud.database.admin);
  expect((await call({ as: owner.token, method: 'PATCH', url: place, body, key })).status).toBe(200);
});

it('lets two people use the same key, each for their own', async () => {
  const other = await cloud.owner('ivan');
  const key = 'key-of-two';
  const mine = await call({ as: owner.token, url, body, key });
  const theirs = await call({ as: other.token, url: `/v1/facilities/${other.facility}/tokens`, body, key });
  expect([mine.status, theirs.status]).toEqual([201, 201]);
  expect(theirs.body.id).not.toBe(mine.body.id);
});

it('keeps an answer sealed, since it may hold what is shown once', async () => {
  const { body: made } = await call({ as: owner.token, url, body, key: 'key-of-sealed' });
  const kept = await sql<{ text: string }>`select idempotency_key::text as text from idempotency_key`.execute(
    cloud.database.admin,
  );
  expect(kept.rows.length).toBeGreaterThan(3);
  for (const { text } of kept.rows) {
    expect(text).not.toContain(made.token);
    expect(Buffer.from(made.token).toString('hex') && text).not.toContain(Buffer.from(made.token).toString('hex'));
  }
});
