/**
 * The state of the trusted clock, and the reading of it.
 *
 * A reading never changes the clock, and an anchor that has aged counts as what it has become, stepped or not.
 */
import { later, type MonoMs, type WallMs } from '#shared/instant.ts';
import type { ClockFact, ClockState } from '../door/facts.ts';

/** How wrong a clock in use may be, ms; also how far two sources may differ. */
export const errorMaxMs = 60_000;
/** Growth of the error without evidence: 100 ppm, 60 s in 6.9 days. A crystal stays within it from −20 to 70 °C. */
export const driftPerMs = 100e-6;
/** Evidence older than this is lost: trusted becomes holdover. */
const freshMs = 15 * 60_000;
/** A signed answer to our nonce that took longer proves nothing. */
export const answerMaxMs = 5_000;
/** A time source that jumps is believed when it still says so this much later. */
export const confirmMs = 10_000;
/** The floor is written this often, since each write costs flash. */
export const floorStepMs = 10 * 60_000;
/** A wall clock that moved by this much against the monotonic one was set, not disciplined. */
export const jumpMs = 1_000;

type ClockSource = 'ntp' | 'signed' | 'rtc' | 'technician';

/** What a source may be wrong by when it is read, ms. */
export const errorOf = { ntp: 1_000, rtc: 10_000, technician: 30_000 } as const;

export type ClockEvidence =
  /** The machine’s wall clock, and whether the kernel holds it to be synchronized. Read at start, every minute, on change. */
  | { readonly kind: 'ntp'; readonly wall: WallMs; readonly isSynchronized: boolean }
  /** A verified signed time that answers our own nonce, and how long the answer took. */
  | { readonly kind: 'signed'; readonly wall: WallMs; readonly tookMs: number }
  /** A battery clock the configuration declares. */
  | { readonly kind: 'rtc'; readonly wall: WallMs }
  /** Typed by a technician who proved who they are. */
  | { readonly kind: 'technician'; readonly wall: WallMs }
  | { readonly kind: 'tick' };

export interface Anchor {
  readonly wall: WallMs;
  readonly at: MonoMs;
  readonly errorMs: number;
  readonly source: ClockSource;
}

export interface TrustedClock {
  readonly state: ClockState;
  readonly anchor: Anchor | undefined;
  /** No trusted time lies before it; persisted. */
  readonly floor: WallMs | undefined;
  /** The last signed time, against which the network’s is held. */
  readonly signed: Anchor | undefined;
  /** Network time that jumped and waits to be confirmed. */
  readonly jumped: Anchor | undefined;
  /** Network time contradicts signed time. */
  readonly isContradicted: boolean;
  /** Machine wall time minus monotonic time, as last read. */
  readonly machineOffsetMs: number | undefined;
  readonly isAlarmed: boolean;
}

export type ClockEffect =
  /** For the journal, as `clock.changed`. */
  | { readonly kind: 'changed'; readonly from: ClockState; readonly to: ClockState; readonly why: string }
  | { readonly kind: 'jumped'; readonly what: 'machine' | 'anchor' | 'floor'; readonly byMs: number }
  | { readonly kind: 'refused'; readonly source: ClockSource; readonly why: string }
  /** To be persisted; with the next entry is soon enough. */
  | { readonly kind: 'floor'; readonly floor: WallMs }
  | {
      readonly kind: 'alarm';
      readonly change: 'raise' | 'clear';
      readonly code: 'CLOCK_DOUBTED';
      readonly why: string;
    };

/** A clock after boot: it knows nothing but its floor. */
export function createClock(floor: WallMs | undefined): TrustedClock {
  return {
    state: 'untrusted',
    anchor: undefined,
    floor,
    signed: undefined,
    jumped: undefined,
    isContradicted: false,
    machineOffsetMs: undefined,
    isAlarmed: false,
  };
}

/** What an anchor says the time is now. */
export const project = (anchor: Anchor, at: MonoMs): WallMs => later(anchor.wall, Math.floor(at - anchor.at));
const errorAt = (anchor: Anchor, at: MonoMs): number => Math.ceil(anchor.errorMs + (at - anchor.at) * driftPerMs);

/** The time as decisions may use it. Reading never changes the clock; an aged anchor already counts as what it has become. */
export function readClock(clock: TrustedClock, at: MonoMs): ClockFact {
  const { anchor } = clock;
  const state = stateAt(clock, at);
  if (anchor === undefined || state === 'untrusted') return { state: 'untrusted', now: undefined, errorMs: 0 };
  return { state, now: project(anchor, at), errorMs: errorAt(anchor, at) };
}

/** What a clock that was last stepped earlier has become. */
export function stateAt({ anchor, isContradicted, jumped, state }: TrustedClock, at: MonoMs): ClockState {
  if (anchor === undefined || isContradicted || errorAt(anchor, at) > errorMaxMs) return 'untrusted';
  const isFresh = at - anchor.at < freshMs && jumped === undefined;
  return isFresh && state !== 'holdover' ? 'trusted' : 'holdover';
}

/** When a `tick` is due: evidence grows old, or the error too large. `undefined` = only evidence changes anything. */
export function nextClockDeadline({ anchor, state }: TrustedClock): MonoMs | undefined {
  if (anchor === undefined || state === 'untrusted') return undefined;
  return later(anchor.at, state === 'trusted' ? freshMs : Math.ceil((errorMaxMs - anchor.errorMs) / driftPerMs) + 1);
}
