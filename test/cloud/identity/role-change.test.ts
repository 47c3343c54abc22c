import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { openTestCloud, type Person } from '../http/test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call } = cloud;

const put = (by: Person, of: Person, role: string, version = 1) =>
  call({
    as: by.token,
    method: 'PUT',
    url: `/v1/facilities/${by.facility}/members/${of.user}/role`,
    body: { role, version },
  });

it('changes a role within one’s own rank, by any of its names, once', async () => {
  const owner = await cloud.owner('rolf');
  const staff = await cloud.member(owner, 'rita', 'staff');
  expect(await put(owner, staff, 'Facility-Admin')).toMatchObject({
    status: 200,
    body: { role: 'facility_manager', version: 2 },
  });
  expect(await put(owner, staff, 'staff', 1)).toMatchObject({
    status: 409,
    body: { code: 'VERSION_STALE', current: { role: 'facility_manager', version: 2 } },
  });
  expect((await put(owner, staff, 'manager', 2)).status).toBe(200);
  expect((await put(owner, staff, 'boss', 2)).body.fields[0]).toMatchObject({
    path: '/body/role',
    key: 'field.not_allowed',
  });
});

it('lets nobody change their own role, nor give or take one above their own', async () => {
  const owner = await cloud.owner('sven');
  const manager = await cloud.member(owner, 'sara', 'facility_manager');
  const staff = await cloud.member(owner, 'seth', 'staff');
  expect(await put(owner, owner, 'staff')).toMatchObject({ status: 403, body: { code: 'ROLE_OF_ONESELF' } });
  expect(await put(manager, manager, 'owner')).toMatchObject({ status: 403, body: { code: 'ROLE_OF_ONESELF' } });
  expect(await put(manager, staff, 'owner')).toMatchObject({ status: 403, body: { code: 'ROLE_ABOVE_OWN_RANK' } });
  expect(await put(manager, owner, 'guest')).toMatchObject({ status: 403, body: { code: 'ROLE_ABOVE_OWN_RANK' } });
  expect(await put(staff, manager, 'guest')).toMatchObject({ status: 403, body: { code: 'NOT_AUTHORIZED' } });
  expect((await put(manager, staff, 'technician')).status).toBe(200);
});

it('holds the same by row security alone, whatever is written above it', async () => {
  const owner = await cloud.owner('tara');
  const manager = await cloud.member(owner, 'theo', 'facility_manager');
  const staff = await cloud.member(owner, 'tina', 'staff');
  const outsider = await cloud.owner('ugo');
  const { facility } = owner;
  const as = (person: Person, role: string) => ({
    actor: `user:${person.user}`,
    userId: person.user,
    facilityIds: [facility],
    roles: { [facility]: role },
  });
  const update = (person: Person, role: string, of: Person, to: string) =>
    tenantTransaction(cloud.database.app, as(person, role), async (transaction) => {
      const done = await transaction
        .updateTable('role_assignment')
        .set({ role: to })
        .where('facility_id', '=', facility)
        .where('user_id', '=', of.user)
        .executeTakeFirst();
      return Number(done.numUpdatedRows);
    }).catch((error: Error) => error.message);
  expect(await update(manager, 'facility_manager', owner, 'staff')).toBe(0);
  expect(await update(manager, 'facility_manager', manager, 'staff')).toBe(0);
  expect(await update(staff, 'staff', manager, 'guest')).toBe(0);
  expect(await update(manager, 'facility_manager', staff, 'owner')).toMatch(/row-level security/);
  expect(await update(manager, 'facility_manager', staff, 'guest')).toBe(1);
  const insert = (person: Person, role: string, user: string, to: string) =>
    tenantTransaction(cloud.database.app, as(person, role), (transaction) =>
      transaction
        .insertInto('role_assignment')
        .values({ facility_id: facility, id: `rol_${user}`, user_id: user, role: to, assigned_by: person.user })
        .execute(),
    ).then(
      () => 'inserted',
      (error: Error) => error.message,
    );
  expect(await insert(outsider, '', outsider.user, 'owner')).toMatch(/row-level security/);
  expect(await insert(outsider, 'owner', outsider.user, 'owner')).toMatch(/row-level security/);
  expect(await insert(staff, 'staff', outsider.user, 'guest')).toMatch(/row-level security/);
  expect(await insert(manager, 'facility_manager', outsider.user, 'owner')).toMatch(/row-level security/);
  expect(await insert(manager, 'facility_manager', outsider.user, 'staff')).toBe('inserted');
});

