/**
 * What the contact and the exit button mean: opened, closed, held, forced.
 *
 * An opening is judged by when its reading began, not by when it had lasted long enough to be believed.
 * Not promised: anything about the time in which the contact could not be read; what changed then is said to have.
 */
import { later, type MonoMs } from '#shared/instant.ts';
import { type DoorPoint, type KnownLeaf, type LeafState, modeOf } from './door-state.ts';
import { standingSignal } from './door-status.ts';
import { clear, type DoorStep, journal, nextOwnId, raise } from './door-step.ts';
import { type InputLevel, type Reading, readInput } from './input-reading.ts';
import { awaitedMax, release, send } from './lock-step.ts';
import { excuse, excuseFor, openGraceMs, passAll } from './passage-step.ts';

type OpenLeaf = Extract<KnownLeaf, { kind: 'open' }>;

const isOpen = (leaf: LeafState): boolean => leaf.kind === 'open' || leaf.kind === 'held' || leaf.kind === 'forced';

function setLeaf(step: DoorStep, state: LeafState): void {
  step.leaf = { ...step.leaf, state };
}

/** The condition an input point reports; a tampered loop raises an alarm until it reads well again. */
export function readPoint(step: DoorStep, point: DoorPoint, level: InputLevel): Reading {
  const configured = step.row[point];
  const reading = configured === null ? 'unknown' : readInput(configured, level);
  if (reading === 'tampered') {
    step.faulty = [...step.faulty.filter((faulty) => faulty !== point), point];
    raise(step, 'DEVICE_INPUT_FAULT', { detail: point });
  } else if (reading !== 'unknown' && step.faulty.includes(point)) {
    step.faulty = step.faulty.filter((faulty) => faulty !== point);
    if (step.faulty.length === 0) clear(step, 'DEVICE_INPUT_FAULT');
  }
  return reading;
}

export function takeContact(step: DoorStep, level: InputLevel): void {
  if (step.row.contact === null) return;
  const reading = readPoint(step, 'contact', level);
  if (reading === 'tampered' || reading === 'unknown') {
    loseContact(step);
    return;
  }
  const reads = reading === 'true';
  const { state, bouncing } = step.leaf;
  if (state.kind === 'unknown') {
    findLeaf(step, reads, state.before);
    return;
  }
  if (reads === isOpen(state)) step.leaf = { ...step.leaf, bouncing: undefined };
  else if (bouncing === undefined) step.leaf = { ...step.leaf, bouncing: { isOpen: reads, since: step.at } };
}

/** The contact cannot be read any more. */
export function loseContact(step: DoorStep): void {
  const { state } = step.leaf;
  if (state.kind === 'none' || state.kind === 'unknown') return;
  step.leaf = { ...step.leaf, bouncing: undefined, state: { kind: 'unknown', before: state } };
}

/** The first reading after a start or an outage. Nobody can be said to have forced what nobody saw. */
function findLeaf(step: DoorStep, reads: boolean, before: KnownLeaf | undefined): void {
  if (!reads) {
    setLeaf(step, { kind: 'closed' });
    if (before !== undefined && before.kind !== 'closed') closed(step, before, true);
    return;
  }
  if (before !== undefined && before.kind !== 'closed') {
    setLeaf(step, before);
    return;
  }
  if (before !== undefined) journal(step, 'door.opened', null, { afterOutage: true });
  setLeaf(step, openLeaf(step, { requestId: null, since: step.at, heldMs: step.row.heldMs }));
}

/** What time alone brings: readings that lasted, the pre-alarm, held. */
export function elapseLeaf(step: DoorStep): void {
  const { bouncing } = step.leaf;
  if (bouncing !== undefined && step.at >= later(bouncing.since, step.row.debounceMs)) {
    step.leaf = { ...step.leaf, bouncing: undefined };
    if (bouncing.isOpen) open(step, bouncing.since);
    else close(step);
  }
  const leaf = step.leaf.state;
  if (leaf.kind === 'open') elapseOpen(step, leaf);
}

function elapseOpen(step: DoorStep, leaf: OpenLeaf): void {
  if (leaf.heldAt !== undefined && step.at >= leaf.heldAt) {
    setLeaf(step, { kind: 'held', requestId: leaf.requestId, since: leaf.since });
    raise(step, 'DOOR_HELD', { requestId: leaf.requestId });
    return;
  }
  if (leaf.warnAt === undefined || step.at < leaf.warnAt) return;
  setLeaf(step, { ...leaf, warnAt: undefined });
  step.effects.push({ kind: 'feedback', signal: 'held-warning' });
}

