import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatabaseFault } from '#cloud/database/database-fault.ts';
import { startServer } from '#cloud/database/embedded-server.ts';
import { type Database, openPool } from '#cloud/database/pool.ts';
import { type Claims, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { openTestDatabase, someServers, type TestDatabase } from './open-database.ts';

const claims: Claims = { actor: 'x', facilityIds: ['fac_a'] };
const one = (pool: Database, statement = 'select 1'): Promise<unknown> =>
  tenantTransaction(pool, claims, (transaction) => sql.raw(statement).execute(transaction));
const faultOf = (attempt: Promise<unknown>): Promise<unknown> =>
  attempt.then(
    () => 'no fault',
    (error: unknown) => (error instanceof DatabaseFault ? error.code : error),
  );

describe.each(someServers)('a pool on PostgreSQL %s', (server) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase({ server });
  });
  afterAll(() => database.close());

  it('ends a statement that runs too long, and goes on', async () => {
    const pool = openPool({ url: database.url('app'), size: 1, name: 'test', statementMs: 100 });
    expect(await faultOf(one(pool, 'select pg_sleep(30)'))).toBe('DATABASE_BUSY');
    expect(await faultOf(one(pool))).toBe('no fault');
    await pool.destroy();
  });

  it('ends a wait for a lock', async () => {
    await sql`create table held as select 1 as id`.execute(database.admin);
    await sql`grant select, update on held to kannuki_app`.execute(database.admin);
    const held = Promise.withResolvers<void>();
    const holder = database.admin.transaction().execute(async (transaction) => {
      await sql`select * from held for update`.execute(transaction);
      await held.promise;
    });
    const waiting = tenantTransaction(database.app, claims, async (transaction) => {
      await sql`set local lock_timeout = 50`.execute(transaction);
      return sql`select * from held for update`.execute(transaction);
    });
    expect(await faultOf(waiting)).toBe('DATABASE_BUSY');
    held.resolve();
    await holder;
    const settings = await sql`select current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle, current_setting('search_path') as path`.execute(
      database.app,
    );
    expect(settings.rows).toEqual([{ lock: '4s', idle: '15s', path: 'public, pg_temp' }]);
  });

  it('opens no more connections than it may, and gives the next caller one that was given back', async () => {
    const pool = openPool({ url: database.url('worker'), size: 2, name: 'test-bounded' });
    await Promise.all(Array.from({ length: 20 }, () => one(pool)));
    const open = await sql<{
      n: number;
    }>`select count(*)::int as n from pg_stat_activity where application_name = 'test-bounded'`.execute(database.admin);
    expect(open.rows).toEqual([{ n: 2 }]);
    await pool.destroy();
  });

  it('loses a connection in the middle as a fault, undone, and an idle one without a word', async () => {
    const pool = openPool({ url: database.url('app'), size: 2, name: 'test-cut' });
    const cut = (): Promise<unknown> =>
      sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'test-cut'`.execute(
        database.admin,
      );
    const torn = tenantTransaction(pool, claims, async (transaction) => {
      await sql`select 1`.execute(transaction);
      await cut();
      await sql`select 1`.execute(transaction);
    });
    expect(await faultOf(torn)).toBe('DATABASE_UNAVAILABLE');
    expect(await faultOf(one(pool))).toBe('no fault');
    await cut();
    await expect.poll(() => faultOf(one(pool))).toBe('no fault');
    await pool.destroy();
  });
});

describe('a network that falls silent', () => {
  it('is a fault by the client’s own deadline, and the silent connection is not used again', async () => {
    const database = await openTestDatabase();
    const target = new URL(database.url('app'));
    const serverPort = Number(target.port);
    const open: { readonly client: Socket; readonly upstream: Socket }[] = [];
    const relay = createServer((client) => {
      const upstream = connect(serverPort, '127.0.0.1');
      client.on('error', () => undefined);
      upstream.on('error', () => undefined);
      client.pipe(upstream);
      upstream.pipe(client);
      open.push({ client, upstream });
    });
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const address = relay.address();
    target.port = String(typeof address === 'object' && address ? address.port : 0);
    const pool = openPool({ url: target.href, size: 1, name: 'test-silent', statementMs: 1_500 });
    try {
      expect(await faultOf(one(pool))).toBe('no fault');
      for (const { client, upstream } of open) {
        client.unpipe(upstream);
        upstream.unpipe(client);
      }
      expect(await faultOf(one(pool))).toBe('DATABASE_UNAVAILABLE');
      expect(await faultOf(one(pool))).toBe('no fault');
      expect(open).toHaveLength(2);
    } finally {
      await pool.destroy();
      for (const { client, upstream } of open) {
        client.destroy();
        upstream.destroy();
      }
      relay.close();
      await database.close();
    }
  });
});

describe('a server that goes away', () => {
  it('is DATABASE_UNAVAILABLE until it is back', async () => {
    const home = mkdtempSync('/dev/shm/kannuki-pool-');
    chmodSync(home, 0o711);
    const folder = join(home, 'db');
    const first = await startServer({ folder, isDisposable: true });
    const pool = openPool({ url: first.adminUrl, size: 2, name: 'test' });
    try {
      expect(await faultOf(one(pool))).toBe('no fault');
      await first.stop();
      for (let again = 0; again < 3; again += 1) expect(await faultOf(one(pool))).toBe('DATABASE_UNAVAILABLE');
      const port = Number(new URL(first.adminUrl).port);
      const second = await startServer({ folder, isDisposable: true, port });
      expect(await faultOf(one(pool))).toBe('no fault');
      await second.stop();
    } finally {
      await pool.destroy();
      rmSync(home, { recursive: true, force: true });
    }
  });
});
