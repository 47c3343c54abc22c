/**
 * Interlock: of a group of doors only one is passable at a time (an airlock, a cash room).
 *
 * A door counts from the moment a grant for it is decided, not from its release: two grants that wait for
 * the same commit would otherwise open both. Not promised across gateways.
 */
import type { DoorId } from '#shared/identifier.ts';
import type { DoorStatusKind } from './door-state.ts';

export interface InterlockMember {
  readonly door: DoorId;
  readonly group: string | null;
  readonly status: DoorStatusKind;
  /** A grant for it has been decided and has not reached the door machine yet. */
  readonly isGrantPending: boolean;
}

/** Another door of the group that is not known to be secured; the first in the given order. */
export function interlockedBy(door: InterlockMember, others: readonly InterlockMember[]): DoorId | undefined {
  if (door.group === null) return undefined;
  return others.find((other) => other.door !== door.door && other.group === door.group && isInTheWay(other))?.door;
}

const isInTheWay = (member: InterlockMember): boolean => member.status !== 'secured' || member.isGrantPending;
