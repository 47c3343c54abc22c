/**
 * Holds a lock's own record against the gateway's history: every moment in which a door could be pushed open must be
 * the answer to one entry of its own, made before it.
 */
import type { Entry } from '#gateway/journal/entry.ts';
import type { StrikeEvent } from '#gateway/simulator/strike-record.ts';

/** From the entry to the lock, ms: the release's deadline, and what a busy machine adds. */
const latestMs = 5_000;
/** Both clocks are the machine's, read by two processes. */
const toleranceMs = 20;

/** Control codes of OUT: 5 on for a time, 6 off for a time; the second byte after its own code. */
const isTimed = ({ command }: StrikeEvent): boolean => ['05', '06'].includes(command?.slice(4, 6) ?? '');

const isRelease = (event: StrikeEvent): boolean => event.cause === 'command' && isTimed(event);

/** Whether the door became passable by it; it is born as its current is, and that is nobody's doing. */
const hasOpened = (event: StrikeEvent): boolean => event.hasChanged && event.isPassable && event.cause !== 'start';

const isReleasing = ({ kind, body }: Entry): boolean =>
  kind === 'access.granted' || (kind === 'command.received' && body['command'] === 'release');

/**
 * @param record of one door's lock, @param entries of the whole history, both oldest first.
 * @returns what no entry explains: releases without one of their own, and pulses.
 */
export function unexplained(
  door: string,
  record: readonly StrikeEvent[],
  entries: readonly Entry[],
): readonly StrikeEvent[] {
  const own = entries.filter((entry) => entry.door === door);
  const releasing = own.filter(isReleasing);
  return record.filter((event) => {
    const at = Date.parse(event.at);
    if (isRelease(event)) {
      const index = releasing.findIndex((entry) => entry.at <= at + toleranceMs && entry.at > at - latestMs);
      if (index >= 0) releasing.splice(index, 1);
      return index < 0;
    }
    return hasOpened(event) && !(event.cause === 'command' && isFreedAt(own, at));
  });
}

/** Whether the door was, or had just been told to be, free. */
function isFreedAt(own: readonly Entry[], at: number): boolean {
  const before = own.filter((entry) => entry.at <= at + toleranceMs);
  const mode = before.findLast(({ kind }) => kind === 'door.mode-changed')?.body['mode'];
  const isTold = before.some(
    (entry) => entry.kind === 'command.received' && entry.body['command'] === 'mode free' && entry.at > at - latestMs,
  );
  return mode === 'free' || isTold;
}

/** Requests that were granted or commanded and of which the history does not say what became of them. */
export function unfinished(entries: readonly Entry[]): readonly string[] {
  const open = new Set<string>();
  for (const { kind, requestId } of entries) {
    if (requestId === null) continue;
    if (kind === 'access.granted' || kind === 'command.received') open.add(requestId);
    else if (endings.has(kind)) open.delete(requestId);
  }
  return [...open];
}

const endings: ReadonlySet<string> = new Set([
  'lock.released',
  'lock.secured',
  'lock.refused',
  'lock.not-executed',
  'release.unknown',
  'release.interrupted',
  'door.mode-changed',
  'command.refused',
]);
