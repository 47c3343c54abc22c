import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { openTestCloud, type Person } from '../http/test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call, database } = cloud;

const make = (by: Person, actions: readonly string[], more: object = {}) =>
  call({
    as: by.token,
    url: `/v1/facilities/${by.facility}/tokens`,
    body: { name: 'booking', actions, ...more },
  });

it('may do in its facility what it was given, and nothing else', async () => {
  const owner = await cloud.owner('ada');
  const other = await cloud.owner('abe');
  const { body: made } = await make(owner, ['manage_access']);
  const as: string = made.token;
  const url = `/v1/facilities/${owner.facility}`;
  expect((await call({ as, url: '/v1/me' })).body).toMatchObject({
    kind: 'token',
    id: made.id,
    facilities: [{ id: owner.facility, actions: ['manage_access'] }],
  });
  const version = (await call({ as, url })).body.version;
  expect((await call({ as, method: 'PATCH', url, body: { version, name: 'By token' } })).status).toBe(200);
  expect((await call({ as, url: `${url}/members` })).status).toBe(403);
  expect((await call({ as, url: `${url}/audit` })).status).toBe(403);
  expect((await call({ as, url: `${url}/tokens` })).status).toBe(403);
  expect((await call({ as, url: `/v1/facilities/${other.facility}` })).status).toBe(404);
  expect((await call({ as, method: 'DELETE', url: '/v1/sessions' })).status).toBe(403);
  const { body: log } = await call({ as: owner.token, url: `${url}/audit?limit=1` });
  expect(log.items[0]).toMatchObject({ action: 'facility.changed', actor: `token:${made.id}` });
});

it('is nobody from the moment it is revoked or over', async () => {
  const owner = await cloud.owner('bill');
  const [revoked, over] = [(await make(owner, ['view_journal'])).body, (await make(owner, ['view_journal'])).body];
  const url = `/v1/facilities/${owner.facility}`;
  expect((await call({ as: revoked.token, url })).status).toBe(200);
  const revoke = () => call({ as: owner.token, method: 'POST', url: `${url}/tokens/${revoked.id}/revoke` });
  const first = await revoke();
  expect(first).toMatchObject({ status: 200, body: { revokedAt: expect.any(String) } });
  expect((await revoke()).body.revokedAt).toBe(first.body.revokedAt);
  expect((await call({ as: revoked.token, url })).status).toBe(401);
  await sql`update service_token set expires_at = now() where id = ${over.id}`.execute(database.admin);
  expect((await call({ as: over.token, url })).status).toBe(401);
});

it('is shown once and kept as a hash', async () => {
  const owner = await cloud.owner('cy');
  const { body: made } = await make(owner, ['view_journal']);
  expect(made.token).toMatch(/^kst_[A-Za-z0-9_-]{43}$/);
  const list = await call({ as: owner.token, url: `/v1/facilities/${owner.facility}/tokens` });
  expect(list.body.items[0]).toMatchObject({ id: made.id, actions: ['view_journal'] });
  expect(JSON.stringify(list.body)).not.toContain(made.token);
  const rows = await sql<{ text: string }>`select service_token::text as text from service_token`.execute(
    database.admin,
  );
  for (const { text } of rows.rows) expect(text).not.toContain(made.token.slice(4));
});

it('is made by owners only, and cannot be given what takes a person', async () => {
  const owner = await cloud.owner('dee');
  const manager = await cloud.member(owner, 'don', 'facility_manager');
  expect((await make(manager, ['view_journal'])).status).toBe(403);
  for (const action of ['manage_token', 'invite_member', 'import_facility', 'fly']) {
    expect((await make(owner, [action])).status, action).toBe(422);
  }
  expect((await make(owner, [])).status).toBe(422);
});
