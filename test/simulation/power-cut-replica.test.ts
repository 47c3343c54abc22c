/**
 * A power cut at any instant of an import, a switch of epochs or a batch: what was in force is in force, and whole.
 *
 * As `power-cut.test.ts`; `KANNUKI_FULL=1` tries 300 cuts instead of 30.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { checkWholeBucket, type WholeCheck, wholeBuckets } from '#gateway/replica/check-whole.ts';
import { readPointer, replicaPath } from '#gateway/replica/replica-folder.ts';
import type { ReplicaHead } from '#gateway/replica/replica-head.ts';
import { ReplicaReader } from '#gateway/replica/replica-reader.ts';
import { ReplicaWriter } from '#gateway/replica/replica-writer.ts';
import { createRowCodes } from '#gateway/replica/row-mac.ts';
import { openDatabase } from '#gateway/store/open-database.ts';
import { wallMs } from '#shared/instant.ts';
import { filesAfterCut, type Recorded, writeDisk } from '../crash/rebuild-disk.ts';
import { recordWriter } from '../crash/record-writer.ts';
import { testRowKey } from '../fakes/sample-facility.ts';
import { seededRandom } from '../fakes/seeded-random.ts';

const cuts = process.env['KANNUKI_FULL'] === '1' ? 300 : 30;
const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 2 ** 31);
const newFolder = (): string => mkdtempSync(join(tmpdir(), 'kannuki-cut-'));
const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

let work: string;
let recorded: Recorded;
beforeAll(async () => {
  work = newFolder();
  const script = new URL('../crash/write-replica.ts', import.meta.url);
  recorded = await recordWriter({ workFolder: work, script, arguments: ['60'] });
}, 120_000);
afterAll(() => remove(work));

it('records a run worth cutting', () => {
  const synced = new Set(recorded.events.filter(({ kind }) => kind === 'sync').map(({ path }) => path));
  expect([...synced]).toEqual(expect.arrayContaining(['replica-1.db', 'replica-5.db', 'replica-1.db-wal']));
  expect(acknowledgedBefore(recorded.events.length)?.epoch).toBe(5);
});

it(`keeps what was in force through ${cuts} power cuts (seed ${seed})`, () => {
  const random = seededRandom(seed);
  for (let cut = 0; cut < cuts; cut += 1) {
    const behind = Math.floor(random() * recorded.events.length) + 1;
    const name = `cut ${cut} of seed ${seed}, behind event ${behind}`;
    survive(recorded, behind, { random: seededRandom(Math.floor(random() * 2 ** 32)), name });
  }
}, 900_000);

it('would notice a replica that does not sync', () => {
  const events = recorded.events.map((event) => (event.kind === 'sync' ? { ...event, path: '' } : event));
  const random = seededRandom(seed);
  const tried = () => {
    for (let cut = 0; cut < 20; cut += 1)
      survive({ ...recorded, events }, events.length - cut, { random, name: `cut ${cut}` });
  };
  expect(tried).toThrow();
});

function survive(run: Recorded, behind: number, { random, name }: { random: () => number; name: string }) {
  const folder = newFolder();
  const reader = new ReplicaReader({ folder, rowKey: testRowKey });
  try {
    writeDisk(filesAfterCut(run, behind, random), folder);
    const promised = acknowledgedBefore(behind);
    if (readPointer(folder).kind === 'none') {
      expect(promised, name).toBeUndefined();
      return;
    }
    reader.reopen(promised, wallMs(0));
    const { state } = reader;
    expect(state.kind, `${name}: ${JSON.stringify(state)}`).toBe('live');
    if (state.kind === 'live' && promised?.epoch === state.head.epoch)
      expect(state.head.cursor, name).toBeGreaterThanOrEqual(promised.cursor);
    if (state.kind === 'live') expect(faultsIn(folder, state.head.epoch), name).toEqual([]);
  } finally {
    reader.close();
    remove(folder);
  }
}

/** Every row against its code, every bucket against its sum. */
function faultsIn(folder: string, epoch: number): readonly WholeCheck[] {
  const codes = createRowCodes(testRowKey);
  const store = openDatabase({ path: replicaPath(folder, epoch), mode: 'existing' });
  try {
    const sums = new ReplicaWriter(store, codes);
    return wholeBuckets()
      .map((bucket) => checkWholeBucket(bucket, { store, codes, sums }))
      .filter(({ kind }) => kind === 'wrong')
      .toArray();
  } finally {
    store.close();
  }
}

/** What was in force for whoever asked before the cut, from the writer's own record. */
function acknowledgedBefore(behind: number): ReplicaHead | undefined {
  const last = recorded.events
    .slice(0, behind)
    .findLast(({ path, kind }) => path === 'acknowledged' && kind === 'write');
  return last === undefined ? undefined : (JSON.parse(last.bytes.toString('utf8')) as ReplicaHead);
}
