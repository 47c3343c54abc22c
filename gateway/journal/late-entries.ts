/**
 * A disk that failed in a commit may have kept it all the same. Whoever waited was told no; the history must agree.
 */
import { epochOf, hexOf, seqOf } from '#shared/journal-chain.ts';
import type { JournalFile } from './journal-file.ts';
import type { Position } from './journal-transaction.ts';
import { beginEpoch, type Stores } from './open-stores.ts';
import { type ClockStamp, ownDraft, type PreparedDraft } from './prepared-entry.ts';

/** More cannot have been in one commit. */
const lateMax = 10_000;

/** Compares what the file holds with what was last known durable, and says what became of the difference. */
export function settleLate(stores: Stores, known: Position, stamp: ClockStamp): void {
  const { journal } = stores;
  const kept = journal.tables.entryAt.get(known.tip);
  const isThere = kept ? hexOf(kept.hash) === hexOf(known.tipHash) : journal.position().extent.boundary >= known.tip;
  if (!isThere && seqOf(known.tip) > 0) {
    beginEpoch(stores, { epoch: epochOf(known.tip), seq: seqOf(known.tip) }, stamp);
    return;
  }
  const late = lateGrants(journal, known.tip, stamp);
  if (late.length === 0) return;
  journal.transact((transaction) => {
    for (const draft of late) transaction.append(draft);
  });
}

function lateGrants(journal: JournalFile, afterPlace: number, stamp: ClockStamp): readonly PreparedDraft[] {
  return journal.tables.entriesAfter
    .all(afterPlace, lateMax)
    .filter((row) => row.kind === 'access.granted' || row.kind === 'command.received')
    .map(({ door, requestId }) => notExecuted(door, requestId, stamp));
}

/** The entry that follows a grant which became durable after its request had been refused. */
export function notExecuted(door: string | null, requestId: string | null, stamp: ClockStamp): PreparedDraft {
  return { ...ownDraft('lock.not-executed', { reason: 'journal-late' }, stamp), door, requestId };
}
