/**
 * B7: verifying a whole journal (chain, heads, keys) against reading the same rows once, in order.
 *
 * Both read the same columns in the same pieces from the same warm file; they alternate, and the medians are compared.
 */
import { join } from 'node:path';
import { openStores } from '#gateway/journal/open-stores.ts';
import { prepareDraft } from '#gateway/journal/prepared-entry.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { openDatabase } from '#gateway/store/open-database.ts';
import type { BenchRow } from './bench-row.ts';
import { createBenchFolder, grantedAccess, median, round } from './journal-bench.ts';

const accesses = 50_000;
const rounds = 7;

export async function run(): Promise<BenchRow[]> {
  const folder = createBenchFolder();
  const firstKey = writeJournal(folder.path);
  const path = join(folder.path, 'journal.db');
  const [scans, verifications]: [number[], number[]] = [[], []];
  for (let index = 0; index < rounds; index += 1) {
    scans.push(timed(() => scan(path)));
    verifications.push(
      timed(() => {
        const verdict = verifyJournal(path, firstKey);
        if (verdict.kind !== 'whole' || verdict.entries !== accesses * 2) throw new Error(JSON.stringify(verdict));
      }),
    );
  }
  folder.remove();
  const [scanned, verified] = [median(scans), median(verifications)];
  return [
    {
      id: 'B7',
      what: `verify ${accesses * 2} entries under ${accesses / 500} heads`,
      figure: `${round(verified)} ms`,
      peer: `ordered scan ${round(scanned)} ms`,
      ratio: round(verified / scanned),
      bar: '≤ 3',
      ok: verified / scanned <= 3,
    },
  ];
}

function writeJournal(directory: string): Uint8Array {
  const bootId = '0b0e9f3a-6f0d-4a2e-9c58-3f4d2b1a7c55';
  const stores = openStores({ directory, masterKey: new Uint8Array(32).fill(9), bootId }, 0);
  for (let request = 0; request < accesses; request += 500) {
    stores.journal.transact((transaction) => {
      for (let each = request; each < request + 500; each += 1) {
        for (const draft of grantedAccess(each)) transaction.append(prepareDraft(draft));
      }
      transaction.signHead();
    });
  }
  stores.journal.close();
  stores.site.close();
  return stores.report.firstKey;
}

/** Every row, every column, in order, in pieces of a thousand: what any reader of the journal must at least do. */
function scan(path: string): void {
  const store = openDatabase({ path, mode: 'read' });
  const entriesAfter = store.prepare<[number, number], { readonly place: number }>(
    'SELECT * FROM entry WHERE place > ? ORDER BY place LIMIT ?',
  );
  let count = 0;
  let rows = entriesAfter.all(0, 1_000);
  while (rows.length > 0) {
    count += rows.length;
    rows = entriesAfter.all(rows.at(-1)?.place ?? 0, 1_000);
  }
  store.close();
  if (count !== accesses * 2) throw new Error(`scanned ${count}`);
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

if (import.meta.main) console.table(await run());
