import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { lockMs } from '#cloud/identity/lockout.ts';
import { isAcceptablePassword } from '#cloud/identity/password-rule.ts';
import { sweepIdentity } from '#cloud/identity/sweep.ts';
import { openTestCloud, password } from '../http/test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call, database } = cloud;

// Each from an address of its own: what is tried here is the lock on the account.
let from = 0;
const logIn = (email: string, word: string) => {
  from += 1;
  return cloud.cloud.app
    .inject({
      method: 'POST',
      url: '/v1/sessions',
      remoteAddress: `10.0.${from >> 8}.${from & 255}`,
      payload: { email, password: word },
    })
    .then((response) => ({ status: response.statusCode, body: response.json(), headers: response.headers }));
};
const unlock = () => sql`update login_failure set locked_until = now() - interval '1 second'`.execute(database.admin);

it('lets nobody guess on: five wrong ones lock the address, then each for longer', async () => {
  const owner = await cloud.owner('anna');
  for (let index = 0; index < 5; index += 1) {
    expect(await logIn(owner.email, `wrong ${index}`)).toMatchObject({ status: 401, body: { code: 'LOGIN_FAILED' } });
  }
  const locked = await logIn(owner.email, password);
  expect(locked).toMatchObject({ status: 429, body: { code: 'LOGIN_LOCKED' } });
  expect(Number(locked.headers['retry-after'])).toBeGreaterThan(20);
  await unlock();
  expect((await logIn(owner.email, 'wrong again')).status).toBe(401);
  expect(Number((await logIn(owner.email, password)).headers['retry-after'])).toBeGreaterThan(50);
  await unlock();
  expect((await logIn(owner.email, password)).status).toBe(201);
  expect((await logIn(owner.email, password)).status).toBe(201);
});

it('answers alike, and locks alike, for an address that nobody has', async () => {
  const owner = await cloud.owner('bert');
  const told = async (email: string) => {
    const answers = [];
    for (let index = 0; index < 7; index += 1) {
      const { status, body } = await logIn(email, 'wrong wrong');
      answers.push([status, body.code, body.title]);
    }
    return answers;
  };
  expect(await told('nobody@example.test')).toEqual(await told(owner.email));
});

it('counts tries that come at once as if they came one by one', async () => {
  const owner = await cloud.owner('carl');
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => logIn(owner.email, `wrong ${index}`)));
  expect(answers.filter(({ status }) => status === 401).length).toBeLessThanOrEqual(5);
  expect(answers.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(15);
});

it('survives a restart: the count is in the database', async () => {
  const rows = await sql<{ n: number }>`select count(*)::int as n from login_failure where failures >= 5`.execute(
    database.admin,
  );
  expect(rows.rows[0]?.n).toBeGreaterThan(0);
});

it('forgets old failures by the sweep', async () => {
  await sql`update login_failure set failed_at = now() - interval '2 days'`.execute(database.admin);
  await sweepIdentity(database.worker);
  expect((await sql`select from login_failure`.execute(database.admin)).rows).toHaveLength(0);
});

it('limits one address much harder where it tries passwords', async () => {
  const statuses = [];
  for (let index = 0; index < 31; index += 1) {
    const { status } = await call({ url: '/v1/sessions', body: { email: `g${index}@example.test`, password: 'x' } });
    statuses.push(status);
  }
  expect(statuses.at(-1)).toBe(429);
});

it('waits longer with each failure, up to a quarter of an hour', () => {
  expect([1, 4, 5, 6, 7, 9, 10, 11, 1_000].map(lockMs)).toEqual([
    0, 0, 30_000, 60_000, 120_000, 480_000, 900_000, 900_000, 900_000,
  ]);
});

it('takes a password that is long and not the first one tries', () => {
  const isTaken = (word: string) => isAcceptablePassword(word, 'tomoko.sato@example.test');
  expect(['correct horse battery', 'うさぎは月で餅をつく夜更け', 'x9!kQ2#mZ7$p'].every(isTaken)).toBe(true);
  for (const weak of [
    '',
    'short',
    'aaaaaaaaaaaaaaa',
    'Password1234',
    'tomoko.sato12',
    'qwertyuiop123',
    'x'.repeat(129),
  ]) {
    expect(isTaken(weak), weak).toBe(false);
  }
});
