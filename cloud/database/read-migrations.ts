/**
 * The migrations this build knows: plain SQL files, numbered, in order, with what each promises about rows.
 *
 * A file is a row of sections. DDL runs as the owner. Statements that touch rows stand between `-- rows: <count query>`
 * and `-- end rows`: they run as the migrator, and must touch as many rows as the query counted beforehand.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { invariant } from '#shared/invariant.ts';

export interface MigrationSection {
  /** The query that counts what `sql` must touch; `null` for DDL. */
  readonly count: string | null;
  readonly sql: string;
}

export interface Migration {
  readonly number: number;
  /** The file's name without its number and `.sql`. */
  readonly name: string;
  /** SHA-256 of the file, hex. */
  readonly checksum: string;
  readonly sections: readonly MigrationSection[];
}

export const migrationFolder = join(import.meta.dirname, 'migrations');

/** In the order of their numbers. Two files of one number, or a name of another form, are a bug of the build. */
export function readMigrations(folder: string): readonly Migration[] {
  const migrations = readdirSync(folder)
    .toSorted()
    .map((file) => readMigration(folder, file));
  for (const [index, migration] of migrations.entries()) {
    invariant(migration.number !== migrations[index - 1]?.number, `one migration has number ${migration.number}`);
  }
  return migrations;
}

function readMigration(folder: string, file: string): Migration {
  const parts = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file);
  invariant(parts?.[1] && parts[2], `a migration is named NNNN_name.sql, not ${file}`);
  const text = readFileSync(join(folder, file), 'utf8');
  const checksum = createHash('sha256').update(text).digest('hex');
  return { number: Number(parts[1]), name: parts[2], checksum, sections: sectionsOf(text, file) };
}

function sectionsOf(text: string, file: string): readonly MigrationSection[] {
  const sections: MigrationSection[] = [];
  let count: string | null = null;
  let lines: string[] = [];
  function close(next: string | null): void {
    if (lines.some((line) => line.trim() !== '')) sections.push({ count, sql: lines.join('\n') });
    lines = [];
    count = next;
  }
  for (const line of text.split('\n')) {
    const opened = /^-- rows: (.+)$/.exec(line)?.[1];
    if (opened !== undefined) {
      invariant(count === null, `${file} opens a section of rows inside another`);
      close(opened);
    } else if (line.trim() === '-- end rows') {
      invariant(count !== null, `${file} ends a section of rows that it did not open`);
      close(null);
    } else lines.push(line);
  }
  invariant(count === null, `${file} does not end its section of rows`);
  close(null);
  return sections;
}
