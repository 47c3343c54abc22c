/**
 * What the lock is told, and what its answers and its read-back output mean.
 *
 * Guarantees: one release per id; what was sent and not answered is not sent again; an output that moves by itself is
 * put back at most twice a minute; a lock that does not do as told is jammed, not secured.
 */
import type { RequestId } from '#shared/identifier.ts';
import { later, type MonoMs } from '#shared/instant.ts';
import type { LockResult } from './door-input.ts';
import { type Awaited, type LockState, type LockTarget, modeOf } from './door-state.ts';
import { clear, type DoorStep, journal, nextOwnId, raise } from './door-step.ts';
import { excuse, expect, openGraceMs, passIfUnseen, withdraw } from './passage-step.ts';

/** How long a report may lag behind what it reports, ms; a fire input may, too. */
export const settleMs = 1_000;
/** How long a device that came up has to report its output, ms. */
const reportMs = 3_000;
/** Longer than any driver's deadline, ms. */
const answerMs = 10_000;
const firstRetryMs = 60_000;
const longestRetryMs = 15 * 60_000;
/** Secures in a row that may fail before the lock counts as jammed. */
const failuresMax = 2;
const contradictionsMax = 2;
const contradictionWindowMs = 60_000;
export const awaitedMax = 8;

function setLock(step: DoorStep, state: LockState): void {
  step.lock = { ...step.lock, state };
  if (state.kind === 'secured' || state.kind === 'free') {
    step.lock = { ...step.lock, failures: 0 };
    clear(step, 'LOCK_JAMMED');
  }
}

/** Sends a command and awaits its answer. The caller has checked that the device is up and no fire is on. */
export function send(step: DoorStep, to: LockTarget, command: Pick<Awaited, 'requestId' | 'ms' | 'isOperators'>): void {
  const { requestId, ms } = command;
  const awaited: Awaited = { ...command, to, answerBy: later(step.at, answerMs) };
  step.lock = { ...step.lock, state: { kind: 'moving', to, requestId }, awaited: [...step.lock.awaited, awaited] };
  if (to === 'released') step.effects.push({ kind: 'release', requestId, ms });
  else step.effects.push({ kind: to === 'free' ? 'free' : 'secure', requestId });
}

/** Puts the lock where its mode wants it, if it is not there and not on its way. During a fire it is left alone. */
export function pursue(step: DoorStep): void {
  const mode = modeOf(step.mode);
  if (mode === 'fire' || !step.lock.isUp || step.lock.awaited.length >= awaitedMax) return;
  const target = mode === 'free' ? 'free' : 'secured';
  if (!isCallFor(step.lock.state, target, step.at)) return;
  const requestId = nextOwnId(step);
  if (target === 'secured' && step.story.thread === undefined) step.story = { ...step.story, thread: requestId };
  send(step, target, { requestId, ms: 0, isOperators: false });
}

function isCallFor(lock: LockState, target: 'free' | 'secured', at: MonoMs): boolean {
  switch (lock.kind) {
    case 'none':
    case 'moving':
      return false;
    case 'unknown':
      return lock.askAt !== undefined && at >= lock.askAt;
    case 'jammed':
      return at >= lock.retryAt;
    case 'released':
      return target === 'free' || at >= lock.checkAt;
    default:
      return lock.kind !== target;
  }
}

/** Ends what is being released now; a release that overrides the lockdown comes after it. */
export function cutRelease(step: DoorStep): void {
  const { state, isUp, awaited } = step.lock;
  if (state.kind === 'released') setLock(step, { kind: 'released', until: step.at, checkAt: step.at });
  if (state.kind === 'moving' && state.to === 'released' && isUp && awaited.length < awaitedMax) {
    send(step, 'secured', { requestId: nextOwnId(step), ms: 0, isOperators: false });
  }
}

/** The answer to a command. One that nobody waits for any more was already counted as unknown. */
export function takeResult(step: DoorStep, requestId: RequestId, result: LockResult): void {
  const awaited = step.lock.awaited.find((waiting) => waiting.requestId === requestId);
  if (awaited === undefined) return;
  step.lock = { ...step.lock, awaited: step.lock.awaited.filter((waiting) => waiting !== awaited) };
  const { state } = step.lock;
  const isLatest = state.kind === 'moving' && state.requestId === requestId;
  if (awaited.to === 'released') takeReleaseResult(step, awaited, result, isLatest);
  else takePositionResult(step, awaited, result, isLatest);
}

function takeReleaseResult(step: DoorStep, awaited: Awaited, result: LockResult, isLatest: boolean): void {
  const { requestId, ms } = awaited;
  switch (result.kind) {
    case 'done':
      journal(step, 'lock.released', requestId, { ms });
      if (isLatest) {
        setLock(step, releasedFor(step, ms));
        // The device’s timer runs from when it was told, which may be as late as its answer.
        excuse(step, ms + openGraceMs, requestId);
      }
      passIfUnseen(step, requestId);
      return;
    case 'unknown':
      journal(step, 'release.unknown', requestId, {});
      if (isLatest) setLock(step, { kind: 'unknown', askAt: later(step.at, ms + settleMs) });
      return;
    case 'refused':
      journal(step, 'lock.refused', requestId, { reason: result.reason });
      break;
    case 'not-executed':
      journal(step, 'lock.not-executed', requestId, { reason: result.reason });
      break;
  }
  withdraw(step, requestId);
  // The lock is told once where it belongs: that is how its state becomes known again.
  if (isLatest) setLock(step, { kind: 'unknown', askAt: step.at });
}

