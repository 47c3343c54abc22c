import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { openTestDatabase } from './open-database.ts';

const database = await openTestDatabase();
afterAll(() => database.close());

it('answers with every role', async () => {
  for (const role of ['admin', 'app', 'worker', 'gateway'] as const) {
    const answer = await sql<{ user: string }>`select current_user as user`.execute(database[role]);
    expect(answer.rows[0]?.user).toContain(role);
  }
});
