/**
 * Where the lock's uptime began on the gateway's own clock, as an interval.
 *
 * A record with uptime `u` received at `t` shows that it began at `t − u` at the latest; if it answers something asked at
 * `s`, at `s − u` at the earliest. Both bounds widen by a thousandth of the time since, which is ten times the drift of a
 * cheap crystal. Guarantee: within that drift a deadline written on the lock's clock is never later than on ours, however
 * long the way is, and an age never shorter than the truth.
 */
export interface LockClock {
  readonly earliest: number;
  readonly latest: number;
  /** When the bounds held, ms of the gateway's clock. */
  readonly at: number;
}

const driftShare = 1_000;

/** @param askedAt when that was sent which the record answers; for a session's first record, its proof. */
export function beginClock(askedAt: number, at: number, uptime: number): LockClock {
  return { earliest: askedAt - uptime, latest: at - uptime, at };
}

/** By how much each bound has become uncertain since the last record, ms. */
export function driftSince(clock: LockClock, at: number): number {
  return Math.max(0, at - clock.at) / driftShare;
}

function widen(clock: LockClock, at: number): LockClock {
  const drift = driftSince(clock, at);
  return { earliest: clock.earliest - drift, latest: clock.latest + drift, at };
}

/** A record arrived. @param askedAt when that was first sent which it answers; `undefined` where it answers nothing. */
export function hearClock(clock: LockClock, at: number, uptime: number, askedAt?: number): LockClock {
  const wide = widen(clock, at);
  const bound = { earliest: askedAt === undefined ? -Infinity : askedAt - uptime, latest: at - uptime };
  const earliest = Math.max(wide.earliest, bound.earliest);
  const latest = Math.min(wide.latest, bound.latest);
  if (earliest <= latest) return { earliest, latest, at };
  // A lock whose clock runs worse than allowed: this record alone is believed, as closely as the former were.
  const width = wide.latest - wide.earliest;
  return { earliest: Math.max(bound.earliest, bound.latest - width), latest: bound.latest, at };
}

/** The lock's uptime that is not after `instant`, ms, 0 and more. */
export function uptimeNotAfter(clock: LockClock, at: number, instant: number): number {
  return Math.max(0, Math.floor(instant - widen(clock, at).latest));
}

/** When something happened at the earliest. @param ageMs by the lock's word, before the record. */
export function happenedAt(clock: LockClock, uptime: number, ageMs: number): number {
  return Math.min(clock.at, clock.earliest + uptime) - ageMs;
}
