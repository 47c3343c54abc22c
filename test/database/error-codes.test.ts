import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { migrationFolder } from '#cloud/database/read-migrations.ts';

it('explains every SQLSTATE that a migration raises, and no other', () => {
  const raised = new Set(
    readdirSync(migrationFolder).flatMap((file) =>
      [...readFileSync(join(migrationFolder, file), 'utf8').matchAll(/errcode = '(\w+)'/g)].map(
        ([, code]) => code ?? '',
      ),
    ),
  );
  const page = readFileSync(join(migrationFolder, '..', 'error-codes.md'), 'utf8');
  const explained = [...page.matchAll(/^\| (KN\d{3}) \|.*$/gm)];
  expect(explained.map(([, code]) => code)).toEqual(expect.arrayContaining([...raised]));
  const reserved = explained.filter(([line]) => line.includes('reserved')).map(([, code]) => code);
  expect(explained.map(([, code]) => code).toSorted()).toEqual([...raised, ...reserved].toSorted());
});
