/**
 * B15: bytes passed to write() for each granted entry, against the entry's own bytes.
 *
 * Counted by the kernel for the journal thread (`wchar` of /proc/thread-self/io), so the write-ahead log, its carrying
 * over into the database, heads and their keys are all in it. Own bytes are the values stored of an entry, without any
 * overhead of rows or pages. The run ends with everything carried over, as a long-running gateway would have.
 */
import { join } from 'node:path';
import type { EntryDraft } from '#gateway/journal/entry.ts';
import { openDatabase } from '#gateway/store/open-database.ts';
import type { BenchRow } from './bench-row.ts';
import { createBenchFolder, grantedAccess, grantedEntry, openBenchJournal, round } from './journal-bench.ts';

const entries = 19_200;

export async function run(): Promise<BenchRow[]> {
  const single = await measure(1, (request) => [grantedEntry(request)]);
  const access = await measure(1, grantedAccess);
  const group = await measure(32, (request) => [grantedEntry(request)]);
  return [
    rowOf('one granted entry per commit', single, 12),
    rowOf('one granted access (two entries) per commit', access, 12),
    rowOf('32 granted entries per commit', group, 6),
  ];
}

interface Measured {
  readonly written: number;
  readonly own: number;
}

/** Both per entry, bytes. */
async function measure(group: number, draftsOf: (request: number) => readonly EntryDraft[]): Promise<Measured> {
  const folder = createBenchFolder();
  const opened = await openBenchJournal(folder.path);
  const before = (await opened.archive.writtenBytes()) ?? Number.NaN;
  let count = 0;
  for (let request = 0; count < entries; ) {
    const handed = Array.from({ length: group }, () => draftsOf(request++));
    await Promise.all(handed.map((drafts) => opened.journal.append(drafts)));
    count += handed.flat().length;
  }
  await opened.archive.checkpoint();
  const after = (await opened.archive.writtenBytes()) ?? Number.NaN;
  await opened.journal.close();
  const own = ownBytes(join(folder.path, 'journal.db'));
  folder.remove();
  return { written: (after - before) / count, own };
}

function ownBytes(path: string): number {
  const store = openDatabase({ path, mode: 'read' });
  const sum = `SELECT avg(6 + length(boot_id) + 6 + length(clock_state) + length(kind) + length(door_id) + length(request_id)
    + length(body) + length(prev_hash) + length(hash)) FROM entry`;
  const own = Number(store.prepare(sum).pluck().get());
  store.close();
  return own;
}

function rowOf(what: string, { written, own }: Measured, bar: number): BenchRow {
  const ratio = written / own;
  return {
    id: 'B15',
    what: `bytes to write(), ${what}`,
    figure: `${round(written)} B per entry`,
    peer: `own bytes ${round(own)} B`,
    ratio: round(ratio),
    bar: `≤ ${bar}`,
    ok: ratio <= bar,
  };
}

if (import.meta.main) console.table(await run());
