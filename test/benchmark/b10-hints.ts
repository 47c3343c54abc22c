/**
 * B10: business commits while the dispatcher gives wake hints over NOTIFY, against the same without a hint.
 *
 * Verbs of several callers at a time, each in its own transaction with its feed rows, on a real disk; the dispatcher works
 * in both cases, and a node listens. Turns of both kinds alternate; each on turn is held against the off turn beside it.
 *
 * Run alone: `node test/benchmark/b10-hints.ts`.
 */
import { newId } from '#cloud/database/new-id.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { createDispatcher } from '#cloud/gateway-sync/dispatch.ts';
import { emitFeed } from '#cloud/gateway-sync/emit-feed.ts';
import type { FeedHints } from '#cloud/gateway-sync/feed-hints.ts';
import { createPostgresHints } from '#cloud/gateway-sync/postgres-hints.ts';
import { identifier } from '#shared/identifier.ts';
import { addFacilities, addGateways, type BenchDatabase, openBenchDatabase } from './bench-database.ts';
import type { BenchRow } from './bench-row.ts';
import { median, round } from './journal-bench.ts';

const pairs = 12;
const turnMs = 2_000;
const callers = 8;
const facilityCount = 16;
const limit = 0.95;

type Publish = Pick<FeedHints, 'publish'>;

export async function run(): Promise<BenchRow[]> {
  const database = await openBenchDatabase();
  const onFault = (error: unknown) => {
    throw error;
  };
  const hints = await createPostgresHints(database.worker, { url: database.url('worker'), onFault });
  try {
    const facilities = await addFacilities(database.admin, facilityCount);
    await addGateways(database.admin, facilities, { each: 1 });
    const off: Publish = { publish: async () => undefined };
    const rates = { on: [] as number[], off: [] as number[] };
    await commitRate(database, facilities, off);
    for (let pair = 0; pair < pairs; pair += 1) {
      const sides = [
        async () => rates.on.push(await commitRate(database, facilities, hints)),
        async () => rates.off.push(await commitRate(database, facilities, off)),
      ];
      for (const side of pair % 2 === 0 ? sides : sides.toReversed()) await side();
    }
    return [rowOf(rates.on, rates.off)];
  } finally {
    await hints.close();
    await database.close();
  }
}

function rowOf(on: readonly number[], off: readonly number[]): BenchRow {
  const ratio = median(on.map((rate, pair) => rate / (off[pair] ?? Number.NaN)));
  return {
    id: 'B10',
    what: `business commits with wake hints on, ${callers} callers`,
    figure: `${Math.round(median(on))} /s`,
    peer: `hints off ${Math.round(median(off))} /s`,
    ratio: round(ratio),
    bar: `≥ ${limit}`,
    ok: ratio >= limit,
  };
}

/** @returns commits a second, while the dispatcher numbers what they queue. */
async function commitRate(
  { app, worker }: BenchDatabase,
  facilities: readonly string[],
  hints: Publish,
): Promise<number> {
  const stop = new AbortController();
  let fault: unknown;
  const dispatcher = createDispatcher({ database: worker, hints, onFault: (error) => (fault = error) });
  const working = dispatcher.run(stop.signal);
  const began = performance.now();
  let commits = 0;
  const caller = async (place: number) => {
    for (let turn = place; performance.now() - began < turnMs; turn += callers) {
      const facility = facilities[turn % facilities.length] ?? '';
      const row = { id: identifier<'holder'>(newId('hol')), name: 'Hana' };
      await tenantTransaction(app, { actor: 'bench', facilityIds: [facility] }, (transaction) =>
        emitFeed(transaction, facility, [{ op: 'put', kind: 'holder', row }]),
      );
      commits += 1;
      dispatcher.nudge();
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, place) => caller(place)));
  const rate = (commits * 1_000) / (performance.now() - began);
  stop.abort();
  await working;
  while ((await dispatcher.dispatchOnce()) > 0);
  if (fault !== undefined) throw fault;
  return rate;
}

if (import.meta.main) console.table(await run());
