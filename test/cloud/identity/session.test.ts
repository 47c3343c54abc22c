import { decodeJwt, SignJWT } from 'jose';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { openTestCloud, type Person, password } from '../http/test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call, database } = cloud;

const refresh = (refreshToken: string) => call({ url: '/v1/sessions/refresh', body: { refreshToken } });
const isIn = async (token: string) => (await call({ as: token, url: '/v1/me' })).status === 200;
const set = (person: Person, column: string, by: string) =>
  sql`update user_session set ${sql.ref(column)} = now() + ${by}::interval where user_id = ${person.user}`.execute(
    database.admin,
  );

it('carries the person, the session and the roles in each facility in the access token', async () => {
  const owner = await cloud.owner('amy');
  expect(decodeJwt(owner.token)).toMatchObject({
    sub: owner.user,
    facility_ids: [owner.facility],
    roles: { [owner.facility]: 'owner' },
    sid: expect.stringMatching(/^ses_/),
  });
});

it('takes no access token that was signed by another key, of another kind, or for another session', async () => {
  const owner = await cloud.owner('ali');
  const claims = decodeJwt(owner.token);
  const [header = '', body = '', signature = ''] = owner.token.split('.');
  const raised = Buffer.from(JSON.stringify({ ...claims, roles: { fac_other: 'owner' } })).toString('base64url');
  const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url');
  const foreign = await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .sign(new Uint8Array(32).fill(7));
  for (const token of [foreign, `${header}.${raised}.${signature}`, `${none}.${body}.`, `${header}.${body}.x`]) {
    expect(await isIn(token), token).toBe(false);
  }
});

it('changes the refresh token with each use, and ends the session when an old one comes back', async () => {
  const owner = await cloud.owner('ben');
  const first = owner.refreshToken;
  const { status, body } = await refresh(first);
  expect(status).toBe(201);
  expect(body.refreshToken).not.toBe(first);
  await set(owner, 'refreshed_at', '-1 minute');
  expect(await refresh(first)).toMatchObject({ status: 401, body: { code: 'SESSION_ENDED' } });
  expect(await isIn(body.accessToken)).toBe(false);
  expect((await refresh(body.refreshToken)).status).toBe(401);
});

it('takes the token before for a moment, since the answer may have been lost', async () => {
  const owner = await cloud.owner('bo');
  const lost = await refresh(owner.refreshToken);
  const again = await refresh(owner.refreshToken);
  expect([lost.status, again.status]).toEqual([201, 201]);
  expect((await refresh(again.body.refreshToken)).status).toBe(201);
});

it('ends this session, or all of them, at once', async () => {
  const owner = await cloud.owner('cal');
  const [second, third] = [await cloud.logIn(owner.email), await cloud.logIn(owner.email)];
  expect((await call({ as: owner.token, url: '/v1/sessions' })).body.items).toHaveLength(3);
  expect((await call({ as: second.token, method: 'DELETE', url: '/v1/sessions/current' })).status).toBe(200);
  expect(await Promise.all([owner.token, second.token, third.token].map(isIn))).toEqual([true, false, true]);
  expect((await call({ as: owner.token, method: 'DELETE', url: '/v1/sessions' })).status).toBe(200);
  expect(await Promise.all([owner.token, second.token, third.token].map(isIn))).toEqual([false, false, false]);
  expect((await refresh(third.refreshToken)).status).toBe(401);
});

it.each([
  ['idle too long', 'idle_until'],
  ['too old', 'ends_at'],
])('is nobody when the session is %s', async (_, column) => {
  const owner = await cloud.owner(column.replaceAll('_', ''));
  await set(owner, column, '-1 second');
  expect(await isIn(owner.token)).toBe(false);
  expect(await refresh(owner.refreshToken)).toMatchObject({ status: 401, body: { code: 'SESSION_ENDED' } });
});

it('puts out somebody who was disabled, at once and everywhere', async () => {
  const owner = await cloud.owner('dirk');
  await sql`update app_user set disabled_at = now() where id = ${owner.user}`.execute(database.admin);
  expect(await isIn(owner.token)).toBe(false);
  expect((await refresh(owner.refreshToken)).status).toBe(401);
  await expect(cloud.logIn(owner.email)).rejects.toThrow('LOGIN_FAILED');
});

it('changes a password only with the one before, refuses a weak one, and ends the other sessions', async () => {
  const owner = await cloud.owner('edda');
  const other = await cloud.logIn(owner.email);
  const change = (current: string, next: string) =>
    call({ as: owner.token, url: '/v1/me/password', body: { current, next } });
  expect(await change('wrong wrong wrong', 'a new long password x')).toMatchObject({ status: 401 });
  expect(await change(password, 'short')).toMatchObject({ status: 422, body: { code: 'PASSWORD_WEAK' } });
  expect((await change(password, 'quite another horse')).status).toBe(200);
  expect(await Promise.all([owner.token, other.token].map(isIn))).toEqual([true, false]);
  await expect(cloud.logIn(owner.email)).rejects.toThrow('LOGIN_FAILED');
});

it('keeps no password and no token in clear', async () => {
  const owner = await cloud.owner('fred');
  const rows = await sql<{ text: string }>`select coalesce(string_agg(t::text, ''), '') as text from
    (select user_password::text as t from user_password union all select user_session::text from user_session) all_rows`.execute(
    database.admin,
  );
  const text = rows.rows[0]?.text ?? '';
  expect(text).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
  for (const secret of [password, owner.refreshToken, Buffer.from(owner.refreshToken).toString('hex')]) {
    expect(text).not.toContain(secret);
  }
});

it('serves somebody of very many facilities, whose roles do not fit into a header', async () => {
  const owner = await cloud.owner('max');
  await sql`insert into facility (id, organization_id, name, zone, pin_salt, lookup_key_sealed, created_by)
    select 'fac_many' || n, ${owner.organization}, 'Many', 'Asia/Tokyo', decode(repeat('00', 16), 'hex'), 'x', ${owner.user}
    from generate_series(1, 600) n`.execute(database.admin);
  await sql`insert into role_assignment (facility_id, id, user_id, role, assigned_by)
    select 'fac_many' || n, 'rol_many' || n, ${owner.user}, 'staff', ${owner.user} from generate_series(1, 600) n`.execute(
    database.admin,
  );
  const { token } = await cloud.logIn(owner.email);
  expect(token.length).toBeLessThan(1_000);
  expect((await call({ as: token, url: '/v1/me' })).body.facilities).toHaveLength(601);
  expect((await call({ as: token, url: '/v1/facilities/fac_many600' })).status).toBe(200);
  expect((await call({ as: token, url: '/v1/facilities/fac_many601' })).status).toBe(404);
  await sql`delete from role_assignment where id = 'rol_many600'`.execute(database.admin);
  expect((await call({ as: token, url: '/v1/facilities/fac_many600' })).status).toBe(404);
});
