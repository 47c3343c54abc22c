/**
 * A power cut at any instant: what was acknowledged is there, and everything that is there verifies.
 *
 * One run of a real writer is recorded; each cut takes a prefix of the record and loses a random part of what was not
 * synced. `KANNUKI_FULL=1` tries 300 cuts instead of 30.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { filesAfterCut, type Recorded, writeDisk } from '../crash/rebuild-disk.ts';
import { recordWriter } from '../crash/record-writer.ts';
import { seededRandom } from '../fakes/seeded-random.ts';
import { closeHere, createFolder, type Folder, masterKey, openHere } from '../gateway/journal/journal-fixture.ts';

const cuts = process.env['KANNUKI_FULL'] === '1' ? 300 : 30;
const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 2 ** 31);

let work: Folder;
let recorded: Recorded;
beforeAll(async () => {
  work = createFolder();
  const script = new URL('../crash/write-journal.ts', import.meta.url);
  recorded = await recordWriter({ workFolder: work.path, script, arguments: ['120'] });
}, 120_000);
afterAll(() => work.remove());

it('records a run worth cutting', () => {
  const synced = recorded.events.filter(({ kind }) => kind === 'sync').map(({ path }) => path);
  expect(new Set(synced)).toEqual(
    expect.toSatisfy((paths: Set<string>) =>
      ['journal.db', 'journal.db-wal', 'site.db-wal'].every((path) => paths.has(path)),
    ),
  );
  expect(recorded.output.split('\n').length).toBeGreaterThan(200);
});

it(`loses nothing acknowledged in ${cuts} power cuts (seed ${seed})`, () => {
  const random = seededRandom(seed);
  for (let cut = 0; cut < cuts; cut += 1) {
    const behind = Math.floor(random() * recorded.events.length) + 1;
    const name = `cut ${cut} of seed ${seed}, behind event ${behind}`;
    survive(recorded, behind, { random: seededRandom(Math.floor(random() * 2 ** 32)), name });
  }
}, 300_000);

it('would notice a journal that does not sync', () => {
  const unsynced = {
    ...recorded,
    events: recorded.events.map((event) => (event.kind === 'sync' ? { ...event, path: '' } : event)),
  };
  const random = seededRandom(seed);
  expect(() => {
    for (let cut = 0; cut < 20; cut += 1)
      survive(unsynced, recorded.events.length - cut, { random, name: `cut ${cut}` });
  }).toThrow();
});

function survive(run: Recorded, behind: number, { random, name }: { random: () => number; name: string }): void {
  const folder = createFolder();
  try {
    writeDisk(filesAfterCut(run, behind, random), folder.path);
    const promised = acknowledgedBefore(behind);
    const stores = openHere(folder.path);
    try {
      const { journal, site } = stores;
      if (promised.lastSeq > 0) expect(stores.report.journal.kind, name).toBe('opened');
      expect(journal.position().tip % 2 ** 40, name).toBeGreaterThanOrEqual(promised.lastSeq);
      const uses = journal.tables.allState.all().find(({ key }) => key === 'c-0');
      const grants = journal.tables.entriesBefore
        .all(Number.MAX_SAFE_INTEGER, 20)
        .filter(({ kind }) => kind === 'access.granted');
      expect(Number(uses?.value ?? -1), name).toBe(grants[0] ? JSON.parse(grants[0].body).n : -1);
      const sealed = site.rows().keys.map((row) => row.name);
      for (const key of promised.sealed) expect(sealed, name).toContain(key);
      if (promised.lastSeq > 0)
        expect(
          readdirSync(folder.path).filter((file) => file.includes('damaged')),
          name,
        ).toEqual([]);
    } finally {
      closeHere(stores);
    }
    const verdict = verifyJournal(join(folder.path, 'journal.db'), stores.report.firstKey, { masterKey });
    expect(verdict.kind, name).toBe('whole');
    if (promised.firstKey) expect(Buffer.from(stores.report.firstKey).toString('hex'), name).toBe(promised.firstKey);
  } finally {
    folder.remove();
  }
}

/** What the writer had been told before the cut, from its own record. */
function acknowledgedBefore(behind: number) {
  const written = recorded.events
    .slice(0, behind)
    .filter(({ path, kind }) => path === 'acknowledged' && kind === 'write');
  const lines = written.map(({ bytes }) => bytes.toString('utf8').trim().split(' '));
  const of = (kind: string) => lines.filter(([first]) => first === kind);
  return {
    firstKey: of('key').at(-1)?.[1],
    lastSeq: Math.max(0, ...of('entries').map(([, seq]) => Number(seq))),
    sealed: of('sealed').map(([, name]) => String(name)),
  };
}
