/**
 * Two tenants' rows in every table there is, and each role that speaks, with claims for one of them.
 *
 * The rows are made up by the types of their columns; checks and foreign keys are dropped in this clone, since it is the
 * policies that are tried here.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sqlState } from '#cloud/database/database-fault.ts';
import { type Database, openPool } from '#cloud/database/pool.ts';
import { type Claims, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb } from '#cloud/database/verb.ts';
import { openTestDatabase, servers, type TestDatabase } from './open-database.ts';

interface Table {
  readonly name: string;
  /** The column that names the tenant. */
  readonly tenant: string;
  /** Where a machine guards it. */
  readonly state: string | null;
  /** Columns that must be given, with a made-up value each. */
  readonly values: ReadonlyMap<string, string>;
}

const inA: Claims = {
  actor: 'usr_a',
  userId: 'usr_a',
  facilityIds: ['fac_a'],
  roles: { fac_a: 'owner' },
  gatewayId: 'gwy_a',
  includeDeleted: true,
};
const speakers = ['app', 'worker', 'gateway'] as const;

const madeUp: Readonly<Record<string, string>> = {
  text: `'x'`,
  int4: '1',
  int8: '1',
  int2: '1',
  bool: 'false',
  // Not expired: what has expired, the worker may clear.
  timestamptz: `now() + interval '1 day'`,
  date: 'current_date',
  jsonb: `'{}'`,
  json: `'{}'`,
  bytea: `'\\x00'`,
  uuid: 'gen_random_uuid()',
  _text: `'{}'`,
  float8: '1',
  numeric: '1',
};

async function readTables(admin: Database): Promise<readonly Table[]> {
  const found = await sql<{ name: string; column: string; type: string; state: string | null }>`
    select c.relname as name, a.attname as column, t.typname as type, (
      select split_part(encode(tgargs, 'escape'), '\\000', 2) from pg_trigger g
      where g.tgrelid = c.oid and g.tgfoid = 'app.guard_state'::regproc) as state
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
      and (c.relname = 'facility' or exists (
        select from pg_attribute f where f.attrelid = c.oid and f.attname = 'facility_id'))
      and (a.attnotnull and not a.atthasdef and a.attidentity = '' or a.attname = (
        select split_part(encode(tgargs, 'escape'), '\\000', 2) from pg_trigger g
        where g.tgrelid = c.oid and g.tgfoid = 'app.guard_state'::regproc))
    order by c.relname, a.attnum`.execute(admin);
  const tables = new Map<string, Table & { values: Map<string, string> }>();
  for (const { name, column, type, state } of found.rows) {
    const table = tables.get(name) ?? {
      name,
      state,
      tenant: name === 'facility' ? 'id' : 'facility_id',
      values: new Map(),
    };
    table.values.set(column, madeUp[type] ?? `null /* no value for ${type} */`);
    tables.set(name, table);
  }
  return [...tables.values()];
}

function insertInto({ name, values, tenant }: Table, facility: string): string {
  const columns = [...values].map(([column, value]) => [column, column === tenant ? `'${facility}'` : value]);
  return `insert into ${name} (${columns.map(([column]) => column).join(', ')}) values (${columns.map(([, value]) => value).join(', ')})`;
}

