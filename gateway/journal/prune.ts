/**
 * Lets old entries go: behind a signed head, with an entry that says which and why, in pieces that delay nobody.
 *
 * Guarantees: the boundary is always a signed head and its hash is kept, so that what remains still verifies from the
 * first key; unacknowledged entries go only as `overwritten`, and the gap says so.
 */
import { epochOf, hexOf, placeOf, seqOf } from '#shared/journal-chain.ts';
import type { SignedHead } from '#shared/signed-head.ts';
import type { JournalFile } from './journal-file.ts';
import { type ClockStamp, ownDraft } from './prepared-entry.ts';

/** Rows per transaction: about a millisecond. */
const deletedAtOnce = 256;
/** What an entry takes in the file on average, bytes, for guessing how many make an eighth of the budget. */
const bytesPerEntry = 450;
const fewestOverwritten = 64;

/** Bytes of the file that hold something. */
export function usedBytes(file: JournalFile): number {
  const pragma = (name: string): number => Number(file.store.pragma(name, { simple: true }));
  return (pragma('page_count') - pragma('freelist_count')) * pragma('page_size');
}

/**
 * Retires what the cloud has answered for and that is older than `before`.
 * @param before wall time, ms.
 * @returns whether there was something.
 */
export function retireAcked(file: JournalFile, before: number, stamp: ClockStamp): boolean {
  const { acked, boundary } = file.position().extent;
  const head = file.tables.headBefore.get(acked, before);
  return head !== undefined && head.place > boundary && isRetired(file, head, stamp);
}

/** Retires the oldest eighth of the budget, acknowledged or not. @returns false while no head lies that far back. */
export function retireOldest(file: JournalFile, budgetBytes: number, stamp: ClockStamp): boolean {
  const { boundary } = file.position().extent;
  const count = Math.max(fewestOverwritten, Math.floor(budgetBytes / 8 / bytesPerEntry));
  const target = file.tables.placeAfterSome.get(boundary, count);
  if (target === undefined) return false;
  const behind = file.tables.headAtOrBefore.get(target);
  const head = behind && behind.place > boundary ? behind : file.tables.headsAfter.get(boundary, 1);
  return head !== undefined && isRetired(file, head, stamp);
}

function isRetired(file: JournalFile, head: SignedHead, stamp: ClockStamp): boolean {
  const { boundary, acked } = file.position().extent;
  const from = file.tables.firstPlaceAfter.get(boundary);
  if (from === undefined || from > head.place) return false;
  file.transact((transaction) => {
    transaction.moveBoundary(head.place, head.hash);
    const reason = head.place <= acked ? 'acknowledged' : 'overwritten';
    const body = { from: pointOf(from), to: pointOf(head.place), lastHash: hexOf(head.hash), reason };
    transaction.append(ownDraft('journal.gap', body, stamp));
    transaction.signHead();
  });
  return true;
}

/** Deletes some of what lies at or below the boundary. @returns whether there may be more. */
export function deleteRetired(file: JournalFile): boolean {
  const { boundary } = file.position().extent;
  const first = file.tables.firstPlaceAfter.get(0);
  if (first === undefined || first > boundary) return false;
  const last = Math.min(boundary, first + deletedAtOnce - 1);
  file.transact(() => {
    file.tables.deleteEntries.run(first, last);
    file.tables.deletePrivate.run(first, last);
  });
  return true;
}

/**
 * Marks entries as answered for by the cloud; the signature on that answer is the caller's to verify.
 * @returns false if our entry there has another hash, or is not there: then nothing is marked.
 */
export function markAcked(file: JournalFile, ack: { epoch: number; seq: number; hash: string }): boolean {
  const place = placeOf(ack.epoch, ack.seq);
  if (hashAt(file, place) !== ack.hash) return false;
  file.transact((transaction) => transaction.markAcked(place));
  return true;
}

/** Also of the last that was let go. @returns lower-case hexadecimal; `undefined` where no entry is known. */
export function hashAt(file: JournalFile, place: number): string | undefined {
  const { boundary, boundaryHash } = file.position().extent;
  const hash = place === boundary ? boundaryHash : file.tables.entryAt.get(place)?.hash;
  return hash && hexOf(hash);
}

const pointOf = (place: number) => ({ epoch: epochOf(place), seq: seqOf(place) });
