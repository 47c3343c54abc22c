import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { invitationMachine } from '#cloud/identity/invitation-machine.ts';
import { sweepIdentity } from '#cloud/identity/sweep.ts';
import { may } from '#shared/machine.ts';
import { openTestCloud, type Person, password } from '../http/test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call, database } = cloud;

const invite = (by: Person, email: string, role = 'staff') =>
  call({ as: by.token, url: `/v1/facilities/${by.facility}/invitations`, body: { email, role } });
const accept = (as: Person, token: string) => call({ as: as.token, url: '/v1/invitations/accept', body: { token } });
const withdraw = (by: Person, id: string, version = 1) =>
  call({ as: by.token, url: `/v1/facilities/${by.facility}/invitations/${id}/withdraw`, body: { version } });
const register = (token: string, name = 'New') =>
  call({ url: '/v1/invitations/register', body: { token, name, password } });
/** As if its time were over. */
const age = (id: string) =>
  sql`update invitation set expires_at = now() - interval '1 second' where id = ${id}`.execute(database.admin);

it('makes a new person known, once, in the role they were invited to', async () => {
  const owner = await cloud.owner('ann');
  const { body: invited } = await invite(owner, 'New.Person@Example.Test', 'technician');
  expect(invited).toMatchObject({ email: 'new.person@example.test', role: 'technician', status: 'sent' });
  const joined = await register(invited.token);
  expect(joined.status).toBe(201);
  const me = await call({ as: joined.body.accessToken, url: '/v1/me' });
  expect(me.body.facilities).toEqual([{ id: owner.facility, role: 'technician' }]);
  expect(await register(invited.token)).toMatchObject({ status: 422, body: { code: 'EMAIL_TAKEN' } });
  const list = await call({ as: owner.token, url: `/v1/facilities/${owner.facility}/invitations` });
  expect(list.body.items).toMatchObject([{ status: 'accepted' }]);
  expect(JSON.stringify(list.body)).not.toContain(invited.token);
});

it('is for the address it was sent to, and the same person may accept it twice', async () => {
  const [one, two] = [await cloud.owner('ben'), await cloud.owner('bea')];
  const third = await cloud.owner('bob');
  const { body: invited } = await invite(one, two.email);
  expect(await accept(third, invited.token)).toMatchObject({ status: 403, body: { code: 'INVITATION_EMAIL_DIFFERS' } });
  expect(await accept(two, invited.token)).toMatchObject({ status: 200, body: { outcome: { to: 'accepted' } } });
  expect(await accept(two, invited.token)).toMatchObject({
    status: 200,
    body: { outcome: { status: 'noop', code: 'ALREADY_ACCEPTED' } },
  });
  expect(await accept(third, invited.token)).toMatchObject({ status: 422, body: { code: 'INVITATION_USED' } });
});

it('gives nothing when the inviter lost the rank meanwhile', async () => {
  const owner = await cloud.owner('cid');
  const manager = await cloud.member(owner, 'cleo', 'facility_manager');
  const other = await cloud.owner('cora');
  const { body: invited } = await invite(manager, other.email, 'facility_manager');
  const url = `/v1/facilities/${owner.facility}/members/${manager.user}/role`;
  expect((await call({ as: owner.token, method: 'PUT', url, body: { role: 'staff', version: 1 } })).status).toBe(200);
  expect(await accept(other, invited.token)).toMatchObject({ status: 422, body: { code: 'INVITER_LOST_RANK' } });
  expect((await register(invited.token)).status).not.toBe(201);
});

it('invites nobody above one’s own rank, and one address once at a time', async () => {
  const owner = await cloud.owner('dan');
  const manager = await cloud.member(owner, 'dina', 'facility_manager');
  expect(await invite(manager, 'x@example.test', 'owner')).toMatchObject({
    status: 403,
    body: { code: 'ROLE_ABOVE_OWN_RANK' },
  });
  expect((await invite(manager, 'x@example.test')).status).toBe(201);
  expect(await invite(owner, 'X@example.test')).toMatchObject({ status: 409, body: { code: 'ALREADY_EXISTS' } });
});

