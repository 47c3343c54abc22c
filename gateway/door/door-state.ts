/**
 * The state of one door: what is known of its lock and its leaf, its mode, and what it waits for.
 *
 * Lock and leaf are separate unions, since every pair of them occurs (a relocked lock on an open leaf);
 * the one word people are shown is derived from both and never claims more than is known.
 */
import type { AlarmCode } from '#shared/code.ts';
import type { DoorRow } from '#shared/contract/replica-row.ts';
import type { RequestId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { CommandedMode } from './door-input.ts';

export type DoorMode = CommandedMode | 'fire';

export type DoorStatusKind =
  | 'secured'
  | 'releasing'
  | 'released'
  | 'open'
  | 'held'
  | 'forced'
  | 'securing'
  | 'jammed'
  | 'unknown';

/** What people are shown. */
export interface DoorStatus {
  readonly kind: DoorStatusKind;
  readonly since: MonoMs;
  /** While unknown: the last state that was known, and when it ceased to be. */
  readonly lastKnown: { readonly kind: DoorStatusKind; readonly at: MonoMs } | undefined;
}

export type LockTarget = 'released' | 'secured' | 'free';

export type LockState =
  | { readonly kind: 'none' }
  /** `askAt`: when the machine stops waiting for a report and puts the lock where it belongs. */
  | { readonly kind: 'unknown'; readonly askAt: MonoMs | undefined }
  | { readonly kind: 'secured' }
  /** Passable until `until`; not seen secured by `checkAt`, it is told to. */
  | { readonly kind: 'released'; readonly until: MonoMs; readonly checkAt: MonoMs }
  | { readonly kind: 'free' }
  /** Commanded, not answered yet. */
  | { readonly kind: 'moving'; readonly to: LockTarget; readonly requestId: RequestId }
  | { readonly kind: 'jammed'; readonly retryAt: MonoMs };

/** An opening under way. `requestId` is whose release it followed; `null` where it followed none. */
interface Opening {
  readonly requestId: RequestId | null;
  readonly since: MonoMs;
}

export type LeafState =
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown'; readonly before: KnownLeaf | undefined }
  | KnownLeaf;

export type KnownLeaf =
  | { readonly kind: 'closed' }
  /** `warnAt` and `heldAt` are `undefined` once past, or while the door stands free. */
  | (Opening & { readonly kind: 'open'; readonly warnAt: MonoMs | undefined; readonly heldAt: MonoMs | undefined })
  | (Opening & { readonly kind: 'held' })
  | (Opening & { readonly kind: 'forced' });

/** While it lasts, an opening is nobody's forcing. */
export interface Leave {
  readonly requestId: RequestId | null;
  readonly until: MonoMs;
  /** After how long open counts as held. */
  readonly heldMs: number;
}

/** A command on its way. */
export interface Awaited {
  readonly requestId: RequestId;
  readonly to: LockTarget;
  readonly ms: number;
  /** No answer by then counts as `unknown`. */
  readonly answerBy: MonoMs;
  readonly isOperators: boolean;
}

export type DoorPoint = 'contact' | 'rex' | 'fire';

/** What is known of the lock, and what it was told. */
interface LockPart {
  readonly state: LockState;
  readonly isUp: boolean;
  readonly awaited: readonly Awaited[];
  /** Secures and frees in a row that failed. */
  readonly failures: number;
  /** How often the output moved by itself lately. */
  readonly contradictions: { readonly count: number; readonly since: MonoMs };
}

/** What is known of the leaf, and what excuses its opening. */
interface LeafPart {
  readonly state: LeafState;
  /** A contact reading that has not lasted `debounceMs` yet. */
  readonly bouncing: { readonly isOpen: boolean; readonly since: MonoMs } | undefined;
  readonly isRexActive: boolean;
  readonly leave: Leave | undefined;
}

export interface ModePart {
  readonly commanded: CommandedMode;
  readonly isScheduledFree: boolean;
  readonly isFire: boolean;
}

/** Whose requests the door is busy with. */
interface StoryPart {
  /** Its story ends with the next `lock.secured`. */
  readonly thread: RequestId | undefined;
  /** Released and not seen through the door yet. */
  readonly expected: readonly RequestId[];
  /** Released or turned down already; a repeated id does nothing. */
  readonly handledIds: readonly RequestId[];
}

export interface DoorState {
  readonly row: DoorRow;
  readonly start: DoorStart;
  /** Time of the last step. */
  readonly at: MonoMs;
  readonly status: DoorStatus;
  readonly lock: LockPart;
  readonly leaf: LeafPart;
  readonly mode: ModePart;
  readonly story: StoryPart;
  readonly raised: readonly AlarmCode[];
  readonly faulty: readonly DoorPoint[];
  /** How many commands of its own the machine has numbered. */
  readonly ownIds: number;
}

export interface DoorStart {
  readonly at: MonoMs;
  /** As persisted; releases never are. */
  readonly commandedMode: CommandedMode;
  /** Whether the lock's device ends a release by itself. */
  readonly hasDeviceTimer: boolean;
  /** At most 48 characters of an id, unique to this door and this start; the machine numbers its own commands with it. */
  readonly ownIdPrefix: string;
}

/** A door of which nothing is known yet. Nothing is sent until its device is up and has reported. */
export function createDoor(row: DoorRow, start: DoorStart): DoorState {
  return {
    row,
    start,
    at: start.at,
    status: { kind: 'unknown', since: start.at, lastKnown: undefined },
    lock: {
      state: row.lock === null ? { kind: 'none' } : { kind: 'unknown', askAt: undefined },
      isUp: false,
      awaited: [],
      failures: 0,
      contradictions: { count: 0, since: start.at },
    },
    leaf: {
      state: row.contact === null ? { kind: 'none' } : { kind: 'unknown', before: undefined },
      bouncing: undefined,
      isRexActive: false,
      leave: undefined,
    },
    mode: { commanded: start.commandedMode, isScheduledFree: false, isFire: false },
    story: { thread: undefined, expected: [], handledIds: [] },
    raised: [],
    faulty: [],
    ownIds: 0,
  };
}

/** fire > lockdown > free > controlled. */
export function modeOf({ isFire, commanded, isScheduledFree }: ModePart): DoorMode {
  if (isFire) return 'fire';
  if (commanded === 'lockdown') return 'lockdown';
  return commanded === 'free' || isScheduledFree ? 'free' : 'controlled';
}

/** What the decision needs to know of the lock: whether a command would reach it and be obeyed. */
export function lockFactOf({ lock }: DoorState): 'ready' | 'unreachable' | 'faulted' {
  if (lock.state.kind === 'none') return 'ready';
  if (!lock.isUp) return 'unreachable';
  return lock.state.kind === 'jammed' ? 'faulted' : 'ready';
}
