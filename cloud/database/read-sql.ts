/** Statements that stand in `.sql` files of this folder. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export function readSql(name: 'roles' | 'prepare-database'): string {
  return readFileSync(join(import.meta.dirname, `${name}.sql`), 'utf8');
}
