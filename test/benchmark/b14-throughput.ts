/**
 * B14: how many rows a second go down the feed and up the history, end to end, against a raw COPY of the same rows.
 *
 * Down: a verb's own emission of groups of 500 holders, numbered, mirrored, polled over HTTP, every batch's signature
 * verified, applied by a gateway in memory and acked. Up: pieces of 500 entries over HTTP, chain and heads verified,
 * stored, acked. One gateway, one after the other; the COPY writes the stored rows into tables without keys, in one
 * statement. Printed, without a bar.
 *
 * Run alone: `node test/benchmark/b14-throughput.ts`.
 */
import { type RawBuilder, sql } from 'kysely';
import { changesMax, type FeedPut } from '#shared/contract/sync/feed.ts';
import { uploadEntriesMax } from '#shared/contract/sync/journal.ts';
import { plainHashOf } from '#shared/replica-columns.ts';
import { addHash, digestOf, emptySums } from '#shared/replica-digest.ts';
import { openSync, type SyncRoom, said } from '../cloud/gateway-sync/open-sync.ts';
import type { TestGateway } from '../cloud/gateway-sync/test-gateway.ts';
import type { BenchRow } from './bench-row.ts';
import { round } from './journal-bench.ts';

const rows = 20_000;

export async function run(): Promise<BenchRow[]> {
  const room = await openSync();
  try {
    const gateway = await room.gateway();
    await gateway.catchUp();
    const down = await feedRate(room, gateway);
    const up = await journalRate(gateway);
    return [
      rowOf('feed, emission to ack', down, await copyRate(room, sql`feed_change`)),
      rowOf('history, upload to ack', up, await copyRate(room, sql`journal_entry`)),
    ];
  } finally {
    await room.close();
  }
}

/** @param rate rows a second, as is `copy`. */
function rowOf(what: string, rate: number, copy: number): BenchRow {
  return {
    ...{ id: 'B14', what: `${what}, ${rows} rows`, figure: `${Math.round(rate)} /s` },
    ...{ peer: `COPY of the same rows ${Math.round(copy)} /s`, ratio: round(rate / copy), bar: 'printed', ok: true },
  };
}

async function feedRate({ emit }: SyncRoom, gateway: TestGateway): Promise<number> {
  const before = gateway.rows.size;
  countAlong(gateway);
  const rate = rateOf(async () => {
    const emitting = (async () => {
      for (let from = 0; from < rows; from += changesMax) {
        await emit(Array.from({ length: changesMax }, (_, index) => said.holder(`holder-${from + index}`)));
      }
    })();
    while (gateway.rows.size < before + rows) {
      const { batch } = await gateway.poll(1_000);
      if (batch === undefined) continue;
      gateway.apply(batch);
      await gateway.ack();
    }
    await emitting;
  });
  return await rate;
}

/** Its digest from now on is kept up with each change, as a real gateway does; by nature it is summed anew. */
function countAlong(gateway: TestGateway): void {
  const sums = { ...emptySums };
  const add = ({ kind, row }: FeedPut): void => {
    sums[kind] = addHash(sums[kind], plainHashOf(kind, row as never));
  };
  for (const put of gateway.rows.values()) add(put);
  const apply = gateway.apply.bind(gateway);
  gateway.digest = () => digestOf(sums);
  gateway.apply = (batch) => {
    for (const change of batch.changes) if (change.op === 'put') add(change);
    apply(batch);
  };
}

async function journalRate(gateway: TestGateway): Promise<number> {
  const { journal } = gateway;
  const body = JSON.stringify({ code: 'GRANTED', credential: 'c-000184', grant: 'g-001272', holder: 'h-000184' });
  const pieces: object[] = [];
  for (let from = 1; from <= rows; from += uploadEntriesMax) {
    for (let entry = 0; entry < uploadEntriesMax; entry += 1) {
      journal.append('access.granted', { door: 'north-entrance', requestId: `r-${from + entry}`, body });
    }
    pieces.push(journal.upload(from));
  }
  return await rateOf(async () => {
    for (const piece of pieces) {
      const { status } = await gateway.upload(piece);
      if (status !== 200) throw new Error(`an upload was answered ${status}`);
    }
  });
}

/** Out of the table into a file, and back into one that nothing guards. */
async function copyRate({ database: { admin } }: SyncRoom, table: RawBuilder<unknown>): Promise<number> {
  const { rows: found } = await sql<{
    file: string;
  }>`select current_setting('data_directory') || '/bench.copy' as file`.execute(admin);
  const file = sql.lit(found[0]?.file ?? '');
  const counted = await sql<{ count: number }>`select count(*) as count from ${table}`.execute(admin);
  const count = counted.rows[0]?.count ?? 0;
  await sql`copy ${table} to ${file}`.execute(admin);
  await sql`drop table if exists bench_copy`.execute(admin);
  await sql`create table bench_copy (like ${table})`.execute(admin);
  const began = performance.now();
  await sql`copy bench_copy from ${file}`.execute(admin);
  return (count * 1_000) / (performance.now() - began);
}

/** @param work all rows. @returns rows a second. */
async function rateOf(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (rows * 1_000) / (performance.now() - began);
}

if (import.meta.main) console.table(await run());