describe.each(servers)('two tenants on PostgreSQL %s', (server) => {
  let database: TestDatabase;
  let tables: readonly Table[];
  const reused: Record<string, Database> = {};

  beforeAll(async () => {
    database = await openTestDatabase({ server });
    tables = await readTables(database.admin);
    const loose = await sql<{
      drop: string;
    }>`select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop
      from pg_constraint where contype in ('c', 'f') and connamespace = 'public'::regnamespace and conrelid <> 0`.execute(
      database.admin,
    );
    await database.admin.transaction().execute(async (transaction) => {
      for (const { drop } of loose.rows) await sql.raw(drop).execute(transaction);
      await sql`set local session_replication_role = replica`.execute(transaction);
      for (const table of tables) {
        for (const facility of ['fac_a', 'fac_b']) await sql.raw(insertInto(table, facility)).execute(transaction);
      }
    });
    for (const role of speakers) reused[role] = openPool({ url: database.url(role), size: 1, name: 'test-reused' });
  });
  afterAll(async () => {
    for (const pool of Object.values(reused)) await pool.destroy();
    await database.close();
  });

  /** How many rows a statement gave or touched, or the SQLSTATE that refused it. */
  async function tryOut(pool: Database | undefined, statement: string, verb?: string): Promise<number | string> {
    if (!pool) throw new Error('no pool');
    const attempt = tenantTransaction(pool, inA, async (transaction) => {
      const run = async (): Promise<number> => {
        const { rows, numAffectedRows } = await sql.raw(statement).execute(transaction);
        return numAffectedRows === undefined ? rows.length : Number(numAffectedRows);
      };
      return verb === undefined ? run() : asVerb(transaction, verb, undefined, run);
    });
    return attempt.catch((error: unknown) => sqlState(error) ?? String(error));
  }

  const hidden = [0, '42501', 'KN010', 'KN013'];

  it('has a row of each in every table', async () => {
    expect(tables.length).toBeGreaterThan(20);
    for (const { name, tenant } of tables) {
      const found = await sql
        .raw<{ n: number }>(`select count(distinct ${tenant})::int as n from ${name}`)
        .execute(database.admin);
      expect(found.rows, name).toEqual([{ n: 2 }]);
    }
  });

  it.each(speakers)('shows, changes, deletes and adds nothing of the other for %s', async (role) => {
    const pool = reused[role];
    for (const table of tables) {
      const { name, tenant } = table;
      // The worker may look for work across tenants; nobody else may see that the other is there.
      if (role !== 'worker')
        expect(hidden, name).toContain(await tryOut(pool, `select from ${name} where ${tenant} = 'fac_b'`));
      expect(hidden, name).toContain(
        await tryOut(pool, `update ${name} set ${tenant} = ${tenant} where ${tenant} = 'fac_b'`),
      );
      expect(hidden, name).toContain(await tryOut(pool, `delete from ${name} where ${tenant} = 'fac_b'`));
      expect(['42501', 'KN010'], name).toContain(await tryOut(pool, insertInto(table, 'fac_b')));
      expect(['42501', 'KN012'], name).toContain(await tryOut(pool, insertInto(table, 'fac_b'), 'test.add'));
    }
  });

  it.each(speakers)('shows nothing to %s without claims, on a connection that had them', async (role) => {
    const pool = reused[role];
    if (!pool) throw new Error('no pool');
    for (const { name, tenant } of tables) {
      await tryOut(pool, `select from ${name}`);
      const seen = await sql
        .raw(`select from ${name} where ${tenant} in ('fac_a', 'fac_b')`)
        .execute(pool)
        .then(({ rows }) => rows.length, sqlState);
      if (role !== 'worker') expect(hidden, name).toContain(seen);
      const changed = await sql
        .raw(`update ${name} set ${tenant} = ${tenant}`)
        .execute(pool)
        .then(({ numAffectedRows }) => Number(numAffectedRows), sqlState);
      expect(hidden, name).toContain(changed);
    }
  });

  it.each(speakers)(
    'lets %s change no state and begin in none but the first, in a verb or out of one, on a reused connection',
    async (role) => {
      const guarded = tables.filter(({ state }) => state !== null);
      expect(guarded.length).toBeGreaterThan(1);
      for (const table of guarded) {
        for (let again = 0; again < 2; again += 1) {
          const update = `update ${table.name} set ${table.state} = 'nowhere', version = version + 1 where facility_id = 'fac_a'`;
          // No right to update at all; otherwise the guard.
          expect([0, '42501', 'KN010'], table.name).toContain(await tryOut(reused[role], update));
          expect([0, '42501', 'KN011'], table.name).toContain(await tryOut(reused[role], update, 'test.cheat'));
          expect(['42501', 'KN010'], table.name).toContain(await tryOut(reused[role], insertInto(table, 'fac_a')));
          expect(['42501', 'KN012'], table.name).toContain(
            await tryOut(reused[role], insertInto(table, 'fac_a'), 'test.cheat'),
          );
        }
        const states = await sql.raw(`select ${table.state} as state from ${table.name}`).execute(database.admin);
        expect(states.rows, table.name).toEqual([{ state: 'x' }, { state: 'x' }]);
      }
    },
  );
});
