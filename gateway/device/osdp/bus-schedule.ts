/**
 * Whose turn it is on a shared line.
 *
 * Guarantees: a reader with an urgent command goes first, but never so often that the others miss their polls;
 * the rest go round; between two turns of any answering reader at most one turn goes to a reader that does not answer;
 * nobody waits for ever.
 *
 * Pure: the bus keeps the slots, this picks one.
 */

export interface Slot {
  /** Not before then, monotonic ms. */
  readonly dueAt: number;
  readonly servedAt: number;
  /** Its last exchange was answered. */
  readonly isPresent: boolean;
  /** A release or the like waits. */
  readonly isUrgent: boolean;
}

export interface ScheduleMemory {
  /** When an absent reader was last given a turn. */
  readonly probedAt: number;
  readonly urgentInARow: number;
}

export type Pick<Of extends Slot> =
  | { readonly kind: 'turn'; readonly slot: Of; readonly memory: ScheduleMemory }
  | { readonly kind: 'wait'; readonly until: number };

export const freshMemory: ScheduleMemory = { probedAt: Number.NEGATIVE_INFINITY, urgentInARow: 0 };

const urgentInARowMax = 4;

/** @param slots at least one. */
export function pickTurn<Of extends Slot>(slots: readonly Of[], memory: ScheduleMemory, at: number): Pick<Of> {
  const due = slots.filter((slot) => slot.dueAt <= at);
  if (due.length === 0) return { kind: 'wait', until: Math.min(...slots.map((slot) => slot.dueAt)) };
  const present = due.filter((slot) => slot.isPresent);
  const urgent = longestUnserved(present.filter((slot) => slot.isUrgent));
  if (urgent !== undefined && memory.urgentInARow < urgentInARowMax) {
    return { kind: 'turn', slot: urgent, memory: { ...memory, urgentInARow: memory.urgentInARow + 1 } };
  }
  const calm = { ...memory, urgentInARow: 0 };
  const absent = longestUnserved(due.filter((slot) => !slot.isPresent));
  const isOwed = present.some((slot) => slot.servedAt <= memory.probedAt);
  if (absent !== undefined && !isOwed) return { kind: 'turn', slot: absent, memory: { ...calm, probedAt: at } };
  const next = longestUnserved(present);
  return next === undefined ? { kind: 'wait', until: at } : { kind: 'turn', slot: next, memory: calm };
}

function longestUnserved<Of extends Slot>(slots: readonly Of[]): Of | undefined {
  return slots.reduce<Of | undefined>(
    (oldest, slot) => (oldest === undefined || slot.servedAt < oldest.servedAt ? slot : oldest),
    undefined,
  );
}
