/**
 * Brings a database to the schema of this version: numbered .sql files, applied once, in order, all or none.
 *
 * Guarantees: one transaction; a migration that has landed is never changed under a file that holds it; a file of a
 * later version is refused untouched; afterwards the schema in the file is letter for letter what the migrations make,
 * so that a dropped trigger or a torn page of the schema is damage, not a surprise at a statement.
 * Not promised: a way back. A backup is the way back.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { invariant } from '#shared/invariant.ts';
import type { Store } from './open-database.ts';
import { StoreFault, withStoreFaults } from './store-fault.ts';

export interface Migration {
  /** 1, 2, 3 … without holes. */
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

interface LandedMigration {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly witness: string;
}

/** `witness` tells a torn row from a migration that somebody edited. */
const ledgerSql = `CREATE TABLE IF NOT EXISTS schema_migration (
  number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, witness TEXT NOT NULL) STRICT`;

const fileName = /^(\d{4})-[a-z0-9-]+\.sql$/;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const checksum = (migration: Migration): string => sha256(migration.sql);
const witness = (number: number, name: string, sum: string): string => sha256(`${number}:${name}:${sum}`);

/** The migrations of one file: `0001-name.sql` and on, in the folder `migrations/<of>/` beside this module. */
export function readMigrations(of: 'journal' | 'site' | 'replica' | 'staging'): readonly Migration[] {
  const folder = new URL(`./migrations/${of}/`, import.meta.url);
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return names.map((name, index) => {
    const number = Number(fileName.exec(name)?.[1]);
    invariant(number === index + 1, `migrations are numbered from 0001 without holes, found ${of}/${name}`);
    return { number, name, sql: readFileSync(new URL(name, folder), 'utf8') };
  });
}

/**
 * @returns the number the file was at, and is at now.
 * @throws StoreFault STORE_NEWER_SCHEMA, STORE_MIGRATION_CHANGED, STORE_DAMAGED, or a fault of the disk.
 */
export function migrate(
  store: Store,
  migrations: readonly Migration[],
): { readonly from: number; readonly to: number } {
  return withStoreFaults(store.name, () => {
    const step = store.transaction(() => {
      store.exec(ledgerSql);
      const landed = store.prepare<[], LandedMigration>('SELECT * FROM schema_migration ORDER BY number').all();
      compareLanded(store.name, landed, migrations);
      for (const migration of migrations.slice(landed.length)) applyMigration(store, migration);
      return { from: landed.length, to: migrations.length };
    });
    const moved = step.immediate();
    requireSchema(store, migrations);
    return moved;
  });
}

/** For a file opened to read: the same refusals, and nothing is written. */
export function requireMigrated(store: Store, migrations: readonly Migration[]): void {
  withStoreFaults(store.name, () => {
    requireSchema(store, migrations);
    const landed = store.prepare<[], LandedMigration>('SELECT * FROM schema_migration ORDER BY number').all();
    compareLanded(store.name, landed, migrations);
  });
}

function compareLanded(path: string, landed: readonly LandedMigration[], known: readonly Migration[]): void {
  for (const [index, row] of landed.entries()) {
    const isWhole = row.number === index + 1 && row.witness === witness(row.number, row.name, row.checksum);
    if (!isWhole) throw new StoreFault('STORE_DAMAGED', path, `the record of migration ${index + 1} is torn`);
    const migration = known[index];
    if (!migration) {
      const detail = `the file has schema ${landed.length}, this version knows ${known.length}`;
      throw new StoreFault('STORE_NEWER_SCHEMA', path, detail);
    }
    if (row.name !== migration.name || row.checksum !== checksum(migration)) {
      throw new StoreFault('STORE_MIGRATION_CHANGED', path, `migration ${migration.name} changed after it was applied`);
    }
  }
}

function applyMigration(store: Store, migration: Migration): void {
  store.exec(migration.sql);
  const sum = checksum(migration);
  store
    .prepare('INSERT INTO schema_migration (number, name, checksum, witness) VALUES (?, ?, ?, ?)')
    .run(migration.number, migration.name, sum, witness(migration.number, migration.name, sum));
}

function requireSchema(store: Store, migrations: readonly Migration[]): void {
  const model = new Database(':memory:');
  model.exec(ledgerSql);
  for (const migration of migrations) model.exec(migration.sql);
  const isSame = schemaText(store) === schemaText(model);
  model.close();
  if (!isSame) throw new StoreFault('STORE_DAMAGED', store.name, 'the schema is not what the migrations make');
}

function schemaText(store: Store): string {
  // The planner's own tables come and go.
  const query =
    "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name";
  return JSON.stringify(store.prepare(query).all());
}
