/**
 * Grants and commands whose end nobody saw: the process stopped between saying yes and hearing what the lock did.
 * Pure: over entries in order.
 */
import type { EntryKind } from './entry.ts';

/** What is needed of an entry, newest or oldest, to tell. */
export interface TraceRow {
  readonly kind: string;
  readonly door: string | null;
  readonly requestId: string | null;
}

/** With the place of the entry. */
export interface PlacedTrace extends TraceRow {
  readonly place: number;
}

/** One request that was begun and has no end. */
export interface OpenRequest {
  readonly requestId: string;
  readonly door: string | null;
  readonly begunBy: 'access.granted' | 'command.received';
}

const ends: ReadonlySet<string> = new Set<EntryKind>([
  'lock.released',
  'lock.secured',
  'lock.refused',
  'lock.not-executed',
  'release.unknown',
  'release.interrupted',
  'door.mode-changed',
  'command.refused',
  'command.done',
]);

const begins = (kind: string): kind is OpenRequest['begunBy'] =>
  kind === 'access.granted' || kind === 'command.received';

/** @param rows in the order of the journal. */
export function openRequests(rows: Iterable<TraceRow>): readonly OpenRequest[] {
  const open = new Map<string, OpenRequest>();
  for (const { kind, door, requestId } of rows) {
    if (requestId === null) continue;
    if (begins(kind)) open.set(requestId, { requestId, door, begunBy: kind });
    else if (ends.has(kind)) open.delete(requestId);
  }
  return [...open.values()];
}
