import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { openTestDatabase, type TestDatabase } from './open-database.ts';

const run = promisify(execFile);

describe('the backup role', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    // A dump takes a client of at least the server's major; Debian has 15.
    database = await openTestDatabase({ server: '15' });
    for (const facility of ['fac_a', 'fac_b']) {
      await tenantTransaction(database.app, { actor: 'x', facilityIds: [facility] }, (transaction) =>
        asVerb(transaction, 'test.act', undefined, () =>
          audit(transaction, facility, { action: 'acted', entityId: `in ${facility}` }),
        ),
      );
    }
  });
  afterAll(() => database.close());

  const dump = (url: string, role: string): Promise<{ stdout: string }> =>
    run('/usr/lib/postgresql/15/bin/pg_dump', ['--dbname', url, '--role', role], { maxBuffer: 64 * 1024 * 1024 });

  it('dumps every tenant’s rows', async () => {
    const { stdout } = await dump(database.url('backup'), 'kannuki_backup');
    expect(stdout).toContain('in fac_a');
    expect(stdout).toContain('in fac_b');
    expect(stdout).toContain('CREATE POLICY audit_event_app_select');
    expect(stdout.trimEnd()).toMatch(/dump complete\s*--/);
  });

  it('is needed: a role under row security dumps nothing', async () => {
    await expect(dump(database.url('app'), 'kannuki_app')).rejects.toThrow(/permission denied|row-level security/);
  });
});
