import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlState } from '#cloud/database/database-fault.ts';
import { newId } from '#cloud/database/new-id.ts';
import { type Database, openPool } from '#cloud/database/pool.ts';
import { type Claims, type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb } from '#cloud/database/verb.ts';
import { addLamps } from './lamp.ts';
import { openTestDatabase, servers, type TestDatabase } from './open-database.ts';

const inA: Claims = {
  actor: 'usr_a',
  facilityIds: ['fac_a'],
  roles: { fac_a: 'owner', fac_b: 'owner' },
  userId: 'usr_a',
};
const inB: Claims = { actor: 'usr_b', facilityIds: ['fac_b'], roles: { fac_b: 'owner' } };

describe.each(servers)('a tenant transaction on PostgreSQL %s', (server) => {
  let database: TestDatabase;
  /** One connection, so that every transaction reuses it. */
  let one: Database;
  beforeAll(async () => {
    database = await openTestDatabase({ server });
    await addLamps(database.adminUrl);
    one = openPool({ url: database.url('app'), size: 1, name: 'test-one' });
    for (const claims of [inA, inB]) await insertLamp(claims, claims.facilityIds[0] ?? '', 'porch');
  });
  afterAll(async () => {
    await one.destroy();
    await database.close();
  });

  function insertLamp(claims: Claims, facility: string, label: string, id: string = newId('lmp')): Promise<void> {
    return tenantTransaction(database.app, claims, (transaction) =>
      asVerb(transaction, 'lamp.install', undefined, async () => {
        await sql`insert into lamp (facility_id, id, status, label) values (${facility}, ${id}, 'off', ${label})`.execute(
          transaction,
        );
      }),
    );
  }

  const facilities = async (open: Database | TenantTransaction): Promise<readonly string[]> =>
    (await sql<{ facility_id: string }>`select distinct facility_id from lamp order by 1`.execute(open)).rows.map(
      (row) => row.facility_id,
    );

  it('shows a tenant its own rows and nobody else’s', async () => {
    expect(await tenantTransaction(database.app, inA, facilities)).toEqual(['fac_a']);
    expect(await tenantTransaction(database.app, inB, facilities)).toEqual(['fac_b']);
    const both: Claims = { actor: 'x', facilityIds: ['fac_a', 'fac_b', 'fac_"{},\\'] };
    expect(await tenantTransaction(database.app, both, facilities)).toEqual(['fac_a', 'fac_b']);
    expect(await tenantTransaction(database.app, { actor: 'x', facilityIds: [] }, facilities)).toEqual([]);
  });

  it('leaves no claim on the connection: outside of a transaction, after one, after one that failed', async () => {
    const settings = async (): Promise<unknown> =>
      (
        await sql`select current_setting('app.facility_ids', true) as facilities, current_setting('app.roles', true) as roles,
          current_setting('app.verb', true) as verb, app.facility_ids() as ids, app.role_in('fac_a') as role,
          app.facilities_as('owner') as owned, app.user_id() as person`.execute(one)
      ).rows[0];
    const pid = async (): Promise<unknown> => (await sql`select pg_backend_pid() as pid`.execute(one)).rows[0];
    const first = await pid();
    const nobody = { ids: [], role: null, owned: [], person: null };
    expect(await settings()).toEqual({ ...nobody, facilities: null, roles: null, verb: null });
    expect(await facilities(one)).toEqual([]);
    expect(await tenantTransaction(one, inA, facilities)).toEqual(['fac_a']);
    // The setting is known to the connection from now on, and reads '': that must mean nobody, too.
    expect(await settings()).toEqual({ ...nobody, facilities: '', roles: '', verb: '' });
    expect(await facilities(one)).toEqual([]);
    const failed = tenantTransaction(one, inA, async (transaction) => {
      await facilities(transaction);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await facilities(one)).toEqual([]);
    expect(await tenantTransaction(one, inB, facilities)).toEqual(['fac_b']);
    expect(await pid()).toEqual(first);
  });

  it('gives rights by role only in a facility that is claimed', async () => {
    const owned = await tenantTransaction(
      one,
      inA,
      async (transaction) =>
        (
          await sql`select app.facilities_as('owner', 'staff') as owned, app.facilities_as('staff') as staffed`.execute(
            transaction,
          )
        ).rows[0],
    );
    expect(owned).toEqual({ owned: ['fac_a'], staffed: [] });
  });

  it('writes no row for another tenant', async () => {
    expect(await insertLamp(inA, 'fac_b', 'x').catch(sqlState)).toBe('42501');
    const id = newId('lmp');
    await insertLamp(inB, 'fac_b', 'hidden', id);
    const touched = await tenantTransaction(
      database.app,
      inA,
      async (transaction) =>
        (await sql`update lamp set label = 'mine' where id = ${id}`.execute(transaction)).numAffectedRows,
    );
    expect(touched).toBe(0n);
  });

  it('tells by a duplicate nothing of another tenant', async () => {
    await insertLamp(inB, 'fac_b', 'secret label');
    await insertLamp(inA, 'fac_a', 'secret label');
    const error = await insertLamp(inA, 'fac_a', 'secret label').catch((thrown: unknown) => thrown);
    expect(sqlState(error)).toBe('23505');
    expect(JSON.stringify(error)).not.toContain('fac_b');
    expect(await insertLamp(inA, 'fac_b', 'secret label').catch(sqlState)).toBe('42501');
  });

  it('hides deleted rows unless they are asked for', async () => {
    const id = newId('lmp');
    await insertLamp(inA, 'fac_a', 'going', id);
    const remove = (claims: Claims): Promise<unknown> =>
      tenantTransaction(database.app, claims, (transaction) =>
        sql`update lamp set deleted_at = now(), version = version + 1 where id = ${id}`.execute(transaction),
      );
    expect(await remove(inA).catch(sqlState)).toBe('42501');
    await remove({ ...inA, includeDeleted: true });
    const count = (claims: Claims): Promise<number> =>
      tenantTransaction(
        database.app,
        claims,
        async (transaction) => (await sql`select from lamp where id = ${id}`.execute(transaction)).rows.length,
      );
    expect(await count(inA)).toBe(0);
    expect(await count({ ...inA, includeDeleted: true })).toBe(1);
    // Its label is free again.
    await insertLamp(inA, 'fac_a', 'going');
  });

  it('commits nothing where anything fails', async () => {
    const id = newId('lmp');
    const attempt = tenantTransaction(database.app, inA, (transaction) =>
      asVerb(transaction, 'lamp.install', undefined, async () => {
        await sql`insert into lamp (facility_id, id, status) values ('fac_a', ${id}, 'off')`.execute(transaction);
        await sql`select 1 / 0`.execute(transaction);
      }),
    );
    expect(await attempt.catch(sqlState)).toBe('22012');
    expect((await sql`select from lamp where id = ${id}`.execute(database.admin)).rows).toEqual([]);
  });

  describe('against shadows', () => {
    it('lets nobody put an object in front of ours', async () => {
      const attempts = [
        'create temporary table lamp (facility_id text)',
        'create table public.shadow (id text)',
        'create schema shadow',
        "create function public.now() returns timestamptz language sql as 'select null::timestamptz'",
        "create function app.facility_ids() returns text[] language sql as 'select array[''fac_b'']'",
        "create function pg_temp.lower(text) returns text language sql as 'select $1'",
      ];
      for (const pool of [database.app, database.worker, database.gateway]) {
        for (const attempt of attempts) {
          expect(await sql.raw(attempt).execute(pool).catch(sqlState), attempt).toBe('42501');
        }
      }
    });

    it('keeps to its own path inside functions that run as another role', async () => {
      // Even where an administrator did let somebody make temporary objects and a schema of his own.
      const evil = `create schema evil; create function evil.sha256(bytea) returns bytea language sql as 'select $1';
        create table evil.audit_event (like public.audit_event); grant all on schema evil to kannuki_app;
        grant all on evil.audit_event to kannuki_app`;
      await sql.raw(evil).execute(database.admin);
      const seal = await tenantTransaction(database.app, inA, async (transaction) => {
        await sql.raw('set local search_path = evil, pg_catalog, public').execute(transaction);
        await asVerb(transaction, 'test.act', undefined, async () => {
          await sql`select app.audit('fac_a', 'acted', 'x', '{}')`.execute(transaction);
        });
        await sql`set constraints all immediate`.execute(transaction);
        return (
          await sql<{ hash: string }>`select hash from public.audit_seal order by seq desc limit 1`.execute(transaction)
        ).rows[0];
      });
      expect(seal?.hash).toMatch(/^[0-9a-f]{64}$/);
      expect((await sql`select from evil.audit_event`.execute(database.admin)).rows).toEqual([]);
      await sql.raw('drop schema evil cascade').execute(database.admin);
    });
  });

  it('finds a tenant’s rows among a thousand tenants’ by an index condition, not by a filter', async () => {
    const fill = `set local session_replication_role = replica;
      insert into lamp (facility_id, id, status, label)
      select 'fac_' || tenant, 'lmp_' || row, 'off', 'lamp ' || row
      from generate_series(1, 1000) tenant, generate_series(1, 20) row`;
    await database.admin.transaction().execute((transaction) => sql.raw(fill).execute(transaction));
    await sql`analyze lamp`.execute(database.admin);
    const plans = await tenantTransaction(
      database.app,
      { actor: 'x', facilityIds: ['fac_77', 'fac_901'] },
      async (open) => {
        const explain = async (query: string): Promise<string> =>
          JSON.stringify(
            (await sql.raw(`explain (analyze, format json, costs off, timing off) ${query}`).execute(open)).rows,
          );
        return {
          all: await explain('select * from lamp'),
          row: await explain(`select * from lamp where facility_id = 'fac_77' and id = 'lmp_3'`),
          label: await explain(`select * from lamp where facility_id = 'fac_77' and label = 'lamp 3'`),
        };
      },
    );
    for (const [name, plan] of Object.entries(plans)) {
      expect(plan, name).toMatch(/"(Index Cond|Recheck Cond)":"[^"]*facility_id/);
      expect(plan, name).not.toContain('Seq Scan');
      // The claims are read once, not for every row.
      for (const loops of plan.matchAll(/"Parent Relationship":"InitPlan"[^{]*?"Actual Loops":(\d+)/g)) {
        expect(Number(loops[1])).toBeLessThanOrEqual(1);
      }
    }
    expect(plans.all).toMatch(/"Actual Rows":40\b/);
  });
});