it('lets a request change of a row only what may change', async () => {
  const owner = await cloud.owner('tilo');
  const claims = {
    actor: `user:${owner.user}`,
    userId: owner.user,
    facilityIds: [owner.facility],
    roles: { [owner.facility]: 'owner' },
    organizationId: owner.organization,
  };
  const tried = async (statement: string) => {
    const work = tenantTransaction(cloud.database.app, claims, (transaction) =>
      sql.raw(statement).execute(transaction),
    );
    return work.then(
      () => 'done',
      (error: Error) => error.message,
    );
  };
  expect(await tried(`update facility set name = 'Other'`)).toBe('done');
  for (const statement of [
    `update facility set organization_id = 'org_other'`,
    `update facility set lookup_key_sealed = 'x'`,
    `update facility set created_at = now(), created_by = '${owner.user}'`,
    `update app_user set email = 'other@example.test'`,
    `update app_user set email_verified_at = now()`,
    `update role_assignment set user_id = 'usr_other'`,
    `update invitation set email = 'other@example.test'`,
    `update service_token set actions = '{manage_token}'`,
    `update user_session set ends_at = now() + interval '10 years'`,
  ]) {
    expect(await tried(statement), statement).toMatch(/permission denied/);
  }
});

it('stops counting a role at once when it is taken away, though the access token still names it', async () => {
  const owner = await cloud.owner('vera');
  const manager = await cloud.member(owner, 'vito', 'facility_manager');
  const url = `/v1/facilities/${owner.facility}`;
  expect((await call({ as: manager.token, url })).status).toBe(200);
  const removed = await call({
    as: owner.token,
    method: 'DELETE',
    url: `${url}/members/${manager.user}/role?version=1`,
  });
  expect(removed).toMatchObject({ status: 200, body: { removed: true } });
  expect(await call({ as: manager.token, url })).toMatchObject({ status: 404 });
  expect((await call({ as: manager.token, url: '/v1/me' })).body.facilities).toEqual([]);
});

it('counts a lowered role as nothing until the session is refreshed, and then as what it is', async () => {
  const owner = await cloud.owner('walt');
  const manager = await cloud.member(owner, 'wilma', 'facility_manager');
  const url = `/v1/facilities/${owner.facility}/members`;
  expect((await put(owner, manager, 'staff')).status).toBe(200);
  expect((await call({ as: manager.token, url })).status).toBe(404);
  await cloud.refresh(manager);
  expect((await call({ as: manager.token, url })).status).toBe(403);
  expect((await call({ as: manager.token, url: `/v1/facilities/${owner.facility}` })).status).toBe(200);
});

it('leaves an owner when two owners take each other’s role at once', async () => {
  const one = await cloud.owner('xenia');
  const two = await cloud.member(one, 'xaver', 'owner');
  const answers = await Promise.all([put(one, two, 'staff'), put(two, one, 'staff')]);
  expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
  const owners = await sql<{ n: number }>`select count(*)::int as n from role_assignment
    where facility_id = ${one.facility} and role = 'owner'`.execute(cloud.database.admin);
  expect(owners.rows[0]?.n).toBe(1);
});

it('does not let the only owner of a facility close their account, and lets others', async () => {
  const owner = await cloud.owner('yuri');
  const staff = await cloud.member(owner, 'yara', 'staff');
  const leave = (person: Person) => call({ as: person.token, method: 'DELETE', url: '/v1/me' });
  expect(await leave(owner)).toMatchObject({ status: 422, body: { code: 'LAST_OWNER' } });
  expect(await leave(staff)).toMatchObject({ status: 200 });
  expect((await call({ as: staff.token, url: '/v1/me' })).status).toBe(401);
  expect((await call({ url: '/v1/sessions/refresh', body: { refreshToken: staff.refreshToken } })).status).toBe(401);
  await expect(cloud.logIn(staff.email)).rejects.toThrow('LOGIN_FAILED');
});

it('writes what was changed into the audit chain, for owners to read', async () => {
  const owner = await cloud.owner('zora');
  const staff = await cloud.member(owner, 'zeno', 'staff');
  await put(owner, staff, 'technician');
  const { status, body } = await call({ as: owner.token, url: `/v1/facilities/${owner.facility}/audit?limit=2` });
  expect(status).toBe(200);
  expect(body.items[0]).toMatchObject({
    action: 'role.changed',
    actor: `user:${owner.user}`,
    entity: staff.user,
    detail: { from: 'staff', to: 'technician' },
  });
  expect(body.items[0].seq).toBe(body.items[1].seq + 1);
  const older = await call({ as: owner.token, url: `/v1/facilities/${owner.facility}/audit?cursor=${body.next}` });
  expect(older.body.items.at(-1)).toMatchObject({ seq: 1, action: 'facility.created' });
  expect((await call({ as: staff.token, url: `/v1/facilities/${owner.facility}/audit` })).status).toBe(404);
});
