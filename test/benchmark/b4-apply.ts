/**
 * B4: how fast a snapshot of 100 000 credentials becomes the replica, beside one plain transaction of the same rows.
 *
 * Ours begins with the signed chunks and ends with the synced file that the pointer names: every chunk is proven, parsed,
 * staged so that a crash loses none, then every row gets its code and its place in the sums. The peer has the rows in memory
 * already, and puts them into the same tables in one synced transaction; it checks nothing and could not be resumed. Both in
 * turns in one process; processor time is compared, since what else the machine does falls on it least, and the time on the
 * wall is told too.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { FeedKeeper } from '#gateway/replica/feed-keeper.ts';
import { ReplicaKeeper } from '#gateway/replica/replica-keeper.ts';
import { rowSql } from '#gateway/replica/row-sql.ts';
import { migrate, readMigrations } from '#gateway/store/migrate.ts';
import { openDatabase, type Statement } from '#gateway/store/open-database.ts';
import type { FeedPut } from '#shared/contract/sync/feed.ts';
import { columnsOf } from '#shared/replica-columns.ts';
import { bucketOfId, type RowKind } from '#shared/replica-digest.ts';
import { rawPublicKey, toBase64url } from '#shared/signed-statement.ts';
import { testLookupKey, testRowKey } from '../fakes/sample-facility.ts';
import { gateway, SigningCloud } from '../fakes/signing-cloud.ts';
import { benchCursor } from './b3-cloud.ts';
import { snapshotRows } from './b3-rows.ts';
import type { BenchRow } from './bench-row.ts';
import { createBenchFolder, median } from './journal-bench.ts';

const credentials = 100_000;
const doors = 64;
const rounds = 3;
const bar = 0.15;

interface Took {
  readonly wallMs: number;
  readonly cpuMs: number;
}

export async function run(): Promise<BenchRow[]> {
  const rows = snapshotRows(credentials, doors);
  const cloud = new SigningCloud();
  const chunks = await cloud.snapshot(rows, { cursor: benchCursor });
  const folder = createBenchFolder();
  const [ours, plain]: [Took[], Took[]] = [[], []];
  try {
    for (let round = 0; round < rounds; round += 1) {
      plain.push(await timed(() => insertPlainly(join(folder.path, `plain-${round}.db`), rows)));
      rmSync(join(folder.path, `plain-${round}.db`));
      ours.push(await timed(() => applyFeed(folder.path, { cloud, chunks, epoch: round + 1 })));
    }
  } finally {
    folder.remove();
  }
  return [rowOf(rows.length, ours, plain)];
}

function rowOf(count: number, ours: readonly Took[], plain: readonly Took[]): BenchRow {
  const rate = (took: readonly Took[]) => {
    const perSecond = (ms: number) => Math.round(count / (ms / 1_000)).toLocaleString('en');
    return `${perSecond(median(took.map(({ wallMs }) => wallMs)))}/s (${perSecond(median(took.map(({ cpuMs }) => cpuMs)))}/s of processor)`;
  };
  const ratio = median(plain.map(({ cpuMs }, round) => cpuMs / (ours[round]?.cpuMs ?? Number.NaN)));
  return {
    id: 'B4',
    what: `signed snapshot of ${credentials.toLocaleString('en')} credentials, ${count.toLocaleString('en')} rows, until it is in force`,
    figure: rate(ours),
    peer: `one plain transaction ${rate(plain)}`,
    ratio,
    bar: `≥ ${bar}`,
    ok: ratio >= bar,
  };
}

interface Fed {
  readonly cloud: SigningCloud;
  readonly chunks: readonly string[];
  readonly epoch: number;
}

/** What the replica's thread does with a snapshot, by its own parts. */
async function applyFeed(folder: string, { cloud, chunks, epoch }: Fed): Promise<void> {
  const place = { folder, rowKey: testRowKey, lookupKey: testLookupKey };
  const keeper = new ReplicaKeeper(place);
  const feed = new FeedKeeper(place, keeper);
  const feedKey = toBase64url(rawPublicKey(cloud.feedKey));
  await feed.trust({ gateway, feedKey, head: { epoch: epoch - 1, cursor: 0, digest: '' }, floor: 0 });
  for (const chunk of chunks) {
    const taken = await feed.follow('chunk', chunk);
    if (taken.kind !== 'staged') throw new Error(JSON.stringify(taken));
  }
  const built = await feed.build(epoch);
  if (built.kind !== 'switched') throw new Error(JSON.stringify(built));
  keeper.forgetOthers();
  feed.close();
  keeper.close();
}

/** In the order in which they come, with nothing but their columns. */
function insertPlainly(path: string, rows: readonly FeedPut[]): void {
  const store = openDatabase({ path, mode: 'create' });
  migrate(store, readMigrations('replica'));
  const statements = new Map<RowKind, Statement>();
  store.transaction(() => {
    for (const { kind, row } of rows) {
      let put = statements.get(kind);
      if (put === undefined) {
        put = store.prepare(rowSql[kind].put);
        statements.set(kind, put);
      }
      const columns = (columnsOf[kind] as (of: object) => readonly unknown[])(row);
      const isSpread = kind === 'holder' || kind === 'grant';
      put.run(...(isSpread ? [bucketOfId(String(columns[0]))] : []), ...columns, noCode);
    }
  })();
  store.close();
}

const noCode = '00'.repeat(32);

async function timed(act: () => unknown): Promise<Took> {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  await act();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - wall, cpuMs: (user + system) / 1_000 };
}

if (import.meta.main) console.table(await run());
