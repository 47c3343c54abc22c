/**
 * The one word for a door, and the moment at which it next changes by itself.
 */
import { later, type MonoMs } from '#shared/instant.ts';
import { unreachable } from '#shared/unreachable.ts';
import type { DoorSignal } from './door-input.ts';
import { type DoorState, type DoorStatusKind, type LockState, modeOf } from './door-state.ts';

/** Derived from lock and leaf; what is not known is never shown as secured. */
export function statusKindOf(state: DoorState): DoorStatusKind {
  const leaf = state.leaf.state.kind;
  if (leaf === 'forced' || leaf === 'held' || leaf === 'open') return leaf;
  const isDark = state.lock.state.kind !== 'none' && !state.lock.isUp;
  return leaf === 'unknown' || isDark ? 'unknown' : lockWord(state.lock.state, state.at);
}

function lockWord(lock: LockState, at: MonoMs): DoorStatusKind {
  switch (lock.kind) {
    case 'none':
    case 'free':
      return 'released';
    case 'released':
      return at < lock.until ? 'released' : 'securing';
    case 'moving':
      return lock.to === 'secured' ? 'securing' : 'releasing';
    case 'secured':
    case 'jammed':
    case 'unknown':
      return lock.kind;
    default:
      return unreachable(lock);
  }
}

/** What a reader of this door shows while nobody presents anything; to be sent again when the reader comes back. */
export function standingSignal(state: DoorState): DoorSignal {
  const mode = modeOf(state.mode);
  return mode === 'free' || mode === 'lockdown' ? mode : 'idle';
}

/** When a `tick` is due next; `undefined` = nothing waits. Always after the last step. */
export function nextDeadline(state: DoorState): MonoMs | undefined {
  let next: MonoMs | undefined;
  for (const deadline of deadlinesOf(state)) {
    if (deadline === undefined || deadline <= state.at) continue;
    if (next === undefined || deadline < next) next = deadline;
  }
  return next;
}

function deadlinesOf({ lock, leaf, row }: DoorState): readonly (MonoMs | undefined)[] {
  const deadlines: (MonoMs | undefined)[] = lock.awaited.map(({ answerBy }) => answerBy);
  if (lock.state.kind === 'released') deadlines.push(lock.state.until, lock.state.checkAt);
  if (lock.state.kind === 'unknown') deadlines.push(lock.state.askAt);
  if (lock.state.kind === 'jammed') deadlines.push(lock.state.retryAt);
  if (leaf.state.kind === 'open') deadlines.push(leaf.state.warnAt, leaf.state.heldAt);
  if (leaf.bouncing !== undefined) deadlines.push(later(leaf.bouncing.since, row.debounceMs));
  return deadlines;
}
