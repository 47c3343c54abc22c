/**
 * The rules of the house over the whole live catalog: whoever adds a table, a policy, a function or a view is held to
 * them here, without a test of their own. Each test lists what breaks its rule.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlState } from '#cloud/database/database-fault.ts';
import type { Database } from '#cloud/database/pool.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { machines } from '#cloud/machines.ts';
import { catalogRules } from './catalog-rules.ts';
import { addLamps } from './lamp.ts';
import { openTestDatabase, servers, type TestDatabase } from './open-database.ts';

describe.each(servers)('the catalog on PostgreSQL %s', (server) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase({ server });
  });
  afterAll(() => database.close());

  it.each(catalogRules)('$says', async ({ breaches }) => {
    expect(await breaches(database.admin)).toEqual([]);
  });

  it('guards the state of every declared machine, and of no other', async () => {
    const guards = await sql<{ machine: string; guards: string[] }>`
      select split_part(encode(tgargs, 'escape'), '\\000', 1) as machine, array_agg(tgname::text order by tgname) as guards
      from pg_trigger where tgfoid in ('app.guard_state'::regproc, 'app.log_state'::regproc) and tgenabled = 'O'
      group by 1`.execute(database.admin);
    const declared = machines.map(({ name }) => name).toSorted();
    expect(guards.rows.map(({ machine }) => machine).toSorted()).toEqual(declared);
    for (const { guards: names } of guards.rows) expect(names).toEqual(['log_state', 'zz_guard_state']);
  });
});

describe.each(servers)('what every table does on PostgreSQL %s', (server) => {
  let database: TestDatabase;
  let tables: readonly { readonly name: string; readonly column: string; readonly isTenant: boolean }[];
  beforeAll(async () => {
    database = await openTestDatabase({ server });
    const found = await sql<{ name: string; column: string; is_tenant: boolean }>`
      select c.relname as name, first.attname as column, exists (
        select from pg_attribute a where a.attrelid = c.oid and a.attname = 'facility_id') as is_tenant
      from pg_class c join lateral (
        select attname from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not attisdropped
        order by attnum limit 1) first on true
      where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname <> 'schema_migration'
      order by 1`.execute(database.admin);
    tables = found.rows.map((row) => ({ name: row.name, column: row.column, isTenant: row.is_tenant }));
  });
  afterAll(() => database.close());

  const refusal = async (pool: Database, statement: string): Promise<string> => {
    const claims = { actor: 'x', facilityIds: ['fac_a'] };
    const attempt = tenantTransaction(pool, claims, (transaction) => sql.raw(statement).execute(transaction));
    return attempt.then(
      () => 'done',
      (error: unknown) => sqlState(error) ?? String(error),
    );
  };

  it('refuses TRUNCATE by everybody, and any write by its owner', async () => {
    expect(tables.length).toBeGreaterThan(10);
    for (const { name, column } of tables) {
      for (const pool of [database.app, database.worker, database.gateway]) {
        expect(await refusal(pool, `truncate ${name} cascade`), name).toBe('42501');
      }
      expect(await refusal(database.admin, `truncate ${name} cascade`), name).toBe('KN013');
      for (const write of [
        `update ${name} set ${column} = ${column}`,
        `insert into ${name} default values`,
        `delete from ${name}`,
      ]) {
        expect(await refusal(database.admin, `set local role kannuki_owner; ${write}`), write).toBe('KN013');
      }
      expect(await refusal(database.admin, `set local role kannuki_backup; delete from ${name}`), name).toBe('42501');
    }
  });

  it('reaches a tenant’s rows by an index', async () => {
    for (const { name, isTenant } of tables) {
      if (!isTenant || (await refusal(database.app, `select from ${name}`)) !== 'done') continue;
      const plan = await tenantTransaction(
        database.app,
        { actor: 'x', facilityIds: ['fac_a'] },
        async (transaction) => {
          await sql`set local enable_seqscan = off`.execute(transaction);
          return JSON.stringify(
            (await sql.raw(`explain (format json) select * from ${name}`).execute(transaction)).rows,
          );
        },
      );
      expect(plan, name).toMatch(/"(Index Cond|Recheck Cond)":"[^"]*facility_id/);
    }
  });
});

describe.each(servers)('a breach on PostgreSQL %s', (server) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase({ server });
    await addLamps(database.adminUrl);
  });
  afterAll(() => database.close());

  it.each(catalogRules)('is found: $says', async ({ breaches, breach }) => {
    await expect(
      database.admin.transaction().execute(async (transaction) => {
        await sql.raw(breach).execute(transaction);
        expect((await breaches(transaction)).length).toBeGreaterThan(0);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');
    expect(await breaches(database.admin)).toEqual([]);
  });
});
