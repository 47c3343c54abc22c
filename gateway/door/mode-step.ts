/**
 * The modes of a door: fire > lockdown > free > controlled.
 *
 * Fire is an input: it is recorded and shown, and commands stop until it clears. The mode a person commanded outlives
 * a restart; the free schedule is told again at start.
 */
import type { RequestId } from '#shared/identifier.ts';
import { later } from '#shared/instant.ts';
import { type DoorMode, type ModePart, modeOf } from './door-state.ts';
import { standingSignal } from './door-status.ts';
import { clear, type DoorStep, raise } from './door-step.ts';
import type { InputLevel } from './input-reading.ts';
import { readPoint } from './leaf-step.ts';
import { cutRelease, settleMs } from './lock-step.ts';
import { excuse, leavingMs } from './passage-step.ts';

const isStanding = (mode: DoorMode): boolean => mode === 'free' || mode === 'fire';

/** Changes part of the mode; says so, persists it, and lets leaf and lamp follow. */
export function changeMode(step: DoorStep, change: Partial<ModePart>, requestId: RequestId | null): void {
  const before = step.mode;
  step.mode = { ...before, ...change };
  const [was, is] = [modeOf(before), modeOf(step.mode)];
  if (was === is && before.commanded === step.mode.commanded) return;
  sayMode(step, requestId, {});
  if (was === is) return;
  if (isStanding(is)) standOpen(step);
  else if (isStanding(was)) endStanding(step);
  if (is === 'lockdown') cutRelease(step);
  step.effects.push({ kind: 'feedback', signal: standingSignal(step) });
}

/** Journals the mode with what has to outlive a restart. */
export function sayMode(step: DoorStep, requestId: RequestId | null, extra: { readonly already?: true }): void {
  const { commanded } = step.mode;
  step.effects.push({
    kind: 'journal',
    entry: {
      kind: 'door.mode-changed',
      door: step.row.id,
      requestId,
      body: { mode: modeOf(step.mode), commanded, ...extra },
    },
    state: { kind: 'mode', key: step.row.id, value: commanded },
  });
}

/** An open leaf is not held while the door stands free. */
function standOpen(step: DoorStep): void {
  const { state } = step.leaf;
  if (state.kind !== 'open' && state.kind !== 'held') return;
  const { requestId, since } = state;
  step.leaf = { ...step.leaf, state: { kind: 'open', requestId, since, warnAt: undefined, heldAt: undefined } };
  clear(step, 'DOOR_HELD');
}

function endStanding(step: DoorStep): void {
  excuse(step, leavingMs);
  const { state } = step.leaf;
  if (state.kind !== 'open') return;
  step.leaf = { ...step.leaf, state: { ...state, heldAt: later(step.at, step.row.heldMs) } };
}

export function takeFire(step: DoorStep, level: InputLevel): void {
  if (step.row.fire === null) return;
  const reading = readPoint(step, 'fire', level);
  // A loop that is tampered with or silent is no all-clear and no alarm of fire.
  if (reading === 'true') startFire(step);
  if (reading === 'false') endFire(step);
}

function startFire(step: DoorStep): void {
  raise(step, 'FIRE');
  changeMode(step, { isFire: true }, null);
}

function endFire(step: DoorStep): void {
  clear(step, 'FIRE');
  changeMode(step, { isFire: false }, null);
  const { state } = step.lock;
  // What the lock does after the alarm is reported before it is corrected.
  if (state.kind === 'unknown' && step.lock.isUp && state.askAt === undefined) {
    step.lock = { ...step.lock, state: { kind: 'unknown', askAt: later(step.at, settleMs) } };
  }
}
