/**
 * B11: a tenant's queries under row security against the same with the tenant written out and row security off.
 *
 * A million rows of a thousand tenants in a real table; each query is asked in turns, in one open transaction of each side,
 * of another tenant every time. What setting the claims costs is told apart.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { startServer } from '#cloud/database/embedded-server.ts';
import { loginUrl } from '#cloud/database/login.ts';
import { migrate } from '#cloud/database/migrate.ts';
import { type Database, openPool } from '#cloud/database/pool.ts';
import { setLocal, type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { machines } from '#cloud/machines.ts';
import type { BenchRow } from './bench-row.ts';
import { median, round } from './journal-bench.ts';

const tenants = 1_000;
const rowsEach = 1_000;
const rounds = 2_000;
const limit = 1.2;

type Ask = (transaction: TenantTransaction, tenant: string, row: string) => Promise<unknown>;

interface Query {
  readonly what: string;
  readonly underSecurity: Ask;
  readonly written: Ask;
}

const page: Ask = (transaction, tenant) =>
  sql`select * from holder where facility_id = ${tenant} order by id limit 50`.execute(transaction);
const one: Ask = (transaction, tenant, row) =>
  sql`select * from holder where facility_id = ${tenant} and id = ${row}`.execute(transaction);

const queries: readonly Query[] = [
  { what: 'a page of 50', underSecurity: page, written: page },
  { what: 'one row', underSecurity: one, written: one },
  {
    what: 'all of a tenant, by the policy alone',
    underSecurity: (transaction) => sql`select count(*), max(name) from holder`.execute(transaction),
    written: (transaction, tenant) =>
      sql`select count(*), max(name) from holder where facility_id = ${tenant}`.execute(transaction),
  },
];

export async function run(): Promise<BenchRow[]> {
  const home = mkdtempSync(join(tmpdir(), 'kannuki-bench-'));
  chmodSync(home, 0o711);
  const server = await startServer({ folder: join(home, 'database'), isDisposable: true });
  try {
    const loginSecret = new Uint8Array(32).fill(7);
    await migrate({ adminUrl: server.adminUrl, machines, loginSecret });
    const admin = openPool({ url: server.adminUrl, size: 1, name: 'bench-admin', statementMs: 600_000 });
    const app = openPool({ url: loginUrl(server.adminUrl, 'app', loginSecret), size: 1, name: 'bench-app' });
    await fill(admin);
    const rows: BenchRow[] = [];
    for (const query of queries) rows.push(await compare(app, admin, query));
    await Promise.all([app.destroy(), admin.destroy()]);
    return rows;
  } finally {
    await server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

async function fill(admin: Database): Promise<void> {
  await admin.transaction().execute(async (transaction) => {
    // The tenants themselves are of no account here.
    await sql`set local session_replication_role = replica`.execute(transaction);
    await sql`insert into holder (facility_id, id, name)
      select 'fac_' || tenant, 'hol_' || row, 'Holder ' || row
      from generate_series(1, ${tenants}::int) tenant, generate_series(1, ${rowsEach}::int) row`.execute(transaction);
  });
  await sql`vacuum analyze holder`.execute(admin);
}

async function compare(app: Database, admin: Database, query: Query): Promise<BenchRow> {
  const times: { readonly secured: number[]; readonly written: number[] } = { secured: [], written: [] };
  await tenantTransaction(app, { actor: 'bench', facilityIds: [] }, (secured) =>
    admin.transaction().execute(async (written) => {
      for (let round = 0; round < rounds; round += 1) {
        const tenant = `fac_${((round * 37) % tenants) + 1}`;
        const row = `hol_${((round * 11) % rowsEach) + 1}`;
        await setLocal(secured, { 'app.facility_ids': `{${tenant}}` });
        const sides = [
          () => timed(times.secured, () => query.underSecurity(secured, tenant, row)),
          () => timed(times.written, () => query.written(written, tenant, row)),
        ];
        // Whoever comes second finds the pages warm.
        for (const side of round % 2 === 0 ? sides : sides.toReversed()) await side();
      }
    }),
  );
  const [secured, written] = [median(times.secured), median(times.written)];
  return {
    id: 'B11',
    what: `${query.what}, ${tenants} tenants of ${rowsEach}`,
    figure: `${round(secured * 1_000)} µs`,
    peer: `tenant written out, no row security ${round(written * 1_000)} µs`,
    ratio: round(secured / written),
    bar: `≤ ${limit}`,
    ok: secured / written <= limit,
  };
}

async function timed(times: number[], work: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  await work();
  times.push(performance.now() - began);
}

if (import.meta.main) console.table(await run());
