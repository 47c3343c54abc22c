import { expect, it } from 'vitest';
import { findMachines, machinePages, writtenPages } from '../../tools/generate-machines.ts';

it('keeps docs/machines as the declarations are (else: node tools/generate-machines.ts)', async () => {
  const machines = await findMachines();
  expect(machines.map(({ name }) => name)).toContain('invitation');
  expect(Object.fromEntries(writtenPages())).toEqual(Object.fromEntries(machinePages(machines)));
});
