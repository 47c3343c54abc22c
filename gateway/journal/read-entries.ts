/**
 * Entries as they are served: each recomputed and linked before anybody sees it.
 */
import type { CanonicalValue } from '#shared/canonical.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';
import { entryHash, epochOf, hexOf, judgeNext, personalHash, placeOf, seqOf } from '#shared/journal-chain.ts';
import type { ClockState } from '../door/facts.ts';
import { StoreFault } from '../store/store-fault.ts';
import type { Entry, EntryKind } from './entry.ts';
import type { JournalFile } from './journal-file.ts';
import type { EntryRow } from './journal-tables.ts';

export type PersonalValues = { readonly [key: string]: CanonicalValue | undefined };

export function entryOf(row: EntryRow): Entry {
  return {
    epoch: epochOf(row.place),
    seq: seqOf(row.place),
    bootId: row.bootId,
    at: wallMs(row.at),
    clockState: row.clockState as ClockState,
    kind: row.kind as EntryKind,
    door: row.door === null ? null : identifier<'door'>(row.door),
    requestId: row.requestId === null ? null : identifier<'request'>(row.requestId),
    body: JSON.parse(row.body),
    personalHash: row.personalHash && hexOf(row.personalHash),
    prevHash: hexOf(row.prevHash),
    hash: hexOf(row.hash),
  };
}

/**
 * Rows of one epoch after `afterSeq`, oldest first.
 * @throws StoreFault STORE_DAMAGED if one of them is not what was written.
 */
export function readAfter(file: JournalFile, from: { epoch: number; afterSeq: number }, limit: number): EntryRow[] {
  const rows = file.tables.entriesAfter.all(placeOf(from.epoch, from.afterSeq), limit);
  return verified(
    file,
    rows.filter((row) => epochOf(row.place) === from.epoch),
  );
}

/** The last `count` rows, oldest first. @throws StoreFault STORE_DAMAGED */
export function readNewest(file: JournalFile, before: number, count: number): EntryRow[] {
  return verified(file, file.tables.entriesBefore.all(before, count).reverse());
}

/** Personal values of one entry; `undefined` where there were none, or they were erased. @throws StoreFault STORE_DAMAGED */
export function readPersonal(file: JournalFile, place: number): PersonalValues | undefined {
  const kept = file.tables.privateAt.get(place);
  if (!kept) return undefined;
  const [row] = verified(file, file.tables.entriesBefore.all(place, 1));
  const expected = row?.place === place ? row.personalHash : null;
  if (!expected || hexOf(personalHash(kept.salt, kept.value)) !== hexOf(expected)) throw damaged(file, place);
  return JSON.parse(kept.value);
}

function verified(file: JournalFile, rows: EntryRow[]): EntryRow[] {
  for (const [index, row] of rows.entries()) {
    const before = rows[index - 1];
    const isRight = before ? judgeNext(before, row) === undefined : hexOf(entryHash(row)) === hexOf(row.hash);
    if (!isRight) throw damaged(file, row.place);
  }
  return rows;
}

function damaged(file: JournalFile, place: number): StoreFault {
  const where = `entry ${seqOf(place)} of epoch ${epochOf(place)}`;
  return new StoreFault('STORE_DAMAGED', file.path, `${where} is not what was written`);
}
