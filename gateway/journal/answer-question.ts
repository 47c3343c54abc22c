/**
 * What can be asked of the journal thread, question by question.
 */
import { readFileSync } from 'node:fs';
import { epochOf, placeOf, seqOf } from '#shared/journal-chain.ts';
import { unreachable } from '#shared/unreachable.ts';
import { type OpenRequest, openRequests } from './interrupted.ts';
import type { JournalFile } from './journal-file.ts';
import type { JournalService } from './journal-service.ts';
import { beginEpoch } from './open-stores.ts';
import type { PreparedState } from './prepared-entry.ts';
import { hashAt, markAcked, retireAcked } from './prune.ts';
import { entryOf, readAfter, readNewest, readPersonal } from './read-entries.ts';
import { readUpload } from './read-upload.ts';
import { recentCommands } from './recent-commands.ts';
import type { JournalExtent, Question } from './thread-message.ts';

/** Rows read between two looks at what waits to be written. */
const rowsAtOnce = 100;
const rowsMax = 1_000;
/** How far back a grant without an end is looked for: so many entries cannot fit between it and a stop. */
const traceMax = 4_096;

/** @param yieldToWrites resolves after what waits has been committed. @throws StoreFault */
export async function answerQuestion(
  service: JournalService,
  question: Question,
  yieldToWrites: () => Promise<void>,
): Promise<unknown> {
  const { journal, site } = service.stores;
  switch (question.kind) {
    case 'load-state':
      return journal.tables.allState
        .all()
        .map(({ kind, key, value }) => ({ kind: kind as PreparedState['kind'], key, value }));
    case 'read':
      return readInPieces(service, question, yieldToWrites);
    case 'read-newest':
      return readNewestInPieces(service, Math.min(question.count, rowsMax), yieldToWrites);
    case 'read-personal':
      return readPersonal(journal, placeOf(question.epoch, question.seq));
    case 'erase-personal':
      return erasePersonal(journal, question.epoch, question.seqs);
    case 'open-requests':
      return traceOpenRequests(journal);
    case 'recent-commands':
      return recentCommands(journal, yieldToWrites);
    case 'sign-head':
      return journal.transact((transaction) => transaction.signHead());
    case 'heads':
      return journal.tables.headsAfter.all(question.afterPlace, Math.min(question.limit, rowsMax));
    case 'acknowledge':
      return markAcked(journal, question);
    case 'extent':
      return extentOf(journal);
    case 'upload':
      return readUpload(journal, question.after, yieldToWrites);
    case 'hash-at':
      return hashAt(journal, placeOf(question.epoch, question.seq));
    case 'key-after':
      return keyAfter(journal, placeOf(question.epoch, question.seq));
    case 'prune':
      return isPruned(service, question.before);
    case 'begin-epoch':
      return beginEpoch(service.stores, question.known, question.stamp);
    case 'site-rows':
      return site.rows();
    case 'site-change':
      service.changeSite(question.change);
      return true;
    case 'checkpoint':
      journal.store.pragma('wal_checkpoint(PASSIVE)');
      return true;
    case 'written-bytes':
      return bytesWritten();
    case 'close':
      service.close();
      return true;
    default:
      return unreachable(question);
  }
}

type ReadQuestion = Extract<Question, { kind: 'read' }>;

async function readInPieces(service: JournalService, question: ReadQuestion, yieldToWrites: () => Promise<void>) {
  const epoch = question.epoch ?? epochOf(service.stores.journal.position().tip);
  const rows = [];
  let afterSeq = question.afterSeq;
  const limit = Math.min(question.limit, rowsMax);
  while (rows.length < limit) {
    const wanted = Math.min(rowsAtOnce, limit - rows.length);
    const piece = readAfter(service.stores.journal, { epoch, afterSeq }, wanted).map(entryOf);
    rows.push(...piece);
    if (piece.length < wanted) break;
    afterSeq = piece.at(-1)?.seq ?? afterSeq;
    await yieldToWrites();
  }
  return rows;
}

async function readNewestInPieces(service: JournalService, count: number, yieldToWrites: () => Promise<void>) {
  const pieces = [];
  let before = service.stores.journal.position().tip;
  for (let left = count; left > 0; left -= rowsAtOnce) {
    const piece = readNewest(service.stores.journal, before, Math.min(rowsAtOnce, left));
    pieces.unshift(piece.map(entryOf));
    const first = piece[0];
    if (!first || piece.length < rowsAtOnce) break;
    before = first.place - 1;
    await yieldToWrites();
  }
  return pieces.flat();
}

function extentOf(journal: JournalFile): JournalExtent {
  const { tip, extent } = journal.position();
  const { firstEpoch, firstKey, acked } = extent;
  const placed = (place: number) => ({ epoch: epochOf(place), seq: seqOf(place) });
  return { firstEpoch, firstKey, acked: placed(acked), tip: placed(tip) };
}

const keyAfter = ({ tables, position }: JournalFile, place: number): Uint8Array =>
  tables.headAtOrBefore.get(place)?.nextKey ?? position().extent.firstKey;

function traceOpenRequests(journal: JournalFile): readonly OpenRequest[] {
  const rows = journal.tables.traceBefore.all(journal.position().tip, traceMax);
  return openRequests(rows.reverse());
}

/** Erased means gone from the file too: freed pages are overwritten, and the log is emptied. */
function erasePersonal(journal: JournalFile, epoch: number, seqs: readonly number[]): number {
  const erased = journal.transact(() =>
    seqs.reduce((count, seq) => {
      const place = placeOf(epoch, seq);
      return count + journal.tables.deletePrivate.run(place, place).changes;
    }, 0),
  );
  journal.store.pragma('wal_checkpoint(TRUNCATE)');
  return erased;
}

function isPruned(service: JournalService, before: number): boolean {
  const isSome = retireAcked(service.stores.journal, before, service.stamp);
  if (isSome) service.retired();
  return isSome;
}

/** Bytes this thread has passed to write(), by the kernel's count; `undefined` where the kernel does not count. */
function bytesWritten(): number | undefined {
  try {
    const count = /^wchar: (\d+)$/m.exec(readFileSync('/proc/thread-self/io', 'utf8'))?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}
