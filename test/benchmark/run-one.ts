/** One bench in a process of its own: sends its rows to the process that began it. */
import { invariant } from '#shared/invariant.ts';
import type { BenchRow } from './bench-row.ts';

interface Bench {
  run(): Promise<readonly BenchRow[]>;
}

const [module] = process.argv.slice(2);
invariant(module !== undefined && process.send !== undefined, 'begun by run.ts with the bench to run');
const bench = (await import(module)) as Bench;
process.send(await bench.run());
process.disconnect();
