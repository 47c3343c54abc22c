import { afterAll, expect, it } from 'vitest';
import { openTestCloud } from '../http/test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call } = cloud;

it('lets an owner in, who sees the facility and nothing else', async () => {
  const anna = await cloud.owner('anna');
  await cloud.owner('boris');
  const me = await call({ as: anna.token, url: '/v1/me' });
  expect(me.body).toMatchObject({ kind: 'person', email: 'anna@example.test' });
  expect(me.body.facilities).toEqual([{ id: anna.facility, role: 'owner' }]);
  const { body } = await call({ as: anna.token, url: '/v1/facilities' });
  expect(body.items.map((item: { id: string }) => item.id)).toEqual([anna.facility]);
});

it('lets a manager of one facility be staff of another, and do there only what staff may', async () => {
  const a = await cloud.owner('alpha');
  const b = await cloud.owner('beta');
  const manager = await cloud.member(a, 'mia', 'facility_manager');
  const url = `/v1/facilities/${b.facility}/invitations`;
  const invited = await call({ as: b.token, url, body: { email: manager.email, role: 'member' } });
  expect(invited.status).toBe(201);
  const accepted = await call({
    as: manager.token,
    url: '/v1/invitations/accept',
    body: { token: invited.body.token },
  });
  expect(accepted).toMatchObject({ status: 200, body: { outcome: { status: 'applied', to: 'accepted' } } });
  await cloud.refresh(manager);
  const me = await call({ as: manager.token, url: '/v1/me' });
  expect(
    Object.fromEntries(me.body.facilities.map((held: { id: string; role: string }) => [held.id, held.role])),
  ).toEqual({
    [a.facility]: 'facility_manager',
    [b.facility]: 'staff',
  });
  const tries = { email: 'x@example.test', role: 'guest' };
  expect((await call({ as: manager.token, url: `/v1/facilities/${a.facility}/invitations`, body: tries })).status).toBe(
    201,
  );
  expect(await call({ as: manager.token, url: `/v1/facilities/${b.facility}/invitations`, body: tries })).toMatchObject(
    {
      status: 403,
      body: { code: 'NOT_AUTHORIZED' },
    },
  );
});
