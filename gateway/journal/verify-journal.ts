/**
 * Walks a whole journal and says whether it is the one that was written: from the first public key, needing no secret.
 *
 * Detects, naming the first entry concerned: an entry deleted, edited, moved or put in; a head signed with any key but
 * its own, today's included; heads or entries cut off the end; a boundary moved without a gap in the history; and, given
 * a head that somebody kept elsewhere, a whole older file put back.
 * Not promised: noticing an end cut off after the last head without the master key, nor an older file without a head
 * kept elsewhere.
 */

import {
  epochOf,
  genesisHash,
  hexOf,
  judgeNext,
  type Link,
  personalHash,
  placeOf,
  seqOf,
} from '#shared/journal-chain.ts';
import { readMigrations, requireMigrated } from '../store/migrate.ts';
import { openDatabase } from '../store/open-database.ts';
import { deriveKey, isSameCode } from '../store/row-code.ts';
import { HeadWalk } from './head-walk.ts';
import { type EntryRow, type ExtentRow, type JournalTables, prepareTables } from './journal-tables.ts';
import { codeOfSeal, stateKeyPurpose } from './state-seal.ts';

export type BreakReason =
  | 'missing'
  | 'edited'
  | 'link-broken'
  /** Signed by another key than the head before it names. */
  | 'head-forged'
  /** The chain is not what the head at this place says. */
  | 'head-differs'
  /** Entries before this one are gone and no gap says so. */
  | 'boundary-unexplained'
  | 'personal-edited'
  /** The end is gone. */
  | 'truncated'
  /** A head kept elsewhere is further than this file, or of another history. */
  | 'rolled-back'
  | 'rewritten';

export type JournalVerdict =
  | {
      readonly kind: 'whole';
      readonly entries: number;
      readonly heads: number;
      readonly first: Point | undefined;
      readonly last: Point | undefined;
      /** Entries after the last head: linked, but not yet signed for. */
      readonly unsigned: number;
      /** The file is whole, and not the whole history: it is not the first of its box. `aside` is for the caller to fill. */
      readonly beginsAnew?: { readonly epoch: number; readonly aside: readonly string[] };
    }
  | { readonly kind: 'broken'; readonly at: Point; readonly reason: BreakReason };

export interface Point {
  readonly epoch: number;
  readonly seq: number;
}

export interface VerifyOptions {
  /** A head from elsewhere: the cloud, a printout. */
  readonly keptHead?: Point & { readonly hash: string };
  /** Lets the end after the last head be verified too. */
  readonly masterKey?: Uint8Array;
}

/** Rows read at a time, so that a running gateway is not kept from reusing its log. */
const rowsAtOnce = 1_000;

class Broken extends Error {
  readonly place: number;
  readonly reason: BreakReason;
  constructor(place: number, reason: BreakReason) {
    super(reason);
    this.place = place;
    this.reason = reason;
  }
}

/**
 * @param firstPublicKey of this file's journal, raw Ed25519, as noted at enrolment.
 * @throws StoreFault if the file cannot be read as a journal at all.
 */
export function verifyJournal(path: string, firstPublicKey: Uint8Array, options: VerifyOptions = {}): JournalVerdict {
  const store = openDatabase({ path, mode: 'read', busyTimeoutMs: 1_000 });
  try {
    requireMigrated(store, readMigrations('journal'));
    // One snapshot: a gateway that writes meanwhile must not look like one whose end was cut off.
    store.exec('BEGIN');
    return verifyTables(prepareTables(store), firstPublicKey, options);
  } catch (error) {
    if (!(error instanceof Broken)) throw error;
    return { kind: 'broken', at: pointOf(error.place), reason: error.reason };
  } finally {
    store.close();
  }
}

/** @param aside former files of this journal, found beside it. */
export function withAside(verdict: JournalVerdict, aside: readonly string[]): JournalVerdict {
  if (verdict.kind !== 'whole' || (verdict.beginsAnew === undefined && aside.length === 0)) return verdict;
  const epoch = verdict.beginsAnew?.epoch ?? verdict.first?.epoch ?? 1;
  return { ...verdict, beginsAnew: { epoch, aside } };
}

function verifyTables(tables: JournalTables, firstKey: Uint8Array, options: VerifyOptions): JournalVerdict {
  const extent = tables.extent.get();
  if (!extent) throw new Broken(0, 'truncated');
  const heads = new HeadWalk(tables, firstKey);
  const walk = walkEntries(tables, extent, heads);
  verifyEnd(tables, heads, walk.last);
  verifySeal(tables, extent, walk.last, options.masterKey);
  verifyPersonal(tables);
  if (options.keptHead) verifyKept(tables, extent, walk.last, options.keptHead);
  return {
    kind: 'whole',
    entries: walk.entries,
    heads: heads.count,
    first: walk.first && pointOf(walk.first.place),
    last: walk.entries > 0 ? pointOf(walk.last.place) : undefined,
    unsigned: walk.unsigned,
    ...(extent.firstEpoch === 1 ? {} : { beginsAnew: { epoch: extent.firstEpoch, aside: [] } }),
  };
}

