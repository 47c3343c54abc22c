/** Writes docs/machines: one page for every machine there is. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machines } from '#cloud/machines.ts';
import type { AnyMachine } from '#shared/machine.ts';
import { machinePage } from '#shared/machine-page.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'machines');

/** File name → text, as docs/machines should hold them. */
export function machinePages(machines: readonly AnyMachine[]): ReadonlyMap<string, string> {
  return new Map(machines.map((machine) => [`${machine.name.replaceAll('_', '-')}.md`, machinePage(machine)]));
}

/** What docs/machines holds. */
export function writtenPages(): ReadonlyMap<string, string> {
  return new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

function writePages(pages: ReadonlyMap<string, string>): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, page] of pages) writeFileSync(join(folder, name), page);
}

if (import.meta.main) writePages(machinePages(machines));
