/**
 * The stretch of history that goes up next: whole entries of one epoch in their order, up to a signed head.
 *
 * Guarantees: contiguous from what was asked for, or from behind a gap that it names; each entry recomputed and linked
 * before it leaves; it ends at a head, signed now where the end of the journal has none yet.
 */
import {
  personalTextMax,
  type UploadedEntry,
  type UploadedHead,
  uploadBytesMax,
  uploadEntriesMax,
} from '#shared/contract/sync/journal.ts';
import { epochOf, hexOf, judgeNext, placeOf, seqOf } from '#shared/journal-chain.ts';
import type { SignedHead } from '#shared/signed-head.ts';
import { toBase64url } from '#shared/signed-statement.ts';
import { StoreFault, storeFault } from '../store/store-fault.ts';
import type { JournalFile } from './journal-file.ts';
import type { EntryRow, PrivateRow } from './journal-tables.ts';

export interface UploadPage {
  readonly epoch: number;
  readonly firstSeq: number;
  readonly prevHash: string;
  readonly entries: readonly UploadedEntry[];
  readonly heads: readonly UploadedHead[];
  /** Where the first entry is the first of its epoch: what a statement of the beginning says. */
  readonly begins:
    | {
        readonly firstKey: string;
        readonly prevHash: string;
        readonly before: { readonly epoch: number; readonly seq: number };
      }
    | undefined;
  /** `nextKey`: of the first head behind it. */
  readonly gap:
    | { readonly fromSeq: number; readonly toSeq: number; readonly lastHash: string; readonly nextKey: string }
    | undefined;
}

export interface UploadFrom {
  readonly epoch: number;
  /** The last that the cloud has. */
  readonly seq: number;
  /** At most so many entries are wanted; it is exceeded where no head stands earlier. */
  readonly entries: number;
}

/** Rows read between two looks at what waits to be written. */
const rowsAtOnce = 100;
/** Of the text of an upload, what its frame and its heads may take. */
const frameBytes = 128 * 1024;
/** Around an entry's own texts: member names, hashes, numbers; around a value, its salt. */
const entryFrameBytes = 400;
const personalFrameBytes = 200;

/** @returns `undefined` where nothing lies behind it, or nothing that is under a head. @throws StoreFault STORE_DAMAGED where an entry is not what was written. */
export async function readUpload(
  file: JournalFile,
  after: UploadFrom,
  yieldToWrites: () => Promise<void>,
): Promise<UploadPage | undefined> {
  const { boundary } = file.position().extent;
  const start = Math.max(placeOf(after.epoch, after.seq), boundary);
  const rows = await readRows(file, start, yieldToWrites);
  const [first] = rows;
  if (first === undefined) return undefined;
  signAtEnd(file, rows);
  const heads = headsOver(file, rows);
  const wanted = heads.filter(({ place }) => place - first.place < after.entries);
  const sent = wanted.length > 0 ? wanted : heads.slice(0, 1);
  const end = sent.at(-1)?.place;
  if (end === undefined) return undefined;
  return {
    epoch: epochOf(first.place),
    firstSeq: seqOf(first.place),
    prevHash: hexOf(first.prevHash),
    entries: rows.filter(({ place }) => place <= end).map((row) => uploadedEntry(file, row)),
    heads: sent.map(uploadedHead),
    begins: seqOf(first.place) === 1 ? beginningOf(file, first) : undefined,
    gap: gapBefore(file, first, after),
  };
}

async function readRows(file: JournalFile, start: number, yieldToWrites: () => Promise<void>): Promise<EntryRow[]> {
  const taken = { rows: [] as EntryRow[], bytes: 0 };
  for (;;) {
    const wanted = Math.min(rowsAtOnce, uploadEntriesMax - taken.rows.length);
    const piece = file.tables.entriesAfter.all(taken.rows.at(-1)?.place ?? start, wanted);
    const isWhole = piece.every((row) => takeRow(file, taken, row));
    if (!isWhole || piece.length < wanted || taken.rows.length >= uploadEntriesMax) return taken.rows;
    await yieldToWrites();
  }
}

