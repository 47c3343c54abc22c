/**
 * Brings a database to the schema of this build: roles, then each migration in its own transaction, then the rules of
 * the declared machines, then the logins.
 *
 * Guarantees: two nodes that start at once take turns by an advisory lock; a landed migration that changed or was
 * renumbered, and a schema newer than this build, are refused before anything is written; a migration that touches rows
 * touches as many as it counted, or nothing of it remains.
 * Needs a login that is a superuser. Not promised: a way back; restore a backup.
 */
import pg from 'pg';
import type { AnyMachine } from '#shared/machine.ts';
import { DatabaseFault, withDatabaseFaults } from './database-fault.ts';
import { createLogins } from './login.ts';
import { type Migration, type MigrationSection, migrationFolder, readMigrations } from './read-migrations.ts';
import { readSql } from './read-sql.ts';
import { syncRules } from './sync-rules.ts';

export interface MigrateOptions {
  /** A superuser's connection string. */
  readonly adminUrl: string;
  /** Every machine whose table the migrations guard. */
  readonly machines: readonly AnyMachine[];
  /** From which the passwords of the logins derive; without it, logins are the operator's affair. */
  readonly loginSecret?: Uint8Array;
  /** Where the files are; the build's own by default. */
  readonly folder?: string;
}

export interface Migrated {
  /** The names applied just now, in order; empty where nothing was left to do. */
  readonly applied: readonly string[];
  /** The number of the newest migration the database has. */
  readonly version: number;
}

/** One key for every node of one database. */
const migrationLock = 0x6b616e75;
/** How long one node waits for another to finish, and for a lock that a running node holds. */
const lockWaitMs = 120_000;

/**
 * @throws DatabaseFault DATABASE_NEWER_SCHEMA, DATABASE_MIGRATION_CHANGED, DATABASE_MIGRATION_ROWS,
 *   DATABASE_UNAVAILABLE, DATABASE_BUSY.
 */
export async function migrate(options: MigrateOptions): Promise<Migrated> {
  const client = new pg.Client({
    connectionString: options.adminUrl,
    application_name: 'kannuki-migrate',
    connectionTimeoutMillis: 10_000,
    lock_timeout: lockWaitMs,
  });
  client.on('error', () => undefined); // The statement in flight fails with the same cause.
  return withDatabaseFaults(async () => {
    try {
      await client.connect();
      await client.query("set client_min_messages = 'warning'; set search_path = public, pg_temp");
      await client.query('select pg_advisory_lock($1)', [migrationLock]);
      return await migrateLocked(client, options);
    } finally {
      await client.end();
    }
  });
}

async function migrateLocked(client: pg.Client, options: MigrateOptions): Promise<Migrated> {
  const known = readMigrations(options.folder ?? migrationFolder);
  const landed = await readLanded(client);
  refuseStrangers(known, landed);
  await client.query(readSql('roles'));
  await client.query(readSql('prepare-database'));
  const numbers = new Set(landed.map((row) => row.number));
  const pending = known.filter((migration) => !numbers.has(migration.number));
  for (const migration of pending) await apply(client, migration);
  await syncRules(client, options.machines);
  if (options.loginSecret) await createLogins(client, options.loginSecret);
  return { applied: pending.map((migration) => migration.name), version: known.at(-1)?.number ?? 0 };
}

interface Landed {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

async function readLanded(client: pg.Client): Promise<readonly Landed[]> {
  const there = await client.query<{ there: boolean }>(
    "select to_regclass('public.schema_migration') is not null as there",
  );
  if (!there.rows[0]?.there) return [];
  return (await client.query<Landed>('select number, name, checksum from schema_migration order by number')).rows;
}

/** Migrations of rooms are numbered in ranges, so a lower number may land after a higher one. */
function refuseStrangers(known: readonly Migration[], landed: readonly Landed[]): void {
  const byNumber = new Map(known.map((migration) => [migration.number, migration]));
  const newest = known.at(-1)?.number ?? 0;
  for (const row of landed) {
    const ours = byNumber.get(row.number);
    const label = `${String(row.number).padStart(4, '0')}_${row.name}`;
    if (!ours && row.number > newest)
      throw new DatabaseFault('DATABASE_NEWER_SCHEMA', `the database has ${label}, which this build does not know`);
    if (!ours || ours.name !== row.name)
      throw new DatabaseFault('DATABASE_MIGRATION_CHANGED', `${label} has landed and was removed or renumbered`);
    if (ours.checksum !== row.checksum)
      throw new DatabaseFault('DATABASE_MIGRATION_CHANGED', `${label} has landed and its text was changed`);
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    for (const section of migration.sections) await runSection(client, migration, section);
    await client.query('reset role');
    await client.query('insert into schema_migration (number, name, checksum) values ($1, $2, $3)', [
      migration.number,
      migration.name,
      migration.checksum,
    ]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined); // The first error says more.
    throw error;
  }
}

async function runSection(client: pg.Client, migration: Migration, section: MigrationSection): Promise<void> {
  if (section.count === null) {
    await client.query('set local role kannuki_owner');
    const touched = resultsOf(await client.query(section.sql)).find(
      ({ command, rowCount }) => ['UPDATE', 'DELETE', 'INSERT', 'MERGE'].includes(command) && rowCount !== null,
    );
    if (touched)
      throw new DatabaseFault(
        'DATABASE_MIGRATION_ROWS',
        `${migration.name} touches rows outside of a section of rows (${touched.command})`,
      );
    return;
  }
  // Counted by who sees every row, touched by who needs a policy for it: under forced row security a forgotten policy
  // would otherwise be an update of nothing.
  await client.query('set local role kannuki_backup');
  const counted = Number(Object.values((await client.query(section.count)).rows[0] ?? {})[0]);
  await client.query("set local role kannuki_migrator; select set_config('app.verb', 'import', true)");
  const results = resultsOf(await client.query(section.sql));
  const touched = results.reduce((sum, result) => sum + (result.command === 'SELECT' ? 0 : (result.rowCount ?? 0)), 0);
  if (touched !== counted)
    throw new DatabaseFault(
      'DATABASE_MIGRATION_ROWS',
      `${migration.name} counted ${counted} rows and touched ${touched}`,
    );
}

/** A text of several statements yields a result for each, of one statement the result itself. */
function resultsOf(answer: pg.QueryResult | pg.QueryResult[]): readonly pg.QueryResult[] {
  return Array.isArray(answer) ? answer : [answer];
}