function openLeaf(
  step: DoorStep,
  opening: { requestId: OpenLeaf['requestId']; since: MonoMs; heldMs: number },
): OpenLeaf {
  const { requestId, since, heldMs } = opening;
  const mode = modeOf(step.mode);
  if (mode === 'free' || mode === 'fire') {
    return { kind: 'open', requestId, since, warnAt: undefined, heldAt: undefined };
  }
  const { heldWarningMs } = step.row;
  const warnsMs = heldWarningMs > 0 && heldWarningMs < heldMs ? heldMs - heldWarningMs : undefined;
  const warnAt = warnsMs === undefined ? undefined : later(step.at, warnsMs);
  return { kind: 'open', requestId, since, warnAt, heldAt: later(step.at, heldMs) };
}

function open(step: DoorStep, since: MonoMs): void {
  const excused = excuseFor(step, since);
  if (excused === undefined) {
    setLeaf(step, { kind: 'forced', requestId: null, since });
    journal(step, 'door.opened', null, { forced: true });
    raise(step, 'DOOR_FORCED');
    return;
  }
  const { requestId, heldMs } = excused;
  setLeaf(step, openLeaf(step, { requestId, since, heldMs }));
  journal(step, 'door.opened', requestId, {});
  passAll(step);
  if (step.row.relockOnOpen) relock(step);
}

/** The bolt goes out behind the opened leaf, so that it locks when it falls shut. */
function relock(step: DoorStep): void {
  const { state, isUp, awaited } = step.lock;
  const mode = modeOf(step.mode);
  const isPassable = state.kind === 'released' || (state.kind === 'moving' && state.to === 'released');
  if (mode === 'free' || mode === 'fire' || !isUp || !isPassable || awaited.length >= awaitedMax) return;
  step.leaf = { ...step.leaf, leave: undefined };
  send(step, 'secured', { requestId: nextOwnId(step), ms: 0, isOperators: false });
}

function close(step: DoorStep): void {
  const before = step.leaf.state;
  setLeaf(step, { kind: 'closed' });
  if (before.kind === 'open' || before.kind === 'held' || before.kind === 'forced') closed(step, before, false);
}

function closed(step: DoorStep, before: Exclude<KnownLeaf, { kind: 'closed' }>, isAfterOutage: boolean): void {
  journal(step, 'door.closed', before.requestId, isAfterOutage ? { afterOutage: true } : {});
  const wasWarned = before.kind === 'held' || (before.kind === 'open' && before.heldAt !== undefined && !before.warnAt);
  clear(step, 'DOOR_HELD');
  clear(step, 'DOOR_FORCED');
  if (wasWarned) step.effects.push({ kind: 'feedback', signal: standingSignal(step) });
  // A leaf that springs back from its frame belongs to the same passage.
  if (before.kind !== 'forced') excuse(step, openGraceMs, before.requestId);
}

/** A grant while the door is open: its time begins anew. */
export function extendOpening(step: DoorStep, heldMs: number): void {
  const { state } = step.leaf;
  if (state.kind !== 'open' && state.kind !== 'held') return;
  setLeaf(step, openLeaf(step, { requestId: state.requestId, since: state.since, heldMs }));
  clear(step, 'DOOR_HELD');
  step.effects.push({ kind: 'feedback', signal: standingSignal(step) });
}

/** The exit button excuses the opening; it releases only where the door is set so, and never in lockdown or fire. */
export function takeRex(step: DoorStep, level: InputLevel): void {
  if (step.row.rex === null) return;
  const isActive = readPoint(step, 'rex', level) === 'true';
  const wasActive = step.leaf.isRexActive;
  step.leaf = { ...step.leaf, isRexActive: isActive };
  if (isActive === wasActive) return;
  excuse(step, step.row.strikeMs);
  if (isActive) leave(step);
}

function leave(step: DoorStep): void {
  const { state, isUp, awaited } = step.lock;
  const canRelease = isUp && state.kind !== 'none' && state.kind !== 'jammed' && awaited.length < awaitedMax;
  if (!step.row.rexReleases || !canRelease || modeOf(step.mode) !== 'controlled') {
    journal(step, 'exit.requested', null, {});
    return;
  }
  const requestId = nextOwnId(step);
  journal(step, 'exit.requested', requestId, {});
  release(step, requestId, step.row.strikeMs, step.row.heldMs);
}
