/**
 * The door machine: what one door does next, for every input in every state.
 *
 * Guarantees: a release only follows a grant, a command or an exit button set to release, once per id, never during a fire
 * and in lockdown only by override; nothing is sent because of a restart or a reconnection unless the lock is read back
 * wrong or does not report; what is not known is `unknown`, never `secured`.
 * Not promised: that nobody followed the holder; that a command whose outcome is unknown was not carried out.
 */
import { monoMs } from '#shared/instant.ts';
import { unreachable } from '#shared/unreachable.ts';
import type { DoorEffect, DoorInput } from './door-input.ts';
import type { DoorState, DoorStatus } from './door-state.ts';
import { statusKindOf } from './door-status.ts';
import { type DoorStep, journal } from './door-step.ts';
import { elapseLeaf, loseContact, takeContact, takeRex } from './leaf-step.ts';
import { elapseLock, pursue, takeLockLink, takeOutput, takeResult } from './lock-step.ts';
import { changeMode, takeFire } from './mode-step.ts';
import { takeCommand, takeGrant } from './order-step.ts';

export interface DoorStepped {
  readonly state: DoorState;
  /** In the order in which they are wanted. */
  readonly effects: readonly DoorEffect[];
}

/** One input. Inputs from before the start are dropped; time never runs backwards. */
export function stepDoor(state: DoorState, input: DoorInput): DoorStepped {
  if (input.at < state.start.at) return { state, effects: [] };
  const effects: DoorEffect[] = [];
  const step: DoorStep = { ...state, at: monoMs(Math.max(input.at, state.at)), effects };
  elapse(step);
  take(step, input);
  elapse(step);
  pursue(step);
  endStory(step);
  step.status = nextStatus(step);
  const { effects: _, ...next } = step;
  return { state: next, effects };
}

/** Time first: what was due before the input happened before it. */
function elapse(step: DoorStep): void {
  elapseLock(step);
  elapseLeaf(step);
}

function take(step: DoorStep, input: DoorInput): void {
  switch (input.kind) {
    case 'granted':
      takeGrant(step, input.decision);
      break;
    case 'command':
      takeCommand(step, input.requestId, input.command);
      break;
    case 'result':
      takeResult(step, input.requestId, input.result);
      break;
    case 'contact':
      takeContact(step, input.level);
      break;
    case 'rex':
      takeRex(step, input.level);
      break;
    case 'fire':
      takeFire(step, input.level);
      break;
    case 'output':
      takeOutput(step, input.isActive);
      break;
    case 'device':
      takeLink(step, input);
      break;
    case 'free-schedule':
      changeMode(step, { isScheduledFree: input.isInside }, null);
      break;
    case 'tick':
      return;
    default:
      unreachable(input);
  }
}

function takeLink(step: DoorStep, { device, isUp }: Extract<DoorInput, { kind: 'device' }>): void {
  const { lock, contact, rex } = step.row;
  if (lock?.device === device) takeLockLink(step, isUp);
  if (isUp) return;
  if (contact?.device === device) loseContact(step);
  if (rex?.device === device) step.leaf = { ...step.leaf, isRexActive: false };
}

/** A lock behind an open leaf secures nothing: the story ends when both are shut. */
function endStory(step: DoorStep): void {
  const { thread } = step.story;
  const leaf = step.leaf.state.kind;
  const isShut = leaf === 'closed' || leaf === 'none' || leaf === 'unknown';
  if (thread === undefined || !isShut || step.lock.state.kind !== 'secured') return;
  journal(step, 'lock.secured', thread, {});
  step.story = { ...step.story, thread: undefined, expected: [] };
}

function nextStatus(step: DoorStep): DoorStatus {
  const { status } = step;
  const kind = statusKindOf(step);
  if (kind === status.kind) return status;
  const isNotable = [kind, status.kind].some((word) => word === 'unknown' || word === 'jammed');
  if (isNotable) journal(step, 'door.state-changed', null, { from: status.kind, to: kind });
  const lastKnown = kind === 'unknown' ? { kind: status.kind, at: step.at } : undefined;
  return { kind, since: step.at, lastKnown };
}
