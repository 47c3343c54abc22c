/** What the running gateway knows beyond its rows, answered at once for a decision. */
import type { CanonicalValue } from '#shared/canonical.ts';
import type { DoorRow } from '#shared/contract/replica-row.ts';
import type { DoorId } from '#shared/identifier.ts';
import { type MonoMs, type WallMs, type WallWindow, wallMs } from '#shared/instant.ts';
import type { TimeKeeper } from '../clock/time-keeper.ts';
import { lockFactOf, modeOf } from '../door/door-state.ts';
import { hasEnteredToday } from '../door/first-person.ts';
import type { LiveDoor, LiveState } from '../door/gather-facts.ts';
import { facilityDay } from '../door/schedule-windows.ts';
import type { Journal } from '../journal/journal.ts';
import type { DoorSet } from './door-set.ts';
import type { EscortBook } from './escort-book.ts';
import type { GuessKeeper } from './guess-keeper.ts';
import type { StateMemory } from './state-memory.ts';

export interface LiveParts {
  readonly now: () => MonoMs;
  readonly time: TimeKeeper;
  readonly journal: Journal;
  readonly doors: DoorSet;
  readonly memory: StateMemory;
  readonly guesses: GuessKeeper;
  readonly escorts: EscortBook;
  readonly contactAgeMs: () => number | 'unknown';
  /** Zone of the facility in force; UTC before there is one. */
  readonly zone: () => string;
}

export function createLiveState(parts: LiveParts): LiveState {
  const { now, time, journal, memory, guesses } = parts;
  return {
    now,
    clock: () => time.read(),
    journal: () => (journal.state().kind === 'available' ? 'available' : 'unavailable'),
    contactAgeMs: parts.contactAgeMs,
    door: (row) => liveDoor(row, parts),
    guessing: (reader) => (guesses.isLocked(reader.id, now()) ? 'locked-out' : 'open'),
    usesSpent: (credential) => {
      const spent = memory.read('uses', credential);
      return typeof spent === 'number' ? spent : 0;
    },
    holderArea: (holder) => areaOf(memory.read('area', holder)),
  };
}

function liveDoor(row: DoorRow, parts: LiveParts): LiveDoor {
  const { doors, escorts, now } = parts;
  const shell = doors.find(row.id);
  return {
    mode: shell === undefined ? 'lockdown' : modeOf(shell.state.mode),
    lock: shell === undefined ? 'unreachable' : lockFactOf(shell.state),
    hasFirstPersonEntered: hasFirstPersonEntered(row.id, parts),
    escortWaiting: escorts.waiting(row.id, now()),
    interlockedBy: doors.interlockedBy(row),
  };
}

export function hasFirstPersonEntered(
  door: DoorId,
  { memory, time, zone }: Pick<LiveParts, 'memory' | 'time' | 'zone'>,
): boolean {
  const { now } = time.read();
  const entered = memory.read('first-person', door);
  if (now === undefined || typeof entered !== 'number') return false;
  return hasEnteredToday(wallMs(entered), today(zone(), now));
}

/** The facility's day, kept until it ends: finding it anew costs more than the rest of a decision. */
let knownDay: { readonly zone: string; readonly day: WallWindow } | undefined;

function today(zone: string, now: WallMs): WallWindow {
  const isKnown =
    knownDay !== undefined && knownDay.zone === zone && now >= knownDay.day.from && now < knownDay.day.until;
  if (knownDay === undefined || !isKnown) knownDay = { zone, day: facilityDay(zone, now) };
  return knownDay.day;
}

/** `null` inside the stored value is the outside; nothing stored is not known. */
function areaOf(stored: CanonicalValue | undefined): { readonly area: string | null } | undefined {
  if (stored === undefined || stored === null || typeof stored !== 'object' || Array.isArray(stored)) return undefined;
  const { area } = stored as { readonly area?: CanonicalValue };
  return area === null || typeof area === 'string' ? { area } : undefined;
}
