/**
 * The rules of the house over the whole live catalog: whoever adds a table, a policy, a function or a view is held to
 * them here, without a test of their own. Each test lists what breaks its rule.
 */
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
