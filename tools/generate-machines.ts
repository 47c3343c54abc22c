/** Writes docs/machines: one page for every machine there is. `--rules` prints their rows for a migration instead. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnyMachine } from '#shared/machine.ts';
import { machinePage } from '#shared/machine-page.ts';
import { transitionRules } from '#shared/machine-rules.ts';

const root = join(import.meta.dirname, '..');
const folder = join(root, 'docs', 'machines');

/** Every machine of the house: what `cloud/<room>/machine.ts` and `<name>-machine.ts` export. */
export async function findMachines(): Promise<readonly AnyMachine[]> {
  const cloud = join(root, 'cloud');
  const files = readdirSync(cloud, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(^|[/-])machine\.ts$/.test(file),
  );
  const found: AnyMachine[] = [];
  for (const file of files.sort()) {
    const exported = (await import(pathToFileURL(join(cloud, file)).href)) as Record<string, unknown>;
    found.push(...Object.values(exported).filter(isMachine));
  }
  return found;
}

const isMachine = (value: unknown): value is AnyMachine =>
  typeof value === 'object' && value !== null && 'cells' in value && 'initial' in value && 'events' in value;

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

function printRules(machines: readonly AnyMachine[]): void {
  for (const rule of machines.flatMap(transitionRules)) {
    const { machine, event, from_state, to_state } = rule;
    console.log(`  ('${machine}', '${event}', '${from_state}', '${to_state}'),`);
  }
}

if (import.meta.main) {
  const machines = await findMachines();
  if (process.argv.includes('--rules')) printRules(machines);
  else writePages(machinePages(machines));
}
