/** Runs worlds in a thread of its own: a range of seeds in, a result for each out. */
import { parentPort } from 'node:worker_threads';
import { runSeed } from './run-seed.ts';

export interface SeedRange {
  readonly from: number;
  readonly count: number;
}

parentPort?.on('message', ({ from, count }: SeedRange) => {
  for (let seed = from; seed < from + count; seed += 1) parentPort?.postMessage(runSeed(seed));
  parentPort?.postMessage('done');
});