function releasedFor(step: DoorStep, ms: number): LockState {
  if (!step.lock.isUp) return { kind: 'unknown', askAt: undefined };
  const until = later(step.at, ms);
  return { kind: 'released', until, checkAt: later(until, step.start.hasDeviceTimer ? settleMs : 0) };
}

function takePositionResult(step: DoorStep, awaited: Awaited, result: LockResult, isLatest: boolean): void {
  if (awaited.isOperators && result.kind !== 'done') journalFailure(step, awaited, result);
  if (!isLatest) return;
  if (!step.lock.isUp) {
    setLock(step, { kind: 'unknown', askAt: undefined });
    return;
  }
  if (result.kind === 'done') {
    setLock(step, { kind: awaited.to === 'free' ? 'free' : 'secured' });
    return;
  }
  step.lock = { ...step.lock, failures: step.lock.failures + 1 };
  if (step.lock.failures < failuresMax) {
    setLock(step, { kind: 'unknown', askAt: later(step.at, settleMs) });
    return;
  }
  const detail = result.kind === 'unknown' ? 'no answer' : result.reason;
  jam(step, `${awaited.to === 'free' ? 'free' : 'secure'}: ${detail}`);
}

function journalFailure(step: DoorStep, { requestId, to }: Awaited, result: LockResult): void {
  const command = to === 'free' ? 'free' : 'secure';
  if (result.kind === 'refused') journal(step, 'lock.refused', requestId, { command, reason: result.reason });
  if (result.kind === 'unknown') journal(step, 'release.unknown', requestId, { command });
  if (result.kind === 'not-executed') {
    journal(step, 'lock.not-executed', requestId, { command, reason: result.reason });
  }
}

/** Each jam of one row waits twice as long for its next try, up to a quarter of an hour. */
function jam(step: DoorStep, detail: string): void {
  const doubled = firstRetryMs * 2 ** Math.min(step.lock.failures - failuresMax, 4);
  const retryMs = Math.max(firstRetryMs, Math.min(doubled, longestRetryMs));
  setLock(step, { kind: 'jammed', retryAt: later(step.at, retryMs) });
  raise(step, 'LOCK_JAMMED', { detail });
}

/** The output as read back. */
export function takeOutput(step: DoorStep, isActive: boolean): void {
  const { lock } = step.row;
  if (lock === null) return;
  const isReleased = isActive === (lock.release === 'energise');
  if (isReleased) seeReleased(step);
  else seeSecured(step);
}

function seeReleased(step: DoorStep): void {
  const { state } = step.lock;
  const observed: LockState = { kind: 'released', until: step.at, checkAt: later(step.at, settleMs) };
  if (state.kind === 'unknown') {
    const isFree = modeOf(step.mode) === 'free';
    setLock(step, isFree ? { kind: 'free' } : (ownRelease(step) ?? observed));
    return;
  }
  if (state.kind === 'secured') contradict(step, ownRelease(step) ?? observed);
}

/** The release of ours that a device which came back is still carrying out. */
function ownRelease(step: DoorStep): LockState | undefined {
  const { leave } = step.leaf;
  if (leave === undefined || leave.requestId === null) return undefined;
  const until = later(leave.until, -openGraceMs);
  return step.at >= until ? undefined : { kind: 'released', until, checkAt: later(until, settleMs) };
}

function seeSecured(step: DoorStep): void {
  const { state } = step.lock;
  if (state.kind === 'free') {
    contradict(step, { kind: 'secured' });
    return;
  }
  // A report that was on its way when the command left says nothing about it.
  if (state.kind !== 'moving' || state.to === 'secured') setLock(step, { kind: 'secured' });
}

/** The output moved by itself: put back, but not for ever; an unlock by hardware is not fought. */
function contradict(step: DoorStep, observed: LockState): void {
  const { count, since } = step.lock.contradictions;
  const isOld = step.at - since > contradictionWindowMs;
  const contradictions = isOld ? { count: 1, since: step.at } : { count: count + 1, since };
  step.lock = { ...step.lock, contradictions };
  if (contradictions.count > contradictionsMax) {
    jam(step, 'the output moves by itself');
    return;
  }
  setLock(step, observed);
}

/** The lock's device came or went. */
export function takeLockLink(step: DoorStep, isUp: boolean): void {
  if (step.lock.isUp === isUp || step.lock.state.kind === 'none') return;
  step.lock = { ...step.lock, isUp };
  if (step.lock.state.kind === 'moving') return;
  setLock(step, { kind: 'unknown', askAt: isUp ? later(step.at, reportMs) : undefined });
}

/** Answers that did not come in time. */
export function elapseLock(step: DoorStep): void {
  for (const { requestId, answerBy } of step.lock.awaited) {
    if (step.at >= answerBy) takeResult(step, requestId, { kind: 'unknown' });
  }
}

/** Begins a release for a request whose entry is durable. */
export function release(step: DoorStep, requestId: RequestId, ms: number, heldMs: number): void {
  step.story = { ...step.story, thread: requestId };
  expect(step, requestId, { ms, heldMs });
  send(step, 'released', { requestId, ms, isOperators: false });
}
