/**
 * B2: a durable grant record through the journal thread, against the least any program could do: append and fdatasync.
 *
 * Both alternate in small rounds on the same disk, so that a neighbour's noise falls on both; medians are compared.
 * The peer appends the bytes of the record to a growing file; the journal is warm, as one that has run for a minute:
 * its log has been carried over once, and is written over since. A record is the granted entry; the two entries of a whole
 * access in one commit are printed too.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchRow } from './bench-row.ts';
import { createBenchFolder, grantedAccess, grantedEntry, median, openBenchJournal, round } from './journal-bench.ts';

const rounds = 40;
const perRound = 25;
const groupSize = 32;
const warmUp = 400;

export async function run(): Promise<BenchRow[]> {
  const folder = createBenchFolder();
  const opened = await openBenchJournal(folder.path);
  const raw = openSync(join(folder.path, 'raw'), 'a');
  const samples = { raw: [] as number[], single: [] as number[], access: [] as number[], group: [] as number[] };
  const record = Buffer.from(JSON.stringify(grantedEntry(1)));
  let request = 0;
  const timed = async (into: number[], work: () => unknown): Promise<void> => {
    const start = performance.now();
    await work();
    into.push((performance.now() - start) * 1_000);
  };
  const append = () => opened.journal.append([grantedEntry(request++)]);
  for (let index = 0; index < warmUp; index += 1) await append();
  for (let round = 0; round < rounds; round += 1) {
    for (let index = 0; index < perRound; index += 1) {
      await timed(samples.raw, () => {
        writeSync(raw, record);
        fdatasyncSync(raw);
      });
    }
    for (let index = 0; index < perRound; index += 1) await timed(samples.single, append);
    for (let index = 0; index < perRound; index += 1) {
      await timed(samples.access, () => opened.journal.append(grantedAccess(request++)));
    }
    for (let index = 0; index < 5; index += 1) {
      await timed(samples.group, () => Promise.all(Array.from({ length: groupSize }, append)));
    }
  }
  closeSync(raw);
  await opened.journal.close();
  folder.remove();
  return rowsOf(samples);
}

function rowsOf(samples: Record<'raw' | 'single' | 'access' | 'group', number[]>): BenchRow[] {
  const [raw, single, access] = [median(samples.raw), median(samples.single), median(samples.access)];
  const perRow = median(samples.group) / groupSize;
  const peer = `append + fdatasync ${round(raw)} µs`;
  return [
    {
      id: 'B2',
      what: 'durable grant record, one entry, p50',
      figure: `${round(single)} µs`,
      peer,
      ratio: round(single / raw),
      bar: '≤ 1.6',
      ok: single / raw <= 1.6,
    },
    {
      id: 'B2',
      what: 'durable granted access, two entries in one commit, p50',
      figure: `${round(access)} µs`,
      peer,
      ratio: round(access / raw),
      bar: '≤ 1.6',
      ok: access / raw <= 1.6,
    },
    {
      id: 'B2',
      what: `one of ${groupSize} records arriving together, p50`,
      figure: `${round(perRow)} µs`,
      peer: `single ${round(single)} µs`,
      ratio: round(perRow / single),
      bar: '≤ 0.125',
      ok: perRow / single <= 0.125,
    },
  ];
}

if (import.meta.main) console.table(await run());