interface Walk {
  readonly entries: number;
  readonly first: EntryRow | undefined;
  readonly last: Link;
  readonly unsigned: number;
}

function walkEntries(tables: JournalTables, extent: ExtentRow, heads: HeadWalk): Walk {
  const [first] = tables.entriesAfter.all(0, 1);
  const start = startOf(first, extent);
  heads.skipTo(start, fail);
  let last = start;
  let [entries, unsigned] = [0, 0];
  let isExplained = extent.boundary === 0;
  for (const row of entriesFrom(tables, start.place)) {
    const fault = judgeNext(last, row);
    if (fault) fail(fault === 'missing' ? placeAfter(last) : row.place, fault);
    unsigned = heads.pass(row, fail) ? 0 : unsigned + 1;
    isExplained ||= explains(row, extent);
    entries += 1;
    last = row;
  }
  if (!isExplained) fail(first?.place ?? extent.boundary, 'boundary-unexplained');
  return { entries, first, last, unsigned };
}

function* entriesFrom(tables: JournalTables, after: number): Generator<EntryRow> {
  let rows = tables.entriesAfter.all(after, rowsAtOnce);
  while (rows.length > 0) {
    yield* rows;
    rows = tables.entriesAfter.all(rows.at(-1)?.place ?? after, rowsAtOnce);
  }
}

/** Rows at or below the boundary may still be there: they are being deleted piece by piece. */
function startOf(first: EntryRow | undefined, extent: ExtentRow): Link {
  if (first && first.place <= extent.boundary) return { place: first.place - 1, hash: first.prevHash };
  if (extent.boundary > 0) return { place: extent.boundary, hash: extent.boundaryHash };
  return { place: placeOf(extent.firstEpoch, 0), hash: genesisHash };
}

function explains(row: EntryRow, extent: ExtentRow): boolean {
  if (row.kind !== 'journal.gap') return false;
  const { to, lastHash } = JSON.parse(row.body);
  return placeOf(to.epoch, to.seq) === extent.boundary && lastHash === hexOf(extent.boundaryHash);
}

/** The key that waits for the next head must be the one that the last head names: else heads were cut off. */
function verifyEnd(tables: JournalTables, heads: HeadWalk, last: Link): void {
  heads.finish(last, fail);
  const waiting = tables.headKey.get();
  if (!waiting || !isSameCode(waiting.publicKey, heads.nextKey)) fail(placeAfter(last), 'truncated');
}

function verifySeal(tables: JournalTables, extent: ExtentRow, last: Link, masterKey: Uint8Array | undefined): void {
  const seal = tables.seal.get();
  if (!seal || seal.tip > last.place) fail(placeAfter(last), 'truncated');
  else if (seal.tip < last.place) fail(placeAfter({ ...last, place: seal.tip }), 'edited');
  else if (masterKey) {
    const code = codeOfSeal(deriveKey(masterKey, stateKeyPurpose), seal, extent);
    if (!isSameCode(code, seal.code) || !isSameCode(seal.tipHash, last.hash)) fail(last.place, 'edited');
  }
}

function verifyPersonal(tables: JournalTables): void {
  for (const kept of tables.allPrivate.iterate()) {
    const expected = tables.entryAt.get(kept.place)?.personalHash;
    if (!expected || !isSameCode(expected, personalHash(kept.salt, kept.value))) fail(kept.place, 'personal-edited');
  }
}

function verifyKept(tables: JournalTables, extent: ExtentRow, last: Link, kept: Point & { hash: string }): void {
  const place = placeOf(kept.epoch, kept.seq);
  if (place > last.place) fail(placeAfter(last), 'rolled-back');
  const head = tables.headsAfter.get(place - 1, 1);
  const hash = tables.entryAt.get(place)?.hash ?? (head?.place === place ? head.hash : undefined);
  if (hash ? hexOf(hash) !== kept.hash : place > extent.boundary) fail(place, 'rewritten');
}

function fail(place: number, reason: BreakReason): never {
  throw new Broken(place, reason);
}

const placeAfter = (link: Link): number => link.place + 1;
const pointOf = (place: number): Point => ({ epoch: epochOf(place), seq: seqOf(place) });
