/**
 * `npm run bench`: every bar in turn, each bench in a process of its own, so that none runs on another's heap.
 *
 * The table goes to standard output and, as JSON, to `bench.json`; what runs is told on standard error. The exit code is 1
 * when a bar is missed or a bench fails. `npm run bench -- B5 B8` runs those alone.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { BenchRow } from './bench-row.ts';

const benches: Readonly<Record<string, string>> = {
  B1: 'b1-decision.ts',
  B2: 'b2-durable-grant.ts',
  B3: 'b3-beside-load.ts',
  B4: 'b4-apply.ts',
  B5: 'b5-start.ts',
  B6: 'b6-idle-memory.ts',
  B7: 'b7-verify.ts',
  B8: 'b8-card-to-release.ts',
  B9: 'b9-dispatch.ts',
  B10: 'b10-hints.ts',
  B11: 'b11-tenants.ts',
  B12: 'b12-revoke.ts',
  B13: 'b13-waiting.ts',
  B14: 'b14-throughput.ts',
  B15: 'b15-flash.ts',
};
const report = fileURLToPath(new URL('../../bench.json', import.meta.url));
/** Beyond it a bench hangs. */
const withinMs = 20 * 60_000;

interface Finished {
  readonly rows: readonly BenchRow[];
  /** Empty where it ended well. */
  readonly failed: readonly string[];
}

async function runAll(ids: readonly string[]): Promise<Finished> {
  const rows: BenchRow[] = [];
  const failed: string[] = [];
  for (const [at, id] of ids.entries()) {
    const began = performance.now();
    process.stderr.write(`${id} (${at + 1} of ${ids.length}) … load ${loadText()}\n`);
    const found = await runOne(id);
    if (found === undefined) failed.push(id);
    else rows.push(...found);
    const took = `${((performance.now() - began) / 1_000).toFixed(0)} s`;
    process.stderr.write(`${id} ${found === undefined ? 'failed' : 'done'} after ${took}\n`);
  }
  return { rows, failed };
}

/** @returns the rows, or `undefined` where it ended without. */
async function runOne(id: string): Promise<readonly BenchRow[] | undefined> {
  const child = fork(fileURLToPath(new URL('./run-one.ts', import.meta.url)), [`./${benches[id]}`], {
    // What a bench prints is told, and is not the table.
    stdio: ['ignore', 2, 2, 'ipc'],
    timeout: withinMs,
  });
  let rows: readonly BenchRow[] | undefined;
  child.on('message', (message) => {
    rows = message as readonly BenchRow[];
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0 ? rows : undefined;
}

function tableOf(rows: readonly BenchRow[]): string {
  const head = ['', 'what', 'figure', 'limit or peer', 'ratio', 'bar', 'ok'];
  const lines = rows.map(({ id, what, figure, peer, ratio, bar, ok }) => [
    id,
    what,
    figure,
    peer,
    ratio.toFixed(ratio < 0.1 ? 3 : 2),
    bar,
    ok ? 'yes' : 'NO',
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column]?.length ?? 0)));
  const textOf = (line: readonly string[]) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return [head, widths.map((width) => '─'.repeat(width)), ...lines].map((line) => textOf(line).trimEnd()).join('\n');
}

const loadText = (): string => `${loadavg()[0]?.toFixed(1)} on ${cpus().length} cores`;

const asked = process.argv.slice(2);
const unknown = asked.filter((id) => !Object.hasOwn(benches, id));
if (unknown.length > 0) {
  process.stderr.write(`there is no bench ${unknown.join(', ')}; there are ${Object.keys(benches).join(', ')}\n`);
  process.exit(2);
}
const load = loadText();
const { rows, failed } = await runAll(asked.length > 0 ? asked : Object.keys(benches));
process.stdout.write(`${tableOf(rows)}\n`);
for (const id of failed) process.stdout.write(`${id} failed: see above\n`);
const machine = { cpu: cpus()[0]?.model.trim() ?? 'unknown', cores: cpus().length, node: process.version, load };
writeFileSync(report, `${JSON.stringify({ at: new Date().toISOString(), machine, failed, rows }, null, 2)}\n`);
process.exitCode = failed.length === 0 && rows.every(({ ok }) => ok) ? 0 : 1;
