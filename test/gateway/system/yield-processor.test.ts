import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const module = new URL('../../../gateway/system/yield-processor.ts', import.meta.url).href;
const code = `import { readdirSync, readFileSync } from 'node:fs';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { yieldProcessor } from '${module}';
const niceness = () => readdirSync('/proc/self/task').map((thread) => {
  const stat = readFileSync('/proc/self/task/' + thread + '/stat', 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
});
const before = niceness();
yieldProcessor();
const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
await once(worker, 'online');
console.log(JSON.stringify({ before, after: niceness() }));
process.exit();`;

it('lets others go before every thread of the process, those of the engine and those to come', () => {
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  const { before, after } = JSON.parse(said) as { readonly before: number[]; readonly after: number[] };
  expect(after.length).toBeGreaterThan(before.length);
  expect(Math.min(...after)).toBeGreaterThanOrEqual(10);
});
