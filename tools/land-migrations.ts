/**
 * Pins the migrations that have landed: `cloud/database/landed-migrations.txt`, one `checksum name` a line.
 *
 * What is in that file is never edited, renumbered or removed: a test compares. Run this when a release is made.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrationFolder, readMigrations } from '#cloud/database/read-migrations.ts';

const files = readdirSync(migrationFolder).toSorted();
const lines = readMigrations(migrationFolder).map(({ checksum }, index) => `${checksum} ${files[index]}\n`);
writeFileSync(join(migrationFolder, '..', 'landed-migrations.txt'), lines.join(''));
