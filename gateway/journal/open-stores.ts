/**
 * Opens site.db and journal.db together, since each remembers whether the other should be there.
 *
 * Guarantees: a journal that is gone or damaged is followed by one of a later epoch whose first entry is
 * `journal.lost`; a site that is gone or damaged is said in the journal. Nothing is begun anew in silence.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { epochOf, seqOf } from '#shared/journal-chain.ts';
import { openSiteFile, type SiteFile } from '../site/site-file.ts';
import { namesSetAside } from '../store/quarantine.ts';
import { type Found, openOrRecover } from '../store/recover-file.ts';
import type { StoreFault } from '../store/store-fault.ts';
import { type JournalFile, openJournalFile } from './journal-file.ts';
import type { EntryRow } from './journal-tables.ts';
import { type ClockStamp, ownDraft, type PreparedDraft } from './prepared-entry.ts';

export interface StoresOptions {
  readonly directory: string;
  readonly masterKey: Uint8Array;
  readonly bootId: string;
  /** A file that proved damaged in use, and must not be opened again. */
  readonly condemned?: StoreFault | undefined;
  /** Told of entries once they are durable. */
  readonly onCommitted?: (rows: readonly EntryRow[]) => void;
}

/** What was found at the opening; `lost` is for an alarm. */
export interface StoresReport {
  readonly journal: Found;
  readonly site: Found;
  readonly epoch: number;
  /** Of this journal file: verifies every head in it. Raw Ed25519, 32 bytes. */
  readonly firstKey: Uint8Array;
  /** Where this journal is not the first of the box; `isFormerGone` while its first entry tells of a file that nobody has. */
  readonly beginsAnew: { readonly epoch: number; readonly isFormerGone: boolean } | undefined;
}

export interface Stores {
  readonly journal: JournalFile;
  readonly site: SiteFile;
  readonly report: StoresReport;
}

const epochMax = 8_191;
export const journalPath = (directory: string): string => join(directory, 'journal.db');
const sitePath = (directory: string): string => join(directory, 'site.db');

/** @param at the machine's wall clock, ms. @throws StoreFault where a file must be left alone. */
export function openStores(options: StoresOptions, at: number): Stores {
  const { directory, masterKey } = options;
  const site = openOrRecover({
    path: sitePath(directory),
    isExpected: existsSync(journalPath(directory)),
    ...condemnation(options, sitePath(directory)),
    at,
    open: (mode) => openSiteFile(sitePath(directory), masterKey, mode),
  });
  try {
    const journal = openJournal(options, site.file, at);
    const siteFound = judgeSite(site, journal);
    try {
      tellLosses(journal, siteFound, at);
      rememberEpoch(site.file, journal.file, at);
      const { extent, tip } = journal.file.position();
      const report = {
        journal: journal.found,
        site: siteFound,
        epoch: epochOf(tip),
        firstKey: extent.firstKey,
        beginsAnew: beginningOf(journal.file),
      };
      return { journal: journal.file, site: site.file, report };
    } catch (error) {
      journal.file.close();
      throw error;
    }
  } catch (error) {
    site.file.close();
    throw error;
  }
}

function beginningOf(journal: JournalFile): StoresReport['beginsAnew'] {
  const epoch = journal.position().extent.firstEpoch;
  if (epoch === 1) return undefined;
  const [first] = journal.tables.entriesAfter.all(0, 1);
  return { epoch, isFormerGone: first?.kind === 'journal.lost' && JSON.parse(first.body).aside === null };
}

const condemnation = ({ condemned }: StoresOptions, path: string): { condemnedFor?: string } =>
  condemned?.path === path ? { condemnedFor: condemned.message } : {};

interface OpenedJournal {
  readonly file: JournalFile;
  readonly found: Found;
}

function openJournal(options: StoresOptions, site: SiteFile, at: number): OpenedJournal {
  const path = journalPath(options.directory);
  const known = site.rows().epochs.at(-1)?.epoch ?? 0;
  const open = (mode: 'existing' | 'create'): JournalFile =>
    openJournalFile({ ...options, path, mode, newEpoch: nextEpoch(options.directory, known) });
  const opened = openOrRecover({ path, isExpected: known > 0, ...condemnation(options, path), at, open });
  const { tip, extent } = opened.file.position();
  if (opened.found.kind === 'lost' || seqOf(tip) > 0 || extent.firstEpoch === 1) return opened;
  // Begun after a loss by a process that ended before it could say so.
  return { file: opened.file, found: unsaidLoss };
}

const unsaidLoss: Found = { kind: 'lost', reason: 'missing', detail: 'begun anew, and not yet said', aside: null };

/** A site that remembers no journal beside a journal with entries was begun after a loss that nobody has said yet. */
function judgeSite(site: { readonly file: SiteFile; readonly found: Found }, journal: OpenedJournal): Found {
  const isForgetful = site.file.rows().epochs.length === 0 && seqOf(journal.file.position().tip) > 0;
  return site.found.kind !== 'lost' && isForgetful ? unsaidLoss : site.found;
}

/** The names of former files of the journal at `path`, beside it. */
export const journalsSetAside = (path: string): readonly string[] =>
  namesSetAside(dirname(path)).filter((name) => name.startsWith(basename(path)));

/** Later than any that the site remembers, or that may be in a file set aside. */
function nextEpoch(directory: string, known: number): number {
  const aside = journalsSetAside(journalPath(directory)).length;
  return Math.min(epochMax, Math.max(known, aside) + 1);
}

function tellLosses(journal: OpenedJournal, site: Found, at: number): void {
  const stamp: ClockStamp = { at: at as ClockStamp['at'], clockState: 'untrusted' };
  const drafts: PreparedDraft[] = [];
  if (journal.found.kind === 'lost') drafts.push(ownDraft('journal.lost', lossOf(journal.found), stamp));
  if (site.kind === 'lost') drafts.push(ownDraft('storage.changed', { file: 'site.db', ...lossOf(site) }, stamp));
  if (drafts.length === 0) return;
  journal.file.transact((transaction) => {
    for (const draft of drafts) transaction.append(draft);
  });
}

const lossOf = (found: Extract<Found, { kind: 'lost' }>) => ({
  reason: found.reason,
  detail: found.detail.slice(0, 500),
  aside: found.aside && basename(found.aside),
});

function rememberEpoch(site: SiteFile, journal: JournalFile, at: number): void {
  const { tip, extent } = journal.position();
  const epoch = epochOf(tip);
  if (site.rows().epochs.some((row) => row.epoch === epoch)) return;
  site.change({ kind: 'put-epoch', row: { epoch, firstKey: extent.firstKey, begunAt: at } });
}

/**
 * The next epoch of the same journal, when somebody who knows better says that its tail is gone.
 * @param known the last entry that was once there, by that account.
 */
export function beginEpoch(
  stores: Stores,
  known: { readonly epoch: number; readonly seq: number },
  stamp: ClockStamp,
): number {
  const { tip } = stores.journal.position();
  const epoch = Math.max(epochOf(tip), known.epoch) + 1;
  const held = { epoch: epochOf(tip), heldSeq: seqOf(tip) };
  const body = { reason: 'tail-lost', ...held, knownEpoch: known.epoch, knownSeq: known.seq };
  stores.journal.transact((transaction) => {
    transaction.signHead();
    transaction.beginEpoch(epoch);
    transaction.append(ownDraft('journal.lost', body, stamp));
    transaction.signHead();
  });
  rememberEpoch(stores.site, stores.journal, stamp.at);
  return epoch;
}
