/**
 * Grants and operators' commands: carried out at once or not at all, and said either way. Nothing waits for a lock to return.
 */
import type { RefusalCode } from '#shared/code.ts';
import type { RequestId } from '#shared/identifier.ts';
import { unreachable } from '#shared/unreachable.ts';
import type { GrantedDecision } from './decide-access.ts';
import type { CommandAnswer, CommandedMode, DoorCommand } from './door-input.ts';
import { modeOf } from './door-state.ts';
import { type DoorStep, journal } from './door-step.ts';
import { extendOpening } from './leaf-step.ts';
import { awaitedMax, release, send } from './lock-step.ts';
import { changeMode, sayMode } from './mode-step.ts';
import { expect, passIfUnseen } from './passage-step.ts';

type Obstacle = 'fire' | 'lockdown' | 'no-lock' | 'offline' | 'faulted' | 'busy';

/** Why a release cannot be sent now; `undefined` = it can. */
function obstacleTo(step: DoorStep, overridesLockdown: boolean): Obstacle | undefined {
  const mode = modeOf(step.mode);
  if (mode === 'fire') return 'fire';
  if (mode === 'lockdown' && !overridesLockdown) return 'lockdown';
  const { state, isUp, awaited } = step.lock;
  if (state.kind === 'none') return 'no-lock';
  if (!isUp) return 'offline';
  if (state.kind === 'jammed') return 'faulted';
  return awaited.length >= awaitedMax ? 'busy' : undefined;
}

const codeOf: Readonly<Record<Obstacle, RefusalCode>> = {
  fire: 'FIRE_ACTIVE',
  lockdown: 'DOOR_LOCKED_DOWN',
  'no-lock': 'LOCK_UNREACHABLE',
  offline: 'LOCK_UNREACHABLE',
  faulted: 'LOCK_UNREACHABLE',
  busy: 'LOCK_UNREACHABLE',
};

/** Whether the lock stands free, or is on its way there: then there is nothing to release. */
function standsFree({ mode, lock }: DoorStep): boolean {
  const isFree = lock.state.kind === 'free' || (lock.state.kind === 'moving' && lock.state.to === 'free');
  return isFree && lock.isUp && modeOf(mode) === 'free';
}

/** A grant. Between decision and commit the door may have changed: it is judged again, and fails closed. */
export function takeGrant(step: DoorStep, decision: GrantedDecision): void {
  const { requestId, releaseMs, heldMs, flags } = decision;
  if (step.story.handledIds.includes(requestId)) return;
  const obstacle = obstacleTo(step, flags.includes('lockdown_override'));
  if (obstacle !== undefined && obstacle !== 'no-lock') {
    turnDown(step, requestId, obstacle);
    return;
  }
  extendOpening(step, heldMs);
  if (obstacle === undefined && !standsFree(step)) {
    release(step, requestId, releaseMs, heldMs);
    return;
  }
  letThrough(step, requestId, { ms: releaseMs, heldMs });
}

/** Nothing has to move: the door has no lock, or stands free. */
function letThrough(step: DoorStep, requestId: RequestId, times: { ms: number; heldMs: number }): void {
  expect(step, requestId, times);
  journal(step, 'lock.released', requestId, { without: step.lock.state.kind === 'none' ? 'lock' : 'command' });
  passIfUnseen(step, requestId);
}

function turnDown(step: DoorStep, requestId: RequestId, reason: Obstacle): void {
  step.story = { ...step.story, handledIds: [...step.story.handledIds, requestId].slice(-64) };
  journal(step, 'lock.not-executed', requestId, { reason });
}

function answer(step: DoorStep, requestId: RequestId, given: CommandAnswer): void {
  step.effects.push({ kind: 'answer', requestId, answer: given });
}

function refuse(step: DoorStep, requestId: RequestId, code: RefusalCode): void {
  journal(step, 'command.refused', requestId, { code });
  answer(step, requestId, code);
}

export function takeCommand(step: DoorStep, requestId: RequestId, command: DoorCommand): void {
  switch (command.kind) {
    case 'release':
      takeRelease(step, requestId, command.ms ?? step.row.strikeMs);
      break;
    case 'secure':
      takeSecure(step, requestId);
      break;
    case 'mode':
      takeMode(step, requestId, command.mode);
      break;
    default:
      unreachable(command);
  }
}

function takeRelease(step: DoorStep, requestId: RequestId, ms: number): void {
  if (step.story.handledIds.includes(requestId)) {
    answer(step, requestId, 'already-so');
    return;
  }
  const obstacle = obstacleTo(step, false);
  if (obstacle !== undefined) {
    refuse(step, requestId, codeOf[obstacle]);
    return;
  }
  const { heldMs } = step.row;
  extendOpening(step, heldMs);
  if (standsFree(step)) {
    letThrough(step, requestId, { ms, heldMs });
    answer(step, requestId, 'already-so');
    return;
  }
  release(step, requestId, ms, heldMs);
  answer(step, requestId, 'accepted');
}

/** Ends a release, and a free mode with it; a free schedule begins again with its next window. */
function takeSecure(step: DoorStep, requestId: RequestId): void {
  const obstacle = obstacleTo(step, true);
  if (obstacle !== undefined && obstacle !== 'faulted') {
    refuse(step, requestId, codeOf[obstacle]);
    return;
  }
  const commanded = step.mode.commanded === 'free' ? 'controlled' : step.mode.commanded;
  changeMode(step, { commanded, isScheduledFree: false }, requestId);
  if (step.lock.state.kind === 'secured') {
    journal(step, 'lock.secured', requestId, { already: true });
    answer(step, requestId, 'already-so');
    return;
  }
  step.story = { ...step.story, thread: requestId };
  const isRunning = step.lock.awaited.some((awaited) => awaited.requestId === requestId);
  if (!isRunning) send(step, 'secured', { requestId, ms: 0, isOperators: true });
  answer(step, requestId, 'accepted');
}

/** `controlled` also ends what the free schedule began. */
function takeMode(step: DoorStep, requestId: RequestId, mode: CommandedMode): void {
  if (step.mode.isFire) {
    refuse(step, requestId, 'FIRE_ACTIVE');
    return;
  }
  const isScheduledFree = mode === 'controlled' ? false : step.mode.isScheduledFree;
  if (mode === step.mode.commanded && isScheduledFree === step.mode.isScheduledFree) {
    sayMode(step, requestId, { already: true });
    answer(step, requestId, 'already-so');
    return;
  }
  changeMode(step, { commanded: mode, isScheduledFree }, requestId);
  answer(step, requestId, 'accepted');
}
