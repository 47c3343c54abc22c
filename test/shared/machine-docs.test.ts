import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { machines } from '#cloud/machines.ts';
import { machinePages, writtenPages } from '../../tools/generate-machines.ts';

const cloud = join(import.meta.dirname, '../../cloud');

it('keeps docs/machines as the declarations are (else: node tools/generate-machines.ts)', () => {
  expect(Object.fromEntries(writtenPages())).toEqual(Object.fromEntries(machinePages(machines)));
});

it('lists every machine that is declared, since the database learns its rules from the list', () => {
  const files = readdirSync(cloud, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const declared = files.filter((file) => /= declareMachine[(<]/.test(readFileSync(join(cloud, file), 'utf8')));
  expect(declared.length).toBe(machines.length);
});
