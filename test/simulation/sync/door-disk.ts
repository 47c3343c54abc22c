/** What the door process has on its disk: values only, so that an old disk is an old value put back. */
import type { JournalBeginning } from '#cloud/gateway-sync/judge-upload.ts';
import type { Contact } from '#gateway/door/contact-age.ts';
import type { ExecutedCommand, SnapshotProgress } from '#gateway/replica/follow-state.ts';
import type { FeedPut } from '#shared/contract/sync/feed.ts';
import type { UploadedEntry, UploadedHead } from '#shared/contract/sync/journal.ts';
import { entryHash, epochOf, hexOf, placeOf, seqOf } from '#shared/journal-chain.ts';
import type { Held } from './rows.ts';

export interface Replica {
  readonly epoch: number;
  readonly cursor: number;
  readonly digest: string;
  readonly rows: ReadonlyMap<string, Held>;
}

export interface Staged {
  readonly progress: SnapshotProgress;
  readonly rows: readonly FeedPut[];
}

export interface JournalEntry extends UploadedEntry {
  readonly place: number;
  readonly prevHash: string;
}

export interface Journal {
  readonly tip: number;
  readonly tipHash: string;
  /** Oldest first; none at or before the boundary. */
  readonly entries: readonly JournalEntry[];
  readonly heads: readonly (UploadedHead & { readonly place: number })[];
  /** Signs the next head. */
  readonly key: string;
  readonly acked: number;
  readonly boundary: number;
  readonly boundaryHash: string;
  /** How the epoch in hand began, if it is not the first. */
  readonly beginning: JournalBeginning | undefined;
  // State that must agree with the history.
  readonly floor: number;
  readonly head: { readonly epoch: number; readonly cursor: number };
  readonly executed: readonly ExecutedCommand[];
  readonly contact: Contact | undefined;
}

export interface Disk {
  readonly replica: Replica | undefined;
  readonly staged: Staged | undefined;
  readonly journal: Journal;
}

const zero = '0'.repeat(64);

export const emptyDisk = (key: string): Disk => ({
  replica: undefined,
  staged: undefined,
  journal: {
    tip: placeOf(1, 0),
    tipHash: zero,
    entries: [],
    heads: [],
    key,
    acked: placeOf(1, 0),
    boundary: placeOf(1, 0),
    boundaryHash: zero,
    beginning: undefined,
    floor: 0,
    head: { epoch: 0, cursor: 0 },
    executed: [],
    contact: undefined,
  },
});

export interface EntryText {
  readonly kind: string;
  readonly requestId?: string | null;
  readonly body?: string;
}

/** Heads are signed at least this often, so that a piece of history never ends between two of them. */
const entriesPerHead = 4;

/** @param next a name for the key after the next head. */
export function append(journal: Journal, boot: string, texts: readonly EntryText[], next: () => string): Journal {
  let after = journal;
  for (const text of texts) after = appendOne(after, boot, text, next);
  return after;
}

function appendOne(
  before: Journal,
  boot: string,
  { kind, requestId = null, body = '{}' }: EntryText,
  next: () => string,
): Journal {
  const place = before.tip + 1;
  const text = { bootId: boot, at: 1, clockState: 'trusted' as const, kind, door: null, requestId, body };
  const hash = hexOf(entryHash({ ...text, place, personalHash: null, prevHash: Buffer.from(before.tipHash, 'hex') }));
  const entry = { ...text, place, seq: seqOf(place), personalHash: null, hash, prevHash: before.tipHash };
  const after = { ...before, tip: place, tipHash: hash, entries: [...before.entries, entry] };
  return place - lastHead(after) >= entriesPerHead ? signHead(after, next()) : after;
}

const lastHead = (journal: Journal): number => {
  const place = journal.heads.at(-1)?.place ?? 0;
  return epochOf(place) === epochOf(journal.tip) ? place : placeOf(epochOf(journal.tip), 0);
};

export function signHead(journal: Journal, nextKey: string): Journal {
  const { tip, tipHash, key } = journal;
  if (lastHead(journal) === tip || seqOf(tip) === 0) return journal;
  const claim = { epoch: epochOf(tip), seq: seqOf(tip), at: 1, hash: tipHash, nextKey };
  return { ...journal, key: nextKey, heads: [...journal.heads, { ...claim, place: tip, signature: `by ${key}` }] };
}

export function entryAt(journal: Journal, place: number): JournalEntry | undefined {
  const first = journal.entries[0]?.place ?? 0;
  const guess = journal.entries[place - first];
  return guess?.place === place ? guess : journal.entries.find((entry) => entry.place === place);
}

/** The key after the last head at or before a place, within its epoch. */
export function keyAfter(journal: Journal, place: number): string | undefined {
  return journal.heads.findLast((head) => head.place <= place && epochOf(head.place) === epochOf(place))?.nextKey;
}
