import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrationFolder, readMigrations } from '#cloud/database/read-migrations.ts';

const landed = readFileSync(join(migrationFolder, '..', 'landed-migrations.txt'), 'utf8')
  .trim()
  .split('\n');
const files = new Map(
  readMigrations(migrationFolder).map(({ number, name, checksum }) => [
    `${String(number).padStart(4, '0')}_${name}.sql`,
    checksum,
  ]),
);

it.each(landed.map((line) => line.split(' ')))('keeps, with checksum %s, what has landed as %s', (checksum, file) => {
  expect(files.get(file ?? '')).toBe(checksum);
});
