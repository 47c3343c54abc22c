/**
 * Runs simulated worlds of cloud, network, edge and door, one for each seed, and says which of them broke a claim.
 *
 * `npm run simulate -- --seeds 10000` runs seeds 1 to 10000 on two threads; `--seed S` replays that one, the same to the last
 * step, with all that happened before it broke.
 */
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';

interface SeedResult {
  readonly seed: number;
  readonly steps: number;
  readonly virtualMs: number;
  readonly failure:
    | { readonly claim: string; readonly at: number; readonly step: number; readonly trace: readonly string[] }
    | undefined;
}

const threads = 2;
const seedsAtOnce = 20;
const reportEveryMs = 2_000;
/** More are not printed in full. */
const shownMax = 3;
const workerFile = new URL('../test/simulation/sync/simulate-worker.ts', import.meta.url);
const runSeedFile = new URL('../test/simulation/sync/run-seed.ts', import.meta.url);

const { values } = parseArgs({ options: { seeds: { type: 'string' }, seed: { type: 'string' } } });
const seed = wholeNumber('seed', values.seed, 1);
if (values.seed !== undefined && values.seeds === undefined) await replay(seed);
else await runAll(seed, wholeNumber('seeds', values.seeds, 1_000));

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  console.error(`--${name} must be a whole number from 1, not ${text}`);
  process.exit(2);
}

async function replay(one: number): Promise<void> {
  const { runSeed } = (await import(runSeedFile.href)) as {
    readonly runSeed: (seed: number, parts: undefined, traceMax: number) => SeedResult;
  };
  const result = runSeed(one, undefined, 5_000);
  if (result.failure === undefined) console.log(`seed ${one}: all claims hold (${result.steps} steps)`);
  else showFailure(result);
  process.exitCode = result.failure === undefined ? 0 : 1;
}

function showFailure({ seed: broken, failure }: SeedResult): void {
  if (failure === undefined) return;
  for (const line of failure.trace) console.log(`  ${line}`);
  console.log(`seed ${broken} broke at ${failure.at} ms, step ${failure.step}: ${failure.claim}`);
  console.log(`replay it: npm run simulate -- --seed ${broken}`);
}

async function runAll(first: number, count: number): Promise<void> {
  const began = performance.now();
  const end = first + count;
  const broken: SeedResult[] = [];
  const total = { worlds: 0, steps: 0, virtualMs: 0 };
  let next = first;
  const take = (result: SeedResult): void => {
    total.worlds += 1;
    total.steps += result.steps;
    total.virtualMs += result.virtualMs;
    if (result.failure === undefined) return;
    broken.push(result);
    if (broken.length <= shownMax) showFailure(result);
  };
  const report = (): void => {
    const seconds = Math.round((performance.now() - began) / 1_000);
    const days = (total.virtualMs / 86_400_000).toFixed(1);
    console.log(
      `${total.worlds} of ${count} worlds, ${broken.length} broken; ${total.steps} steps, ${days} virtual days, ${seconds} s`,
    );
  };
  const timer = setInterval(report, reportEveryMs);
  const feed = (worker: Worker): void => {
    const most = Math.min(seedsAtOnce, end - next);
    if (most <= 0) {
      void worker.terminate();
      return;
    }
    worker.postMessage({ from: next, count: most });
    next += most;
  };
  await Promise.all(Array.from({ length: threads }, () => runThread(take, feed)));
  clearInterval(timer);
  report();
  if (broken.length > 0) console.log(`broken seeds: ${broken.map(({ seed: one }) => one).join(' ')}`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}

/** @throws what ended the thread before its time. */
function runThread(take: (result: SeedResult) => void, feed: (worker: Worker) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(workerFile);
    worker.on('message', (message: SeedResult | 'done') => (message === 'done' ? feed(worker) : take(message)));
    worker.on('error', reject);
    worker.on('exit', () => resolve());
    feed(worker);
  });
}
