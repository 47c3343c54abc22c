import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCredentialVerb } from '#cloud/credential/credential-verb.ts';
import { type CredentialEvent, type CredentialStatus, credentialMachine } from '#cloud/credential/machine.ts';
import type { Database } from '#cloud/database/pool.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { step } from '#shared/machine.ts';
import type { Outcome } from '#shared/outcome.ts';
import { openRoom, type Room } from './open-room.ts';

let room: Room;
beforeAll(async () => {
  room = await openRoom();
});
afterAll(() => room.close());

/** What a key rests on; in each the whole matrix is gone through. */
const grounds = ['all stands', 'time is over', 'holder erased', 'role gone'] as const;
type Ground = (typeof grounds)[number];

let card = 0;

/** A credential in that state, on that ground. */
async function credentialIn(state: CredentialStatus, ground: Ground): Promise<string> {
  const user = ground === 'role gone' ? room.userOf('staff') : null;
  const holder = await room.call<{ id: string }>('POST', '/holders', { name: 'Somebody', user });
  card += 1;
  const body = { holder: holder.body.id, card: { bits: card.toString(2).padStart(30, '0') } };
  const issued = await room.call<{ item: { id: string } }>('POST', '/credentials', body);
  expect(issued.status).toBe(201);
  const { id } = issued.body.item;
  if (state === 'expired') await setTime(id, true);
  const path: Readonly<Record<CredentialStatus, readonly CredentialEvent[]>> = {
    issued: [],
    suspended: ['suspend'],
    revoked: ['revoke'],
    expired: ['expire'],
  };
  for (const event of path[state]) expect(await run(id, event)).toMatchObject({ status: 'applied', to: state });
  await setTime(id, ground === 'time is over');
  if (ground === 'holder erased') await forget(holder.body.id, sql`name = null, erased_at = now()`);
  if (ground === 'role gone') await forget(holder.body.id, sql`user_id = ${'usr_without_a_role'}`);
  return id;
}

async function forget(holder: string, what: ReturnType<typeof sql>): Promise<void> {
  await sql`update holder set ${what} where id = ${holder}`.execute(room.database.admin);
}

async function setTime(id: string, isOver: boolean): Promise<void> {
  const until = isOver ? sql`now() - interval '1 second'` : sql`now() + interval '1 day'`;
  await sql`update credential set valid_until = ${until} where id = ${id}`.execute(room.database.admin);
}

const run = (id: string, event: CredentialEvent, database: Database = room.database.app): Promise<Outcome> =>
  tenantTransaction(database, { actor: 'user:test', facilityIds: [room.facility] }, (transaction) =>
    runCredentialVerb(transaction, event, { facility: room.facility, id, reason: 'matrix' }),
  );

interface Seen {
  readonly status: string;
  readonly version: number;
  readonly is_sealed: boolean;
  readonly is_ended: boolean;
}

async function look(id: string): Promise<Seen | undefined> {
  const found = await sql<Seen>`select status, version, value_sealed is not null as is_sealed,
    ended_at is not null as is_ended from credential where id = ${id}`.execute(room.database.admin);
  return found.rows[0];
}

async function logOf(id: string): Promise<readonly object[]> {
  const found = await sql<object>`select event, from_state, to_state, verb, actor, reason from state_transition_log
    where machine = 'credential' and entity_id = ${id} order by id`.execute(room.database.admin);
  return found.rows;
}

describe.each(grounds)('where %s', (ground) => {
  const cells = credentialMachine.states.flatMap((state) =>
    credentialMachine.events.map((event) => [state, event] as const),
  );
  it.each(cells)('%s × %s does through the database what the machine says', async (state, event) => {
    const id = await credentialIn(state, ground);
    const [before, logBefore] = [await look(id), await logOf(id)];
    const expected = step(credentialMachine, state, event, {
      isHeld: ground !== 'holder erased',
      isRightful: ground !== 'role gone',
      isWithinTime: ground !== 'time is over',
      isTimeOver: ground === 'time is over',
    });
    const { sets: _sets, ...outcome } = { sets: {}, ...expected };
    expect(await run(id, event)).toEqual(outcome);
    const after = await look(id);
    if (expected.status !== 'applied') {
      expect(after).toEqual(before);
      expect(await logOf(id)).toEqual(logBefore);
      return;
    }
    const isLive = expected.to === 'issued' || expected.to === 'suspended';
    expect(after).toEqual({
      status: expected.to,
      version: (before?.version ?? 0) + 1,
      is_sealed: isLive,
      is_ended: !isLive,
    });
    expect((await logOf(id)).at(-1)).toEqual({
      event,
      from_state: state,
      to_state: expected.to,
      verb: `credential.${event}`,
      actor: 'user:test',
      reason: 'matrix',
    });
  });
});

it('tells every state and event apart from an absent credential and a foreign one', async () => {
  const id = await credentialIn('issued', 'all stands');
  const foreign = tenantTransaction(
    room.database.app,
    { actor: 'user:test', facilityIds: [room.other] },
    (transaction) => runCredentialVerb(transaction, 'revoke', { facility: room.facility, id }),
  );
  expect(await foreign).toEqual({ status: 'refused', code: 'NOT_FOUND' });
  expect(await run('crd_nothing', 'revoke')).toEqual({ status: 'refused', code: 'NOT_FOUND' });
  expect(await look(id)).toMatchObject({ status: 'issued', version: 1 });
});

describe.each(['app', 'worker', 'admin'] as const)('as %s', (role) => {
  const attempts = {
    'update of a state': (
      id: string,
    ) => sql`update credential set status = 'revoked', ended_at = now(), value_sealed = null,
      version = version + 1 where id = ${id}`,
    'insert in a later state': (id: string) => sql`insert into credential
      (facility_id, id, holder_id, kind, status, card_bits, ended_at)
      select facility_id, id || 'x', holder_id, 'card', 'revoked', 26, now() from credential where id = ${id}`,
    'insert without a verb': (id: string) => sql`insert into credential (facility_id, id, holder_id, kind, card_bits)
      select facility_id, id || 'x', holder_id, 'card', 26 from credential where id = ${id}`,
    deletion: (id: string) => sql`delete from credential where id = ${id}`,
    'emptying the table': () => sql`truncate credential cascade`,
    'a change of tenant': (id: string) => sql`update credential set facility_id = ${room.other} where id = ${id}`,
  } as const;
  it.each(Object.keys(attempts) as (keyof typeof attempts)[])(
    'refuses %s by raw SQL, on a used connection too',
    async (name) => {
      const id = await credentialIn('issued', 'all stands');
      expect(await run(id, 'suspend')).toMatchObject({ status: 'applied' });
      const claims = { actor: 'user:test', facilityIds: [room.facility, room.other] };
      const attempt = tenantTransaction(room.database[role], claims, (transaction) =>
        attempts[name](id).execute(transaction),
      );
      await expect(attempt).rejects.toThrow();
      expect(await look(id)).toMatchObject({ status: 'suspended', version: 2 });
    },
  );
});
