/**
 * Who is expected through the door, and whether an opening is excused.
 *
 * Not promised: that one opening is one person. All who were released and have not been seen pass with it.
 */
import type { RequestId } from '#shared/identifier.ts';
import { later, type MonoMs } from '#shared/instant.ts';
import { type Leave, modeOf } from './door-state.ts';
import type { DoorStep } from './door-step.ts';

/** A contact may tell of an opening that began while the lock was still released, ms. */
export const openGraceMs = 1_000;
/** People still walk through a door that has just ceased to be free, or after a fire, ms. */
export const leavingMs = 5_000;
const rememberedMax = 64;
const expectedMax = 8;

/** The request is about to be released; its id is used up. */
export function expect(step: DoorStep, requestId: RequestId, { ms, heldMs }: { ms: number; heldMs: number }): void {
  step.story = {
    ...step.story,
    expected: [...step.story.expected, requestId].slice(-expectedMax),
    handledIds: [...step.story.handledIds, requestId].slice(-rememberedMax),
  };
  step.leaf = { ...step.leaf, leave: { requestId, until: later(step.at, ms + openGraceMs), heldMs } };
}

/** The request was certainly not released. */
export function withdraw(step: DoorStep, requestId: RequestId): void {
  const expected = step.story.expected.filter((id) => id !== requestId);
  step.story = { ...step.story, expected };
  const { leave } = step.leaf;
  if (leave?.requestId !== requestId) return;
  const heir = expected.at(-1);
  step.leaf = { ...step.leaf, leave: heir === undefined ? undefined : { ...leave, requestId: heir } };
}

/** Released: through at once where no contact can tell, or the door is open already. */
export function passIfUnseen(step: DoorStep, requestId: RequestId): void {
  if (step.leaf.state.kind === 'closed' || !step.story.expected.includes(requestId)) return;
  step.story = { ...step.story, expected: step.story.expected.filter((id) => id !== requestId) };
  step.effects.push({ kind: 'passed', requestId });
}

/** The door opened: everybody expected is through. */
export function passAll(step: DoorStep): void {
  for (const requestId of step.story.expected) step.effects.push({ kind: 'passed', requestId });
  step.story = { ...step.story, expected: [] };
}

/** Excuses openings until `ms` from now, on top of what is excused already. */
export function excuse(step: DoorStep, ms: number, requestId: RequestId | null = null): void {
  const { leave } = step.leaf;
  const until = later(step.at, ms);
  const running = leave !== undefined && leave.until > step.at ? leave : undefined;
  const extended: Leave = {
    requestId: running?.requestId ?? requestId,
    until: running !== undefined && running.until > until ? running.until : until,
    heldMs: running?.heldMs ?? step.row.heldMs,
  };
  step.leaf = { ...step.leaf, leave: extended };
}

/** Whether an opening that began at `since` is nobody’s forcing, and whose it is. */
export function excuseFor(step: DoorStep, since: MonoMs): Omit<Leave, 'until'> | undefined {
  const { leave, isRexActive } = step.leaf;
  if (leave !== undefined && since <= leave.until) return leave;
  const mode = modeOf(step.mode);
  const stands = step.lock.state.kind === 'none' || step.lock.state.kind === 'free';
  const isExcused = stands || isRexActive || mode === 'free' || mode === 'fire';
  return isExcused ? { requestId: null, heldMs: step.row.heldMs } : undefined;
}
