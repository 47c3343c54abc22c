/**
 * Files torn by a bad card: every 512-byte offset of the database and of its log, truncated, zeroed, flipped, overwritten
 * with garbage, or with a hole where it was not yet written.
 *
 * What opens afterwards is a verified prefix of what was written, state included; or the file is set aside and that is
 * said in the first entry of its successor. Never a crash, never an entry or a state that was not written.
 * `KANNUKI_FULL=1` tries every offset instead of a sample.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Stores } from '#gateway/journal/open-stores.ts';
import { prepareState } from '#gateway/journal/prepared-entry.ts';
import { entryOf, readAfter, readPersonal } from '#gateway/journal/read-entries.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { sealBytes } from '#gateway/site/sealed-keys.ts';
import { StoreFault } from '#gateway/store/store-fault.ts';
import { hexOf } from '#shared/journal-chain.ts';
import { seededRandom } from '../fakes/seeded-random.ts';
import {
  appendHere,
  closeHere,
  createFolder,
  draft,
  type Folder,
  grantOf,
  masterKey,
  openHere,
  signHere,
} from '../gateway/journal/journal-fixture.ts';

const isFull = process.env['KANNUKI_FULL'] === '1';
const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 2 ** 31);
/** Of all tears of one file, so many are tried. */
const sampled = isFull ? Number.POSITIVE_INFINITY : 120;
const sector = 512;
const largest = 256 * 1_024;

const files = ['journal.db', 'journal.db-wal', 'site.db', 'site.db-wal'] as const;
const tears = ['truncate', 'zero', 'flip', 'garbage', 'hole'] as const;

let whole: Folder;
let folder: Folder;
/** By place. */
const written = new Map<number, { readonly hash: string; readonly state: string }>();

/** Rows partly in the database and partly in the log, as any running gateway leaves them. */
beforeAll(() => {
  whole = createFolder();
  folder = createFolder();
  const live = createFolder();
  const stores = openHere(live.path);
  fill(stores, 0, 60);
  stores.journal.store.pragma('wal_checkpoint(TRUNCATE)');
  stores.site.change({
    kind: 'put-key',
    row: { name: 'scbk/a', sealed: sealBytes(masterKey, 'scbk/a', new Uint8Array(16)) },
  });
  fill(stores, 60, 90);
  for (const file of files)
    if (existsSync(join(live.path, file))) copyFileSync(join(live.path, file), join(whole.path, file));
  closeHere(stores);
  live.remove();
});
afterAll(() => {
  whole.remove();
  folder.remove();
});

function fill(stores: Stores, from: number, until: number): void {
  for (let n = from; n < until; n += 1) {
    stores.journal.transact((transaction) =>
      transaction.putState(prepareState({ kind: 'uses', key: `c-${n % 9}`, value: n })),
    );
    appendHere(stores, [
      ...grantOf(`r-${n}`),
      { ...draft('door.opened', `r-${n}`), personal: { name: `person ${n}` } },
    ]);
    if (n % 20 === 19) signHere(stores);
    const { tables, position } = stores.journal;
    for (const row of tables.entriesBefore.all(position().tip, 4))
      written.set(row.place, { hash: hexOf(row.hash), state: '' });
  }
}

interface Tear {
  readonly file: string;
  readonly offset: number;
  readonly kind: (typeof tears)[number];
}

