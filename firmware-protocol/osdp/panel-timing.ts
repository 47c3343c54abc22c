/**
 * How long a panel waits before it tries again, milliseconds.
 *
 * Guarantee: every series has a ceiling of five seconds, so that a reader whose power returns is back within six.
 */

/** Between two transmissions of one command at the least, and between the quick ones. */
const quickMs = 200;
const quickRepeats = 3;
const slowMs = 1_000;
const ceilingMs = 5_000;

/** A command that is busy this often is given up with its conversation. */
export const busyLimit = 20;
/** Unanswered tries after which a connection under way begins anew. */
export const connectTries = 1 + quickRepeats;
/** How long a session must stand before its end counts as a first one. */
export const stableMs = 10_000;
/** Between two alarms of the same kind. */
export const alarmPauseMs = 60_000;
/** After COMSET, before the new values are used. */
export const communicationPauseMs = 100;

/** From one transmission to its repeat; three quick ones, then one a second. @param misses 1 and more. */
export function repeatDelay(misses: number): number {
  return misses <= quickRepeats ? quickMs : slowMs;
}

/** From one probe of an absent reader to the next: 1 s, growing to 5 s. @param unanswered probes so far, 1 and more. */
export function probeDelay(unanswered: number): number {
  return Math.min(ceilingMs, slowMs + 500 * (unanswered - 1));
}

/** 200, 400, then 800. @param busies answers of BUSY to this command, 1 and more. */
export function busyDelay(busies: number): number {
  return Math.min(800, quickMs * 2 ** (busies - 1));
}

/** The first restart comes at once, the next ones slower. @param restarts since the last stable session, 0 and more. */
export function restartDelay(restarts: number): number {
  return restarts === 0 ? 0 : Math.min(ceilingMs, 250 * 2 ** (restarts - 1));
}

/** After a reader that cannot be used: 1, 2, 4, then 5 s. @param failures in a row, 1 and more. */
export function failureDelay(failures: number): number {
  return Math.min(ceilingMs, slowMs * 2 ** (failures - 1));
}
