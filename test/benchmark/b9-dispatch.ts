/**
 * B9: what the cloud does later, with lease, attempts and what is set aside, against graphile-worker on the same database.
 *
 * The inbox, for events that write a row, and printed for such as mean nothing to do; and the numbering of the feeds, whose
 * group is a job that writes its mirror and sums. The peer runs batched (a local queue, completions together), with the same
 * number of connections; its job writes the same row. In turns; medians.
 *
 * Run alone: `node test/benchmark/b9-dispatch.ts`.
 */
import { Logger, run as runWorker, type TaskList } from 'graphile-worker';
import { sql } from 'kysely';
import { type InboxParts, processInbox } from '#cloud/database/inbox.ts';
import { newId } from '#cloud/database/new-id.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { createDispatcher } from '#cloud/gateway-sync/dispatch.ts';
import { emitFeed } from '#cloud/gateway-sync/emit-feed.ts';
import { identifier } from '#shared/identifier.ts';
import { waitUntil } from '../fakes/wait-until.ts';
import { addFacilities, addGateways, type BenchDatabase, openBenchDatabase } from './bench-database.ts';
import type { BenchRow } from './bench-row.ts';
import { median, round } from './journal-bench.ts';

const rounds = 3;
const jobs = 2_000;
const facilityCount = 20;
const gatewaysEach = 5;
const connections = 20;

/** Jobs a second. */
type Rates = { readonly ours: number[]; readonly peer: number[] };

export async function run(): Promise<BenchRow[]> {
  const database = await openBenchDatabase();
  try {
    const facilities = await addFacilities(database.admin, facilityCount);
    await addGateways(database.admin, facilities, { each: gatewaysEach });
    await sql`create table bench_effect (id bigint generated always as identity primary key, word text not null)`.execute(
      database.admin,
    );
    await sql`grant insert on bench_effect to kannuki_worker`.execute(database.admin);
    return await compareAll(database, facilities);
  } finally {
    await database.close();
  }
}

const nothing: InboxParts['handle'] = async () => undefined;
const writing: InboxParts['handle'] = async (transaction, event) => {
  await sql`insert into bench_effect (word) values (${event.event_id})`.execute(transaction);
};

async function compareAll(database: BenchDatabase, facilities: readonly string[]): Promise<BenchRow[]> {
  const idle: Rates = { ours: [], peer: [] };
  const effect: Rates = { ours: [], peer: [] };
  const feed: number[] = [];
  // Both sides warm up once, untimed.
  await inboxRate(database, facilities, nothing);
  await peerRate(database, 'nothing');
  for (let turn = 0; turn < rounds; turn += 1) {
    idle.ours.push(await inboxRate(database, facilities, nothing));
    idle.peer.push(await peerRate(database, 'nothing'));
    effect.ours.push(await inboxRate(database, facilities, writing));
    effect.peer.push(await peerRate(database, 'writing'));
    feed.push(await feedRate(database, facilities));
  }
  return [
    { ...rowOf('inbox, events with nothing to do', idle), bar: 'printed', ok: true },
    rowOf('inbox, each writes a row', effect),
    rowOf('numbering of feeds, against jobs that write a row', { ours: feed, peer: effect.peer }),
  ];
}

function rowOf(what: string, { ours, peer }: Rates): BenchRow {
  const ratio = median(ours.map((rate, turn) => rate / (peer[turn] ?? Number.NaN)));
  return {
    id: 'B9',
    what,
    figure: `${Math.round(median(ours))} /s`,
    peer: `graphile-worker, batched ${Math.round(median(peer))} /s`,
    ratio: round(ratio),
    bar: '≥ 1',
    ok: ratio >= 1,
  };
}

async function inboxRate(
  { admin, worker }: BenchDatabase,
  facilities: readonly string[],
  handle: InboxParts['handle'],
): Promise<number> {
  const source = `bench:${newId('src')}`;
  await sql`insert into inbox_event (facility_id, source, event_id, type, payload)
    select (${facilities}::text[])[1 + n % ${facilities.length}::int], ${source}, 'e' || n, 'bench', '{"n": 1}'
    from generate_series(1, ${jobs}::int) n`.execute(admin);
  const onFault = (error: unknown) => {
    throw error;
  };
  return await rateOf(async () => await processInbox({ database: worker, sourcePrefix: source, handle, onFault }));
}

async function feedRate({ app, worker }: BenchDatabase, facilities: readonly string[]): Promise<number> {
  for (let made = 0; made < jobs; made += facilities.length * gatewaysEach) {
    for (const facility of facilities) {
      const holder = { id: identifier<'holder'>(newId('hol')), name: 'Hana' };
      await tenantTransaction(app, { actor: 'bench', facilityIds: [facility] }, (transaction) =>
        emitFeed(transaction, facility, [{ op: 'put', kind: 'holder', row: holder }]),
      );
    }
  }
  const onFault = (error: unknown) => {
    throw error;
  };
  const hints = { publish: async () => undefined };
  const { dispatchOnce } = createDispatcher({ database: worker, hints, onFault });
  return await rateOf(async () => {
    while ((await dispatchOnce()) > 0);
    return jobs;
  });
}

/** From the moment the jobs are there, with a worker that waits for them, to the last one's end. */
async function peerRate({ admin, adminUrl }: BenchDatabase, task: 'nothing' | 'writing'): Promise<number> {
  let done = 0;
  const taskList: TaskList = {
    nothing: async () => {
      done += 1;
    },
    writing: async (_, { withPgClient }) => {
      await withPgClient((client) => client.query('insert into bench_effect (word) values ($1)', ['e']));
      done += 1;
    },
  };
  const runner = await runWorker({
    connectionString: adminUrl,
    maxPoolSize: connections,
    taskList,
    logger: new Logger(() => () => undefined),
    noHandleSignals: true,
    preset: {
      worker: {
        concurrentJobs: 24,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  });
  await sql`select graphile_worker.add_job('nothing')`.execute(admin);
  await waitUntil('the worker to work', () => done === 1, 60_000);
  done = 0;
  const made = sql`select count(graphile_worker.add_job(${task}, json_build_object('n', n)))
    from generate_series(1, ${jobs}::int) n`;
  await made.execute(admin);
  const rate = await rateOf(async () => {
    await waitUntil('every job to be done', () => done >= jobs, 120_000);
    return done;
  });
  await runner.stop();
  return rate;
}

/** @param work all of it. @returns acts a second. */
async function rateOf(work: () => Promise<number>): Promise<number> {
  const began = performance.now();
  const done = await work();
  if (done !== jobs) throw new Error(`${done} of ${jobs} were done`);
  return (done * 1_000) / (performance.now() - began);
}

if (import.meta.main) console.table(await run());
