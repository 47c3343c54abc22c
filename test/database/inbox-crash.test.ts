import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startServer } from '#cloud/database/embedded-server.ts';
import { processInbox } from '#cloud/database/inbox.ts';
import { loginUrl } from '#cloud/database/login.ts';
import { migrate } from '#cloud/database/migrate.ts';
import { type Database, openPool } from '#cloud/database/pool.ts';
import { findPostmaster } from '#cloud/database/postmaster.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { machines } from '#cloud/machines.ts';

const loginSecret = new Uint8Array(32).fill(7);
const events = 40;
let home: string;
beforeEach(() => {
  home = mkdtempSync('/dev/shm/kannuki-crash-');
  // Whoever runs the server goes through here.
  chmodSync(home, 0o711);
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

/** A server as it comes up, used and left by `work`. */
async function withServer<Result>(
  work: (pools: { readonly admin: Database; readonly worker: Database; readonly gateway: Database }) => Promise<Result>,
  leave: 'stopped' | 'killed',
): Promise<Result> {
  const server = await startServer({ folder: join(home, 'database') });
  await migrate({ adminUrl: server.adminUrl, machines, loginSecret });
  const pool = (url: string) => openPool({ url, size: 4, name: 'crash' });
  const url = (role: 'worker' | 'gateway') => loginUrl(server.adminUrl, role, loginSecret);
  const pools = { admin: pool(server.adminUrl), worker: pool(url('worker')), gateway: pool(url('gateway')) };
  const result = await work(pools);
  if (leave === 'killed') {
    process.kill(server.pid, 'SIGKILL');
    await expect.poll(() => findPostmaster(join(home, 'database', 'data')), { timeout: 20_000 }).toBeUndefined();
  }
  for (const open of Object.values(pools)) await open.destroy();
  if (leave === 'stopped') await server.stop();
  return result;
}

const look = (worker: Database): Promise<number> =>
  processInbox({
    database: worker,
    sourcePrefix: 'test:',
    handle: (transaction, { facility_id, event_id }) =>
      asVerb(transaction, 'test.take', undefined, () =>
        audit(transaction, facility_id, { action: 'test.taken', entityId: `taken ${event_id}` }),
      ),
    onFault: () => undefined,
  });

async function count(admin: Database): Promise<readonly number[]> {
  const found = await sql<{ received: number; processed: number; effects: number; different: number }>`
    select (select count(*) from inbox_event) as received,
      (select count(*) from inbox_event where processed_at is not null) as processed,
      (select count(*) from audit_event where entity_id like 'taken %') as effects,
      (select count(distinct entity_id) from audit_event where entity_id like 'taken %') as different`.execute(admin);
  return Object.values(found.rows[0] ?? {});
}

it('loses, with a server that dies, no event and of effects only those whose events are open again: all happen once', async () => {
  await withServer(async ({ admin, worker, gateway }) => {
    // What a commit did not wait for stays in the server's memory, and dies with it.
    await sql`alter system set wal_writer_delay = '10s'`.execute(admin);
    await sql`select pg_reload_conf()`.execute(admin);
    await tenantTransaction(gateway, { actor: 'gateway:gwy_a', facilityIds: ['fac_a'] }, (transaction) =>
      sql`insert into inbox_event (facility_id, source, event_id, type, payload)
        select 'fac_a', 'test:a', 'e' || n, 'test', '{}' from generate_series(1, ${events}::int) n`.execute(
        transaction,
      ),
    );
    expect(await look(worker)).toBe(events);
    expect(await count(admin)).toEqual([events, events, events, events]);
  }, 'killed');
  await withServer(async ({ admin, worker }) => {
    const [received, processed, effects, different] = await count(admin);
    expect([received, effects, different]).toEqual([events, processed, processed]);
    await sql`update inbox_event set lease_until = now() - interval '1 second' where claim_token is not null`.execute(
      admin,
    );
    expect(await look(worker)).toBe(events - (processed ?? 0));
    expect(await count(admin)).toEqual([events, events, events, events]);
  }, 'stopped');
});
