/**
 * The time that decisions use: an anchor, which is a wall time with evidence, plus monotonic time elapsed since.
 *
 * Guarantees: stepping the machine’s wall clock changes nothing until evidence agrees with it; a time before the floor
 * is believed only from a signed answer; a clock that could be more than a minute wrong says that it does not know.
 * Not promised: the right time from a network time source that lies and is contradicted by nobody.
 *
 * Pure: every reading arrives with its monotonic time, what is to be kept or told leaves as effects.
 */
import { type MonoMs, type WallMs, wallMs } from '#shared/instant.ts';
import { unreachable } from '#shared/unreachable.ts';
import type { ClockState } from '../door/facts.ts';
import {
  type Anchor,
  answerMaxMs,
  type ClockEffect,
  type ClockEvidence,
  confirmMs,
  driftPerMs,
  errorMaxMs,
  errorOf,
  floorStepMs,
  jumpMs,
  project,
  stateAt,
  type TrustedClock,
} from './trusted-clock-state.ts';

interface ClockStep {
  clock: TrustedClock;
  readonly at: MonoMs;
  readonly effects: ClockEffect[];
  why: string;
}

export function stepClock(
  clock: TrustedClock,
  at: MonoMs,
  evidence: ClockEvidence,
): { readonly clock: TrustedClock; readonly effects: readonly ClockEffect[] } {
  const step: ClockStep = { clock, at, effects: [], why: evidence.kind };
  take(step, evidence);
  settle(step, clock.state);
  return { clock: step.clock, effects: step.effects };
}

function take(step: ClockStep, evidence: ClockEvidence): void {
  switch (evidence.kind) {
    case 'ntp':
      noticeMachineJump(step, evidence.wall);
      if (evidence.isSynchronized) takeNetwork(step, evidence.wall);
      else loseNetwork(step);
      break;
    case 'signed':
      takeSigned(step, evidence.wall, evidence.tookMs);
      break;
    case 'rtc':
    case 'technician':
      takeLocal(step, evidence.kind, evidence.wall);
      break;
    case 'tick':
      step.why = 'age';
      break;
    default:
      unreachable(evidence);
  }
}

/** Setting the machine’s clock is worth an entry, and nothing else. */
function noticeMachineJump(step: ClockStep, wall: WallMs): void {
  const offset = wall - step.at;
  const before = step.clock.machineOffsetMs;
  step.clock = { ...step.clock, machineOffsetMs: offset };
  if (before !== undefined && Math.abs(offset - before) > jumpMs) {
    step.effects.push({ kind: 'jumped', what: 'machine', byMs: Math.round(offset - before) });
  }
}

const differenceMs = (wall: WallMs, anchor: Anchor, at: MonoMs): number => wall - project(anchor, at);

/** Whether a wall time cannot be what the anchor has become. */
function contradicts(wall: WallMs, anchor: Anchor | undefined, at: MonoMs): boolean {
  if (anchor === undefined) return false;
  return Math.abs(differenceMs(wall, anchor, at)) > errorMaxMs + (at - anchor.at) * driftPerMs;
}

const isBelow = (wall: WallMs, floor: WallMs | undefined): boolean => floor !== undefined && wall + errorMaxMs < floor;

function takeNetwork(step: ClockStep, wall: WallMs): void {
  const { clock, at } = step;
  const seen: Anchor = { wall, at, errorMs: errorOf.ntp, source: 'ntp' };
  if (contradicts(wall, clock.signed, at)) {
    step.clock = { ...clock, isContradicted: true };
    step.why = 'network time contradicts signed time';
    return;
  }
  if (isBelow(wall, clock.floor)) {
    doubt(step, seen);
    return;
  }
  if (contradicts(wall, clock.anchor, at) && clock.signed === undefined && !isConfirmed(clock.jumped, wall, at)) {
    step.clock = { ...clock, jumped: stillJumped(clock.jumped, seen) };
    step.why = 'network time jumped';
    return;
  }
  anchorAt(step, seen);
}

/** A time before the floor is never confirmed: a running clock goes on without it, a booting one knows nothing. */
function doubt(step: ClockStep, seen: Anchor): void {
  if (step.clock.anchor === undefined) distrust(step, 'network time is before the floor');
  else step.clock = { ...step.clock, jumped: seen };
  step.why = 'network time is before the floor';
}

function isConfirmed(jumped: Anchor | undefined, wall: WallMs, at: MonoMs): boolean {
  return jumped !== undefined && at - jumped.at >= confirmMs && Math.abs(differenceMs(wall, jumped, at)) <= jumpMs;
}

