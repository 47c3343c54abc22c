import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../../database/open-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(async () => {
  await database.close();
});

it('has tables', async () => {
  const found = await sql`select count(*) as n from feed_row`.execute(database.admin);
  expect(found.rows).toEqual([{ n: 0 }]);
});
