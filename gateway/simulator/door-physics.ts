/**
 * A physical door: a leaf, a lock that current moves, a closer, its sensors, and the people in front of it.
 *
 * It opens when its lock is passable and somebody pushes, from inside at any time (the handle is mechanical),
 * or by force; it falls closed unless held. Pure: time arrives as `at`, and what is due happens before the input.
 * Not promised: two people at one door; who arrives second takes the first one's place.
 */
import { later, type MonoMs, monoMs } from '#shared/instant.ts';
import { unreachable } from '#shared/unreachable.ts';

export interface DoorShape {
  /** `energise`: a strike, current releases. `de-energise`: a magnet, current secures. */
  readonly release: 'energise' | 'de-energise';
  /** From passable (or the exit button) to the leaf moving, ms. */
  readonly opensAfterMs: number;
  /** From the leaf opening to its falling closed, ms. */
  readonly closesAfterMs: number;
}

type Person =
  | { readonly kind: 'waiting'; readonly until: MonoMs }
  | { readonly kind: 'pushing'; readonly opensAt: MonoMs; readonly from: 'outside' | 'inside' };

export interface DoorPhysics {
  readonly isEnergised: boolean;
  readonly leaf: 'closed' | 'open';
  readonly person: Person | undefined;
  /** When the closer has shut the leaf; `undefined` while it is closed or held. */
  readonly closesAt: MonoMs | undefined;
  /** Something keeps the leaf from closing. */
  readonly isHeld: boolean;
  readonly exitPressedUntil: MonoMs | undefined;
  readonly isFireActive: boolean;
  /** The contact says this whatever the leaf does. */
  readonly stuckContact: 'open' | 'closed' | undefined;
}

export type DoorInput = { readonly at: MonoMs } & (
  | { readonly kind: 'current'; readonly isOn: boolean }
  /** Somebody stands outside and pushes once the lock lets go; leaves after `patienceMs`. */
  | { readonly kind: 'arrive'; readonly patienceMs: number }
  /** Who still waits outside walks away. */
  | { readonly kind: 'leave' }
  /** Somebody inside presses the exit button and opens by the handle. */
  | { readonly kind: 'exit' }
  | { readonly kind: 'force' }
  | { readonly kind: 'hold'; readonly isHeld: boolean }
  | { readonly kind: 'fire'; readonly isActive: boolean }
  | { readonly kind: 'stick-contact'; readonly contact: 'open' | 'closed' | undefined }
  | { readonly kind: 'tick' }
);

export type Happening = 'opened' | 'closed' | 'forced' | 'gave-up';

export interface DoorStep {
  readonly state: DoorPhysics;
  readonly happened: readonly Happening[];
}

const exitPressMs = 400;

export const closedDoor: DoorPhysics = {
  isEnergised: false,
  leaf: 'closed',
  person: undefined,
  closesAt: undefined,
  isHeld: false,
  exitPressedUntil: undefined,
  isFireActive: false,
  stuckContact: undefined,
};

/** Whether a push from outside would open it. */
export function isPassable(shape: DoorShape, state: DoorPhysics): boolean {
  return state.isEnergised === (shape.release === 'energise');
}

/** What the door's switches say: contact (true = open), exit button (true = pressed), fire (true = active). */
export function sense(state: DoorPhysics): { contact: boolean; rex: boolean; fire: boolean } {
  return {
    contact: (state.stuckContact ?? state.leaf) === 'open',
    rex: state.exitPressedUntil !== undefined,
    fire: state.isFireActive,
  };
}

/** When the door next moves by itself; `undefined` = nothing is due. */
export function nextDueAt(state: DoorPhysics): MonoMs | undefined {
  const personAt = state.person?.kind === 'waiting' ? state.person.until : state.person?.opensAt;
  const due = [personAt, state.closesAt, state.exitPressedUntil].filter((at) => at !== undefined);
  return due.length === 0 ? undefined : monoMs(Math.min(...due));
}

export function stepPhysics(shape: DoorShape, before: DoorPhysics, input: DoorInput): DoorStep {
  const settled = settle(shape, before, input.at);
  const applied = apply(shape, settled.state, input);
  return { state: reach(shape, applied.state, input.at), happened: [...settled.happened, ...applied.happened] };
}

/** Lets everything happen that was due by `at`, in its order. */
function settle(shape: DoorShape, before: DoorPhysics, at: MonoMs): DoorStep {
  let state = before;
  const happened: Happening[] = [];
  for (let due = nextDueAt(state); due !== undefined && due <= at; due = nextDueAt(state)) {
    const step = happen(shape, state, due);
    state = step.state;
    happened.push(...step.happened);
  }
  return { state, happened };
}

function happen(shape: DoorShape, state: DoorPhysics, due: MonoMs): DoorStep {
  if (state.exitPressedUntil === due) return { state: { ...state, exitPressedUntil: undefined }, happened: [] };
  if (state.closesAt === due) {
    return { state: { ...state, leaf: 'closed', closesAt: undefined }, happened: ['closed'] };
  }
  const { person } = state;
  const alone = { ...state, person: undefined };
  if (person?.kind !== 'pushing') return { state: alone, happened: ['gave-up'] };
  const opens = person.from === 'inside' || state.leaf === 'open' || isPassable(shape, state);
  return opens ? open(shape, alone, due) : { state: alone, happened: ['gave-up'] };
}

function open(shape: DoorShape, state: DoorPhysics, at: MonoMs): DoorStep {
  const closesAt = state.isHeld ? undefined : later(at, shape.closesAfterMs);
  return { state: { ...state, leaf: 'open', closesAt }, happened: state.leaf === 'open' ? [] : ['opened'] };
}

function apply(shape: DoorShape, state: DoorPhysics, input: DoorInput): DoorStep {
  const becomes = (change: Partial<DoorPhysics>): DoorStep => ({ state: { ...state, ...change }, happened: [] });
  switch (input.kind) {
    case 'current':
      return becomes({ isEnergised: input.isOn });
    case 'arrive':
      return becomes({ person: { kind: 'waiting', until: later(input.at, input.patienceMs) } });
    case 'leave':
      return state.person?.kind === 'waiting' ? becomes({ person: undefined }) : becomes({});
    case 'exit':
      return becomes({
        exitPressedUntil: later(input.at, exitPressMs),
        person: { kind: 'pushing', opensAt: later(input.at, shape.opensAfterMs), from: 'inside' },
      });
    case 'force': {
      const forced = open(shape, state, input.at);
      return { state: forced.state, happened: forced.happened.length > 0 ? ['forced'] : [] };
    }
    case 'hold': {
      const isFalling = !input.isHeld && state.leaf === 'open';
      return becomes({
        isHeld: input.isHeld,
        closesAt: isFalling ? later(input.at, shape.closesAfterMs) : undefined,
      });
    }
    case 'fire':
      return becomes({ isFireActive: input.isActive });
    case 'stick-contact':
      return becomes({ stuckContact: input.contact });
    case 'tick':
      return becomes({});
    default:
      return unreachable(input);
  }
}

/** Who waits begins to push once the way is free. */
function reach(shape: DoorShape, state: DoorPhysics, at: MonoMs): DoorPhysics {
  if (state.person?.kind !== 'waiting') return state;
  if (state.leaf !== 'open' && !isPassable(shape, state)) return state;
  return { ...state, person: { kind: 'pushing', opensAt: later(at, shape.opensAfterMs), from: 'outside' } };
}
