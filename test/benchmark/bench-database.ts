/** A migrated database on a server of its own with a real disk under it, for one bench. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { startServer } from '#cloud/database/embedded-server.ts';
import { type LoginRole, loginUrl } from '#cloud/database/login.ts';
import { migrate } from '#cloud/database/migrate.ts';
import { newId } from '#cloud/database/new-id.ts';
import { type Database, openPool } from '#cloud/database/pool.ts';
import { machines } from '#cloud/machines.ts';

export interface BenchDatabase {
  /** The superuser: prepares and counts. */
  readonly admin: Database;
  readonly app: Database;
  readonly worker: Database;
  readonly gateway: Database;
  readonly adminUrl: string;
  url(role: LoginRole): string;
  close(): Promise<void>;
}

const connections = 20;

export async function openBenchDatabase(): Promise<BenchDatabase> {
  const home = mkdtempSync(join(tmpdir(), 'kannuki-bench-'));
  // The server's own user must find its way in.
  chmodSync(home, 0o711);
  const server = await startServer({ folder: join(home, 'database') });
  const { adminUrl } = server;
  const loginSecret = new Uint8Array(32).fill(7);
  await migrate({ adminUrl, machines, loginSecret });
  const url = (role: LoginRole): string => loginUrl(adminUrl, role, loginSecret);
  const pool = (role: LoginRole) => openPool({ url: url(role), size: connections, name: `bench-${role}` });
  const admin = openPool({ url: adminUrl, size: 2, name: 'bench-admin', statementMs: 300_000 });
  const pools = { app: pool('app'), worker: pool('worker'), gateway: pool('gateway') };
  return {
    ...{ adminUrl, url, admin, ...pools },
    async close() {
      for (const open of [admin, ...Object.values(pools)]) await open.destroy();
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** @returns ids of new facilities. */
export async function addFacilities(admin: Database, count: number): Promise<readonly string[]> {
  const organization = newId('org');
  const ids = Array.from({ length: count }, () => newId('fac'));
  await sql`insert into organization (id, name) values (${organization}, 'Bench')`.execute(admin);
  await sql`insert into facility (id, organization_id, name, zone, pin_salt, lookup_key_sealed, created_by)
    select id, ${organization}, 'Bench', 'UTC', ${Buffer.alloc(16)}, ${Buffer.alloc(48)}, 'usr_bench'
    from unnest(${ids}::text[]) id`.execute(admin);
  return ids;
}

/** Gateways in service, with nothing in their feeds. @param edgeKey raw, the same for all. @returns their ids. */
export async function addGateways(
  admin: Database,
  facilities: readonly string[],
  { each, edgeKey = new Uint8Array(32) }: { readonly each: number; readonly edgeKey?: Uint8Array },
): Promise<readonly string[]> {
  const rows = facilities.flatMap((facility) => Array.from({ length: each }, () => ({ facility, id: newId('gwy') })));
  const key = Buffer.from(edgeKey);
  await admin.transaction().execute(async (transaction) => {
    // They come in ready, past their machine.
    await sql`set local session_replication_role = replica`.execute(transaction);
    await sql`insert into gateway (facility_id, id, name, status, door_sign_key, door_seal_key, edge_key, door_fingerprint,
        hardware, confirmed_at)
      select g.facility, g.id, 'Bench', 'active', ${key}, ${key}, ${key}, ${'0'.repeat(64)}, 'bench', now()
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g(facility text, id text)`.execute(transaction);
  });
  return rows.map(({ id }) => id);
}