it('neither raises nor lowers somebody who has a role already', async () => {
  const owner = await cloud.owner('eli');
  const manager = await cloud.member(owner, 'ella', 'facility_manager');
  const { body: invited } = await invite(owner, manager.email, 'guest');
  expect((await accept(manager, invited.token)).status).toBe(200);
  await cloud.refresh(manager);
  const me = await call({ as: manager.token, url: '/v1/me' });
  expect(me.body.facilities).toEqual([{ id: owner.facility, role: 'facility_manager' }]);
});

/** Brings an invitation into each state, by the verbs that lead there. */
const paths: Readonly<Record<string, (owner: Person, acceptor: Person) => Promise<{ id: string; token: string }>>> = {
  sent: async (owner, acceptor) => (await invite(owner, acceptor.email)).body,
  accepted: async (owner, acceptor) => {
    const { body } = await invite(owner, acceptor.email);
    await accept(acceptor, body.token);
    return body;
  },
  withdrawn: async (owner, acceptor) => {
    const { body } = await invite(owner, acceptor.email);
    await withdraw(owner, body.id);
    return body;
  },
  expired: async (owner, acceptor) => {
    const { body } = await invite(owner, acceptor.email);
    await age(body.id);
    await sweepIdentity(database.worker);
    return body;
  },
};

const stateOf = async (id: string) =>
  (
    await sql<{ status: string; version: number }>`select status, version from invitation where id = ${id}`.execute(
      database.admin,
    )
  ).rows[0];

const expected: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sent: { accept: 'accepted', withdraw: 'withdrawn' },
  accepted: { accept: '=ALREADY_ACCEPTED', withdraw: 'INVITATION_CLOSED' },
  withdrawn: { accept: 'INVITATION_CLOSED', withdraw: '=ALREADY_WITHDRAWN' },
  expired: { accept: 'INVITATION_CLOSED', withdraw: 'INVITATION_CLOSED' },
};

for (const from of invitationMachine.states) {
  for (const event of ['accept', 'withdraw'] as const) {
    it(`answers ${event} from ${from} as its table says, in the database too`, async () => {
      const owner = await cloud.owner(`o-${from}-${event}`);
      const acceptor = await cloud.owner(`a-${from}-${event}`);
      const made = await paths[from]?.(owner, acceptor);
      if (!made) throw new Error(from);
      const before = await stateOf(made.id);
      expect(before?.status).toBe(from);
      const answer = await (event === 'accept'
        ? accept(acceptor, made.token)
        : withdraw(owner, made.id, before?.version));
      const told =
        answer.status === 200 ? (answer.body.outcome.to ?? `=${answer.body.outcome.code}`) : answer.body.code;
      expect(told).toBe(expected[from]?.[event]);
      const after = await stateOf(made.id);
      const isMoved = may(invitationMachine, from, event);
      expect(after).toEqual(isMoved ? { status: told, version: (before?.version ?? 0) + 1 } : before);
      const log = await sql<{ event: string; to_state: string }>`select event, to_state from state_transition_log
        where entity_id = ${made.id} order by id`.execute(database.admin);
      expect(log.rows[0]).toEqual({ event: 'created', to_state: 'sent' });
      expect(log.rows.at(-1)?.to_state).toBe(after?.status);
    });
  }
}

it('expires by the sweep only when its time is over, and a late one is not accepted before the sweep either', async () => {
  const [owner, other] = [await cloud.owner('fay'), await cloud.owner('finn')];
  const { body: fresh } = await invite(owner, 'fresh@example.test');
  const { body: late } = await invite(owner, other.email);
  await age(late.id);
  expect(await accept(other, late.token)).toMatchObject({ status: 422, body: { code: 'INVITATION_CLOSED' } });
  expect(await sweepIdentity(database.worker)).toEqual({ expired: 1 });
  expect(await sweepIdentity(database.worker)).toEqual({ expired: 0 });
  expect((await stateOf(late.id))?.status).toBe('expired');
  expect((await stateOf(fresh.id))?.status).toBe('sent');
});

it('knows no token that was made up', async () => {
  const owner = await cloud.owner('gil');
  for (const token of [`kin_${'A'.repeat(43)}`, 'kin_', `krt_${'A'.repeat(43)}`, 'x']) {
    expect(await accept(owner, token)).toMatchObject({ status: 404 });
    expect(await register(token)).toMatchObject({ status: 404 });
  }
});
