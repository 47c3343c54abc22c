/**
 * Starts the journal thread over a data directory, and hands out everything that may be asked of it.
 */
import type { Worker } from 'node:worker_threads';
import type { SignedHead } from '#shared/signed-head.ts';
import type { SiteChange, SiteRows } from '../site/site-rows.ts';
import type { SiteStorePort } from '../site/site-store.ts';
import type { EntryDraft } from './entry.ts';
import type { OpenRequest } from './interrupted.ts';
import { JournalLink, startJournalThread } from './journal-link.ts';
import { JournalWriter, type WriterOptions } from './journal-writer.ts';
import type { StoresReport } from './open-stores.ts';
import type { ClockStamp } from './prepared-entry.ts';
import type { PersonalValues } from './read-entries.ts';
import type { UploadFrom, UploadPage } from './read-upload.ts';
import type { JournalExtent, JournalThreadOptions } from './thread-message.ts';

export interface OpenJournalOptions extends Omit<JournalThreadOptions, 'budgetBytes' | 'atBudget' | 'reserveBytes'> {
  /** The worker's entry; in a bundle, the file that was built from `journal-thread.ts`. */
  readonly entry?: URL;
  /** A thread from that entry that was begun already; it is gone if the opening fails. */
  readonly thread?: Worker | undefined;
  /** Default 4 GiB, about ten million entries. */
  readonly budgetBytes?: number;
  /** Default `overwrite`. */
  readonly atBudget?: 'overwrite' | 'refuse';
  /** Default 4 MiB. */
  readonly reserveBytes?: number;
  /** Default 2 000 ms: after it, the request is stale anyway. */
  readonly deadlineMs?: number;
  /** Default 250 ms. */
  readonly noteMs?: number;
  readonly onChange?: WriterOptions['onChange'];
}

/** What the journal can do for the cloud, the operator and the start, besides taking entries. */
export interface JournalArchive {
  /** As found at the opening. */
  readonly report: StoresReport;
  /** Requests that were granted or commanded in a former run and have no end. */
  openRequests(): Promise<readonly OpenRequest[]>;
  /** Ids of the commands that were taken up last, newest first: none of them may be taken up again. */
  recentCommands(): Promise<readonly string[]>;
  /** Signs what is new, for an upload. */
  signHead(): Promise<SignedHead | undefined>;
  heads(query: { readonly afterPlace: number; readonly limit: number }): Promise<readonly SignedHead[]>;
  /** The cloud's answer, its signature verified by the caller. @returns false if our chain disagrees. */
  acknowledge(ack: { readonly epoch: number; readonly seq: number; readonly hash: string }): Promise<boolean>;
  /** Lets go what is acknowledged and older than `before`, wall time in ms. @returns whether there was something. */
  prune(before: number): Promise<boolean>;
  /** The cloud knows entries that we lost: what follows is a new epoch, later than `known`. @returns its number. */
  beginEpoch(known: { readonly epoch: number; readonly seq: number }, stamp: ClockStamp): Promise<number>;
  extent(): Promise<JournalExtent>;
  /** Of the entry there, in lower-case hexadecimal; `undefined` where none is known. */
  hashAt(place: { readonly epoch: number; readonly seq: number }): Promise<string | undefined>;
  /** Raw key that signs the first head after a place. */
  keyAfter(place: { readonly epoch: number; readonly seq: number }): Promise<Uint8Array>;
  /** What goes up next, after a place that the cloud has. @returns `undefined` where there is nothing. @throws StoreFault */
  upload(after: UploadFrom): Promise<UploadPage | undefined>;
  personal(entry: { readonly epoch: number; readonly seq: number }): Promise<PersonalValues | undefined>;
  /** Erases personal values from the file; the chain stays whole. @returns how many there were. */
  erasePersonal(entries: { readonly epoch: number; readonly seqs: readonly number[] }): Promise<number>;
  /** Carries the write-ahead log over into the database: before a backup, or at a quiet hour. */
  checkpoint(): Promise<void>;
  /** Bytes passed to write() by the journal thread since it started; `undefined` where the kernel does not count. */
  writtenBytes(): Promise<number | undefined>;
}

export interface OpenedJournal {
  readonly journal: JournalWriter;
  readonly archive: JournalArchive;
  readonly siteStore: SiteStorePort;
}

/** @throws StoreFault if a file must be left alone: forbidden, read-only, full, newer, under another key. */
export async function openJournal(options: OpenJournalOptions): Promise<OpenedJournal> {
  const { directory, masterKey, bootId } = options;
  const entry = options.entry ?? new URL('./journal-thread.ts', import.meta.url);
  const link = new JournalLink(options.thread ?? startJournalThread(entry), {
    directory,
    masterKey,
    bootId,
    budgetBytes: options.budgetBytes ?? 4 * 2 ** 30,
    atBudget: options.atBudget ?? 'overwrite',
    reserveBytes: options.reserveBytes ?? 4 * 2 ** 20,
  });
  const { report, condition } = await link.opened();
  const journal = new JournalWriter(link, condition, {
    deadlineMs: options.deadlineMs ?? 2_000,
    noteMs: options.noteMs ?? 250,
    ...(options.onChange && { onChange: options.onChange }),
  });
  return { journal, archive: createArchive(link, report), siteStore: createSiteStore(link) };
}

function createArchive(link: JournalLink, report: StoresReport): JournalArchive {
  return {
    report,
    openRequests: () => link.ask({ kind: 'open-requests' }),
    recentCommands: () => link.ask({ kind: 'recent-commands' }),
    signHead: () => link.ask({ kind: 'sign-head' }),
    heads: (query) => link.ask({ kind: 'heads', ...query }),
    acknowledge: (ack) => link.ask({ kind: 'acknowledge', ...ack }),
    prune: (before) => link.ask({ kind: 'prune', before }),
    beginEpoch: (known, stamp) => link.ask({ kind: 'begin-epoch', known, stamp }),
    extent: () => link.ask({ kind: 'extent' }),
    upload: (after) => link.ask({ kind: 'upload', after }),
    hashAt: (place) => link.ask({ kind: 'hash-at', ...place }),
    keyAfter: (place) => link.ask({ kind: 'key-after', ...place }),
    personal: (at) => link.ask({ kind: 'read-personal', ...at }),
    erasePersonal: (entries) => link.ask({ kind: 'erase-personal', ...entries }),
    checkpoint: async () => {
      await link.ask({ kind: 'checkpoint' });
    },
    writtenBytes: () => link.ask({ kind: 'written-bytes' }),
  };
}

const createSiteStore = (link: JournalLink): SiteStorePort => ({
  rows: (): Promise<SiteRows> => link.ask({ kind: 'site-rows' }),
  change: async (change: SiteChange): Promise<void> => {
    await link.ask({ kind: 'site-change', change });
  },
});

/**
 * Ends in the history what ended unseen: one `release.interrupted` for each, before anything else is appended. On a disk
 * that takes nothing now, when it does.
 */
export async function appendInterrupted(opened: OpenedJournal, stamp: ClockStamp): Promise<readonly OpenRequest[]> {
  const open = await opened.archive.openRequests();
  const drafts = open.map(
    ({ requestId, door, begunBy }): EntryDraft => ({
      kind: 'release.interrupted',
      ...stamp,
      door: door as EntryDraft['door'],
      requestId: requestId as EntryDraft['requestId'],
      body: { begunBy },
    }),
  );
  if (drafts.length === 0) return open;
  const { kind } = await opened.journal.append(drafts);
  if (kind !== 'durable') opened.journal.note(drafts);
  return open;
}
