/** A real journal in a folder of its own, for tests. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntryDraft, EntryKind } from '#gateway/journal/entry.ts';
import { type OpenedJournal, type OpenJournalOptions, openJournal } from '#gateway/journal/open-journal.ts';
import { openStores, type Stores } from '#gateway/journal/open-stores.ts';
import { prepareDraft } from '#gateway/journal/prepared-entry.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';

export const masterKey = new Uint8Array(32).fill(7);
export const bootId = '11111111-2222-3333-4444-555555555555';
export const noon = Date.UTC(2026, 0, 15, 12);

export interface Folder {
  readonly path: string;
  remove(): void;
}

/** In memory where there is such a place: these tests are about what is written, not about how long a disk takes. */
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export function createFolder(): Folder {
  const path = mkdtempSync(join(place, 'kannuki-journal-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function draft(
  kind: EntryKind,
  request: string | null = 'r-1',
  body: EntryDraft['body'] = { n: 1 },
): EntryDraft {
  return {
    kind,
    at: wallMs(noon),
    clockState: 'trusted',
    door: identifier<'door'>('front'),
    requestId: request === null ? null : identifier<'request'>(request),
    body,
  };
}

/** The two entries of a granted access. */
export const grantOf = (request: string): readonly EntryDraft[] => [
  draft('access.requested', request, { reader: 'front-in', bits: 26 }),
  draft('access.granted', request, { code: 'GRANTED', grant: 'g-1', releaseMs: 5_000 }),
];

export function openIn(directory: string, options: Partial<OpenJournalOptions> = {}): Promise<OpenedJournal> {
  return openJournal({ directory, masterKey, bootId, reserveBytes: 65_536, ...options });
}

/** Opens both files in this thread: for tests of what is in them. */
export const openHere = (directory: string): Stores => openStores({ directory, masterKey, bootId }, noon);

export function appendHere(stores: Stores, drafts: readonly EntryDraft[]): void {
  stores.journal.transact((transaction) => {
    for (const each of drafts) transaction.append(prepareDraft(each));
  });
}

export function signHere(stores: Stores): void {
  stores.journal.transact((transaction) => transaction.signHead());
}

export function closeHere(stores: Stores): void {
  stores.journal.close();
  stores.site.close();
}
