/** What the journal's benches share: a journal on a real disk, entries as a busy door makes them, quantiles. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EntryDraft, EntryKind } from '#gateway/journal/entry.ts';
import { type OpenedJournal, openJournal } from '#gateway/journal/open-journal.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';

/** Beside the checkout, since a memory file system has no disk to wait for. */
export function createBenchFolder(): { readonly path: string; remove(): void } {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'dist');
  mkdirSync(root, { recursive: true });
  const path = mkdtempSync(join(root, 'bench-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function openBenchJournal(directory: string): Promise<OpenedJournal> {
  const bootId = '0b0e9f3a-6f0d-4a2e-9c58-3f4d2b1a7c55';
  return openJournal({ directory, masterKey: new Uint8Array(32).fill(9), bootId, noteMs: 1 });
}

const entry = (kind: EntryKind, request: number, body: EntryDraft['body']): EntryDraft => ({
  kind,
  at: wallMs(1_768_478_400_000 + request),
  clockState: 'trusted',
  door: identifier<'door'>('north-entrance'),
  requestId: identifier<'request'>(`r-${request.toString(36).padStart(10, '0')}`),
  body,
});

/** The granted entry, with what explains it later. */
export const grantedEntry = (request: number): EntryDraft =>
  entry('access.granted', request, {
    code: 'GRANTED',
    credential: 'c-000184',
    epoch: 3,
    grant: 'g-001272',
    holder: 'h-000184',
    leaseAgeMs: 41_000,
    releaseMs: 5_000,
    window: [1_768_435_200_000, 1_768_500_000_000],
  });

/** Both entries of a granted access. */
export const grantedAccess = (request: number): readonly EntryDraft[] => [
  entry('access.requested', request, { bits: 26, format: 'H10301', reader: 'north-entrance-in' }),
  grantedEntry(request),
];

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

export const round = (value: number): number => Math.round(value * 100) / 100;