function torn(bytes: Buffer, { offset, kind }: Tear, random: () => number): Buffer {
  if (kind === 'truncate') return bytes.subarray(0, offset);
  const image = Buffer.from(bytes);
  const end = Math.min(offset + sector, bytes.length);
  if (kind === 'zero') return image.fill(0, offset, end);
  if (kind === 'hole') return image.fill(0, offset, Math.min(offset + 4_096, bytes.length));
  if (kind === 'flip') {
    const at = offset + Math.floor(random() * (end - offset));
    image[at] = (image[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return image;
  }
  for (let at = offset; at < end; at += 1) image[at] = Math.floor(random() * 256);
  return image;
}

function tearsOf(file: string, random: () => number): readonly Tear[] {
  const size = readFileSync(join(whole.path, file)).length;
  expect(size, file).toBeLessThanOrEqual(largest);
  const all = tears.flatMap((kind) =>
    Array.from({ length: Math.ceil(size / sector) }, (_, n) => ({ file, offset: n * sector, kind })),
  );
  if (all.length <= sampled) return all;
  return Array.from({ length: sampled }, () => all[Math.floor(random() * all.length)] ?? all[0]).filter(
    (tear) => tear !== undefined,
  );
}

function restore(tear: Tear, random: () => number): void {
  rmSync(folder.path, { recursive: true, force: true });
  mkdirSync(folder.path);
  for (const file of files) copyFileSync(join(whole.path, file), join(folder.path, file));
  writeFileSync(join(folder.path, tear.file), torn(readFileSync(join(whole.path, tear.file)), tear, random));
}

function examine(tear: Tear): 'prefix' | 'set-aside' | 'refused' {
  const name = JSON.stringify({ ...tear, seed });
  let stores: Stores;
  try {
    stores = openHere(folder.path);
  } catch (error) {
    expect(error, name).toBeInstanceOf(StoreFault);
    return 'refused';
  }
  try {
    const { journal, site } = stores.report;
    if (journal.kind === 'lost') {
      const [first] = readAfter(stores.journal, { epoch: stores.report.epoch, afterSeq: 0 }, 1);
      expect(first?.kind, name).toBe('journal.lost');
      expect(existsSync(String(journal.aside)), name).toBe(true);
      expect(stores.journal.tables.allState.all(), name).toEqual([]);
      return 'set-aside';
    }
    if (site.kind === 'lost') expect(site.reason === 'missing' || existsSync(String(site.aside)), name).toBe(true);
    examineEntries(stores, name);
    return site.kind === 'lost' ? 'set-aside' : 'prefix';
  } finally {
    closeHere(stores);
  }
}

/** Whatever is served was written; what cannot be served says so. */
function examineEntries(stores: Stores, name: string): void {
  try {
    for (let after = 0, rows = readAfter(stores.journal, { epoch: 1, afterSeq: after }, 50); rows.length > 0; ) {
      for (const row of rows) {
        const isOwn = entryOf(row).kind === 'storage.changed';
        if (!isOwn) expect(written.get(row.place)?.hash, name).toBe(hexOf(row.hash));
        const personal = readPersonal(stores.journal, row.place);
        if (personal) expect(personal, name).toEqual({ name: `person ${String(row.requestId).slice(2)}` });
      }
      after += rows.length;
      rows = readAfter(stores.journal, { epoch: 1, afterSeq: after }, 50);
    }
  } catch (error) {
    expect(error, name).toSatisfy((fault) => fault instanceof StoreFault || isSqliteDamage(fault));
    expect(isFoundByChecks(stores), `${name}: ${String(error)}`).toBe(true);
  }
}

const isSqliteDamage = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_CORRUPT');

/** The walk over the chain, or SQLite's own over its pages, finds what a reader stumbled over. */
function isFoundByChecks(stores: Stores): boolean {
  try {
    const verdict = verifyJournal(join(folder.path, 'journal.db'), stores.report.firstKey, { masterKey });
    return verdict.kind === 'broken' || stores.journal.store.pragma('quick_check(1)', { simple: true }) !== 'ok';
  } catch (fault) {
    return fault instanceof StoreFault || isSqliteDamage(fault);
  }
}

it.each(files)(
  `survives %s torn anywhere (seed ${seed})`,
  (file) => {
    const random = seededRandom(seed);
    const outcomes = { prefix: 0, 'set-aside': 0, refused: 0 };
    for (const tear of tearsOf(file, random)) {
      restore(tear, random);
      outcomes[examine(tear)] += 1;
    }
    expect(outcomes.refused).toBe(0);
    expect(outcomes.prefix + outcomes['set-aside']).toBeGreaterThan(30);
  },
  1_200_000,
);
