import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlState } from '#cloud/database/database-fault.ts';
import { newId } from '#cloud/database/new-id.ts';
import type { Database } from '#cloud/database/pool.ts';
import { type Claims, type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { answersOf, type Cell } from '#shared/machine.ts';
import type { Outcome } from '#shared/outcome.ts';
import { addLamps, type LampRow, type LampState, lampMachine, lampVerb } from './lamp.ts';
import { openTestDatabase, servers, type TestDatabase } from './open-database.ts';

const claims: Claims = { actor: 'usr_1', facilityIds: ['fac_a'], roles: { fac_a: 'owner' }, reason: 'a test' };

describe.each(servers)('on PostgreSQL %s', (server) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase({ server });
    await addLamps(database.adminUrl);
  });
  afterAll(() => database.close());

  async function makeLamp(state: LampState = 'off'): Promise<string> {
    const id = newId('lmp');
    await tenantTransaction(database.app, claims, async (transaction) => {
      await asVerb(transaction, 'lamp.install', undefined, () =>
        sql`insert into lamp (facility_id, id, status) values ('fac_a', ${id}, 'off')`.execute(transaction),
      );
      if (state === 'on') await lampVerb(transaction, { event: 'light', facilityId: 'fac_a', id });
      if (state === 'broken') await lampVerb(transaction, { event: 'smash', facilityId: 'fac_a', id });
    });
    return id;
  }

  async function readLamp(id: string): Promise<LampRow | undefined> {
    return (await sql<LampRow>`select * from lamp where id = ${id}`.execute(database.admin)).rows[0];
  }

  async function readLog(id: string): Promise<readonly Record<string, unknown>[]> {
    return (
      await sql<Record<string, unknown>>`select event, from_state, to_state, verb, actor, reason
        from state_transition_log where entity_id = ${id} order by id`.execute(database.admin)
    ).rows;
  }

  const run = (work: (transaction: TenantTransaction) => Promise<Outcome>): Promise<Outcome> =>
    tenantTransaction(database.app, claims, work);

  it('applies a transition with the next version and logs who did what and why', async () => {
    const id = await makeLamp();
    const outcome = await run((transaction) =>
      lampVerb(transaction, { event: 'light', facilityId: 'fac_a', id, label: 'hall' }),
    );
    expect(outcome).toEqual({ status: 'applied', to: 'on' });
    expect(await readLamp(id)).toMatchObject({ status: 'on', version: 2, label: 'hall' });
    expect(await readLog(id)).toEqual([
      { event: 'created', from_state: null, to_state: 'off', verb: 'lamp.install', actor: 'usr_1', reason: 'a test' },
      { event: 'light', from_state: 'off', to_state: 'on', verb: 'lamp.light', actor: 'usr_1', reason: 'a test' },
    ]);
  });

  it('answers every state × event in the database as the declaration says', async () => {
    for (const event of lampMachine.events) {
      for (const state of lampMachine.states) {
        const id = await makeLamp(state);
        const outcome = await run((transaction) => lampVerb(transaction, { event, facilityId: 'fac_a', id }));
        const [answer] = answersOf(lampMachine, state, event);
        expect(outcome, `${state} × ${event}`).toEqual(expected(answer, state));
        const row = await readLamp(id);
        expect(row?.status).toBe(outcome.status === 'applied' ? outcome.to : state);
      }
    }
  });

  it('writes nothing where a condition is missing, the row is not to be touched, or the caller saw another version', async () => {
    const id = await makeLamp();
    const verbs = [
      [{ isPowered: false }, { status: 'refused', code: 'PAYMENT_REQUIRED' }],
      [{ refuseWith: 'CREDENTIAL_TAMPERED' as const }, { status: 'refused', code: 'CREDENTIAL_TAMPERED' }],
      [{ expectedVersion: 9 }, { status: 'conflict', code: 'CREDENTIAL_STATE_CHANGED', current: 'off' }],
    ] as const;
    for (const [verb, outcome] of verbs) {
      expect(await run((open) => lampVerb(open, { event: 'light', facilityId: 'fac_a', id, ...verb }))).toEqual(
        outcome,
      );
    }
    expect(await readLamp(id)).toMatchObject({ status: 'off', version: 1 });
    expect(await readLog(id)).toHaveLength(1);
  });

  it('sees no difference between an absent row and one of another tenant', async () => {
    const id = await makeLamp();
    const foreign: Claims = { actor: 'usr_2', facilityIds: ['fac_b'] };
    for (const target of [id, newId('lmp')]) {
      const outcome = await tenantTransaction(database.app, foreign, (transaction) =>
        lampVerb(transaction, { event: 'light', facilityId: 'fac_a', id: target }),
      );
      expect(outcome).toEqual({ status: 'refused', code: 'CREDENTIAL_UNKNOWN' });
    }
  });

  it('lets one of two racing verbs apply and the other see what it became', async () => {
    const id = await makeLamp();
    const race = [1, 2, 3, 4].map(() =>
      run((transaction) => lampVerb(transaction, { event: 'light', facilityId: 'fac_a', id, expectedVersion: 1 })),
    );
    const outcomes = await Promise.all(race);
    expect(outcomes.filter(({ status }) => status === 'applied')).toHaveLength(1);
    expect(outcomes.filter(({ status }) => status === 'conflict')).toHaveLength(3);
    expect(await readLamp(id)).toMatchObject({ version: 2 });
  });

  it('undoes the transition when an effect fails', async () => {
    const id = await makeLamp();
    const failing = run((transaction) =>
      lampVerb(transaction, {
        event: 'light',
        facilityId: 'fac_a',
        id,
        effects: () => Promise.reject(new Error('no outbox')),
      }),
    );
    await expect(failing).rejects.toThrow('no outbox');
    expect(await readLamp(id)).toMatchObject({ status: 'off', version: 1 });
    expect(await readLog(id)).toHaveLength(1);
  });

  it('gives the outer verb its name back after an inner one', async () => {
    const [outer, inner] = [await makeLamp(), await makeLamp()];
    await run(async (transaction) => {
      const light = (id: string, effects?: () => Promise<void>): Promise<Outcome> =>
        lampVerb(transaction, { event: 'light', facilityId: 'fac_a', id, ...(effects ? { effects } : {}) });
      return light(outer, async () => {
        await lampVerb(transaction, { event: 'smash', facilityId: 'fac_a', id: inner });
        await audit(transaction, 'fac_a', { action: 'lamp.replaced', entityId: outer });
      });
    });
    const event = await sql<{ verb: string }>`select verb from audit_event where entity_id = ${outer}`.execute(
      database.admin,
    );
    expect(event.rows).toEqual([{ verb: 'lamp.light' }]);
    expect((await readLog(inner)).at(-1)).toMatchObject({ verb: 'lamp.smash' });
  });

  describe('what stands against raw statements', () => {
    async function refusal(pool: Database, statement: string, open: Claims | null = claims): Promise<string> {
      try {
        const run = async (executor: Database | TenantTransaction): Promise<bigint> =>
          (await sql.raw(statement).execute(executor)).numAffectedRows ?? 0n;
        const touched = await (open ? tenantTransaction(pool, open, run) : run(pool));
        return `touched ${touched}`;
      } catch (error) {
        return sqlState(error) ?? String(error);
      }
    }

    it('refuses to change a state, skip the beginning, delete or truncate, whoever asks and whatever went before', async () => {
      const id = await makeLamp();
      const statements = {
        update: `update lamp set status = 'on', version = version + 1 where id = '${id}'`,
        insert: `insert into lamp (facility_id, id, status) values ('fac_a', 'x', 'on')`,
        delete: `delete from lamp where id = '${id}'`,
        truncate: 'truncate lamp',
      };
      const asOwner = (statement: string): string => `set local role kannuki_owner; ${statement}`;
      for (let again = 0; again < 3; again += 1) {
        // A verb has just run on this pool: its connections are reused, and remember nothing.
        await makeLamp('on');
        expect(await refusal(database.app, statements.update)).toBe('KN010');
        expect(await refusal(database.worker, statements.update)).toBe('KN010');
        expect(await refusal(database.app, statements.insert)).toBe('KN010');
        expect(await refusal(database.worker, statements.insert)).toBe('42501');
        for (const pool of [database.app, database.worker, database.gateway]) {
          expect(await refusal(pool, statements.delete)).toBe('42501');
          expect(await refusal(pool, statements.truncate)).toBe('42501');
        }
        for (const statement of Object.values(statements)) {
          expect(await refusal(database.admin, asOwner(statement)), statement).toBe('KN013');
        }
        expect(await refusal(database.admin, statements.update)).toBe('KN010');
        expect(await refusal(database.admin, statements.truncate)).toBe('KN013');
      }
      expect(await readLamp(id)).toMatchObject({ status: 'off', version: 1 });
    });

    it('refuses inside a verb what no rule allows', async () => {
      const id = await makeLamp();
      const inVerb = (event: string, statement: string): string =>
        `select set_config('app.verb', 'lamp.cheat', true), set_config('app.event', '${event}', true); ${statement}`;
      const set = (change: string): string => `update lamp set ${change} where id = '${id}'`;
      expect(await refusal(database.app, inVerb('douse', set(`status = 'on', version = version + 1`)))).toBe('KN011');
      expect(await refusal(database.app, inVerb('', set(`status = 'on', version = version + 1`)))).toBe('KN011');
      expect(await refusal(database.app, inVerb('light', set(`status = 'on'`)))).toBe('KN015');
      expect(
        await refusal(
          database.app,
          inVerb('created', `insert into lamp (facility_id, id, status) values ('fac_a', 'x', 'on')`),
        ),
      ).toBe('KN012');
    });

    it('moves no row to another tenant, even for one who may touch both', async () => {
      const id = await makeLamp();
      const both: Claims = { actor: 'usr_1', facilityIds: ['fac_a', 'fac_b'] };
      expect(await refusal(database.app, `update lamp set facility_id = 'fac_b' where id = '${id}'`, both)).toBe(
        'KN014',
      );
      expect(await refusal(database.app, `update lamp set facility_id = 'fac_b' where id = '${id}'`)).toMatch(
        /KN014|42501/,
      );
    });

    it('forges no log, no audit and no seal', async () => {
      for (const table of ['state_transition_log', 'audit_event', 'audit_seal', 'audit_head']) {
        for (const pool of [database.app, database.worker, database.gateway]) {
          expect(await refusal(pool, `insert into ${table} (facility_id) values ('fac_a')`)).toBe('42501');
          expect(await refusal(pool, `update ${table} set facility_id = 'fac_a'`)).toBe('42501');
          expect(await refusal(pool, `delete from ${table}`)).toBe('42501');
        }
      }
      for (const table of ['state_transition_log', 'audit_event', 'audit_seal']) {
        for (const role of ['kannuki_migrator', 'kannuki_owner', 'kannuki_admin']) {
          for (const statement of [`update ${table} set facility_id = 'x'`, `delete from ${table}`]) {
            expect(await refusal(database.admin, `set local role ${role}; ${statement}`)).toBe('KN013');
          }
          expect(await refusal(database.admin, `set local role ${role}; truncate ${table} cascade`)).toMatch(
            /KN013|42501/,
          );
        }
      }
    });

    it('lets an import begin in a later state, and says so in the log', async () => {
      const id = newId('lmp');
      const insert = `insert into lamp (facility_id, id, status) values ('fac_a', '${id}', 'broken')`;
      expect(
        await refusal(
          database.admin,
          `set local role kannuki_migrator; select set_config('app.verb', 'import', true); ${insert}`,
          null,
        ),
      ).toBe('touched 0');
      expect(await readLog(id)).toMatchObject([{ event: 'imported', to_state: 'broken', verb: 'import' }]);
    });
  });
});

function expected(answer: Cell<LampState, 'is_powered'> | undefined, current: LampState): Outcome {
  if (!answer || Array.isArray(answer)) throw new Error('one answer a cell');
  if ('to' in answer) return { status: 'applied', to: answer.to };
  if ('noop' in answer) return { status: 'noop', code: answer.noop };
  if ('refuse' in answer) return { status: 'refused', code: answer.refuse };
  if ('is' in answer && answer.is === 'conflict') return { status: 'conflict', code: lampMachine.conflict, current };
  return { status: 'refused', code: 'ILLEGAL_TRANSITION' };
}