/** The first reading of a jump stays the one to confirm, as long as later ones agree with it. */
function stillJumped(jumped: Anchor | undefined, seen: Anchor): Anchor {
  const agrees = jumped !== undefined && Math.abs(differenceMs(seen.wall, jumped, seen.at)) <= jumpMs;
  return agrees ? jumped : seen;
}

/** The kernel is no longer synchronized: what it contradicted or announced is void, and the anchor ages. */
function loseNetwork(step: ClockStep): void {
  const { clock } = step;
  const isLost = clock.state === 'trusted' && clock.anchor?.source === 'ntp';
  step.clock = { ...clock, jumped: undefined, isContradicted: false, state: isLost ? 'holdover' : clock.state };
  step.why = 'network time lost';
  if (clock.isContradicted && clock.signed !== undefined) anchorAt(step, clock.signed);
}

function takeSigned(step: ClockStep, wall: WallMs, tookMs: number): void {
  if (tookMs > answerMaxMs) {
    step.effects.push({ kind: 'refused', source: 'signed', why: 'the answer took too long' });
    return;
  }
  const signed: Anchor = { wall, at: step.at, errorMs: Math.max(1_000, tookMs), source: 'signed' };
  const { anchor, state, floor } = step.clock;
  const isNetwork = anchor?.source === 'ntp' && state === 'trusted';
  step.clock = { ...step.clock, signed };
  if (isNetwork && contradicts(wall, anchor, step.at)) {
    step.clock = { ...step.clock, isContradicted: true };
    step.why = 'network time contradicts signed time';
    return;
  }
  if (isBelow(wall, floor) && floor !== undefined) {
    step.clock = { ...step.clock, floor: wall };
    step.effects.push({ kind: 'jumped', what: 'floor', byMs: wall - floor }, { kind: 'floor', floor: wall });
  }
  if (!isNetwork && !step.clock.isContradicted) anchorAt(step, signed);
}

/** A battery clock or a technician: for a clock that knows nothing better. */
function takeLocal(step: ClockStep, source: 'rtc' | 'technician', wall: WallMs): void {
  const { clock, at } = step;
  const seen: Anchor = { wall, at, errorMs: errorOf[source], source };
  const refuse = (why: string) => step.effects.push({ kind: 'refused', source, why });
  if (isBelow(wall, clock.floor)) {
    refuse('before the floor');
    if (clock.anchor === undefined) distrust(step, `${source} is before the floor`);
  } else if (contradicts(wall, clock.signed, at)) refuse('contradicts signed time');
  else if (clock.state !== 'untrusted' && source === 'rtc') refuse('the time is known');
  else if (clock.state === 'trusted' && clock.anchor?.source !== 'technician') refuse('the time is known');
  else anchorAt(step, seen);
}

/** What was believed is dropped, and the alarm says why. */
function distrust(step: ClockStep, why: string): void {
  step.clock = { ...step.clock, anchor: undefined, jumped: undefined, state: 'untrusted' };
  step.why = why;
  alarm(step, why);
}

function anchorAt(step: ClockStep, anchor: Anchor): void {
  const before = step.clock.anchor;
  step.clock = { ...step.clock, anchor, state: 'trusted', jumped: undefined, isContradicted: false };
  if (before === undefined) return;
  const byMs = differenceMs(project(anchor, step.at), before, step.at);
  if (Math.abs(byMs) > jumpMs) step.effects.push({ kind: 'jumped', what: 'anchor', byMs });
}

function alarm(step: ClockStep, why: string): void {
  if (step.clock.isAlarmed) return;
  step.clock = { ...step.clock, isAlarmed: true };
  step.effects.push({ kind: 'alarm', change: 'raise', code: 'CLOCK_DOUBTED', why });
}

/** What follows from where the step has led: the state, its entry, its alarm, the floor. */
function settle(step: ClockStep, from: ClockState): void {
  const to = stateAt(step.clock, step.at);
  step.clock = { ...step.clock, state: to };
  if (to !== from) step.effects.push({ kind: 'changed', from, to, why: step.why });
  if (to === 'untrusted' && (from !== 'untrusted' || step.clock.isContradicted)) alarm(step, step.why);
  if (to !== 'untrusted' && step.clock.isAlarmed) {
    step.clock = { ...step.clock, isAlarmed: false };
    step.effects.push({ kind: 'alarm', change: 'clear', code: 'CLOCK_DOUBTED', why: step.why });
  }
  if (to === 'trusted') raiseFloor(step);
}

function raiseFloor(step: ClockStep): void {
  const { anchor, floor } = step.clock;
  if (anchor === undefined) return;
  const now = project(anchor, step.at);
  if (floor !== undefined && now < floor + floorStepMs) return;
  step.clock = { ...step.clock, floor: wallMs(now) };
  step.effects.push({ kind: 'floor', floor: now });
}