/** @returns false where the row is of a later epoch, or too much for this upload. */
function takeRow(file: JournalFile, taken: { readonly rows: EntryRow[]; bytes: number }, row: EntryRow): boolean {
  const before = taken.rows.at(-1);
  const kept = keptValue(file, row);
  taken.bytes += entryFrameBytes + writtenBytes(row.body);
  if (kept !== undefined) taken.bytes += personalFrameBytes + writtenBytes(kept.value);
  if (taken.bytes > uploadBytesMax - frameBytes) return false;
  if (before !== undefined && epochOf(before.place) !== epochOf(row.place)) return false;
  if (before !== undefined && judgeNext(before, row) !== undefined) throw damaged(file, row.place);
  taken.rows.push(row);
  return true;
}

const writtenBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** One that is longer than any may be written stays here, as if it were erased: it keeps no history from going up. */
function keptValue(file: JournalFile, row: EntryRow): PrivateRow | undefined {
  const kept = row.personalHash === null ? undefined : file.tables.privateAt.get(row.place);
  return kept !== undefined && kept.value.length <= personalTextMax ? kept : undefined;
}

/** The end of the journal gets its head now, where the disk takes one; what lies behind the last head goes up later. */
function signAtEnd(file: JournalFile, rows: readonly EntryRow[]): void {
  const { tip, headPlace } = file.position();
  if (rows.at(-1)?.place !== tip || headPlace === tip) return;
  try {
    file.transact((transaction) => transaction.signHead());
  } catch (error) {
    if (storeFault(error, file.path)?.code !== 'STORE_FULL') throw error;
  }
}

function headsOver(file: JournalFile, rows: readonly EntryRow[]): readonly SignedHead[] {
  const [from, to] = [rows[0]?.place ?? 0, rows.at(-1)?.place ?? 0];
  return file.tables.headsAfter.all(from - 1, uploadEntriesMax).filter(({ place }) => place <= to);
}

function uploadedEntry(file: JournalFile, row: EntryRow): UploadedEntry {
  const { place, bootId, at, clockState, kind, door, requestId, body } = row;
  const kept = keptValue(file, row);
  return {
    seq: seqOf(place),
    bootId,
    at,
    clockState: clockState as UploadedEntry['clockState'],
    kind,
    door,
    requestId,
    body,
    personalHash: row.personalHash && hexOf(row.personalHash),
    ...(kept && { personal: { salt: toBase64url(kept.salt), value: kept.value } }),
    hash: hexOf(row.hash),
  };
}

const uploadedHead = ({ place, at, hash, nextKey, signature }: SignedHead): UploadedHead => ({
  epoch: epochOf(place),
  seq: seqOf(place),
  at,
  hash: hexOf(hash),
  nextKey: toBase64url(nextKey),
  signature: toBase64url(signature),
});

function beginningOf(file: JournalFile, first: EntryRow): UploadPage['begins'] {
  const { extent } = file.position();
  const head = file.tables.headAtOrBefore.get(first.place - 1);
  const [row] = file.tables.entriesBefore.all(first.place - 1, 1);
  const before = row?.place ?? extent.boundary;
  return {
    firstKey: toBase64url(head?.nextKey ?? extent.firstKey),
    prevHash: hexOf(first.prevHash),
    before: { epoch: epochOf(before), seq: seqOf(before) },
  };
}

/** What was let go between the place that was asked for and the first entry that is still there. */
function gapBefore(file: JournalFile, first: EntryRow, after: UploadFrom): UploadPage['gap'] {
  const fromSeq = after.epoch === epochOf(first.place) ? after.seq + 1 : 1;
  const toSeq = seqOf(first.place) - 1;
  if (toSeq < fromSeq) return undefined;
  const { boundaryHash, firstKey } = file.position().extent;
  const nextKey = file.tables.headAtOrBefore.get(first.place - 1)?.nextKey ?? firstKey;
  return { fromSeq, toSeq, lastHash: hexOf(boundaryHash), nextKey: toBase64url(nextKey) };
}

function damaged(file: JournalFile, place: number): StoreFault {
  const where = `entry ${seqOf(place)} of epoch ${epochOf(place)}`;
  return new StoreFault('STORE_DAMAGED', file.path, `${where} is not what was written`);
}
