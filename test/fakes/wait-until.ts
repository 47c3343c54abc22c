/** Waits for a condition instead of a time; fails with what was waited for. */
import { setTimeout as pause } from 'node:timers/promises';

/** @param instead says, in the end, what was there.
 *  @param withinMs a bound against hanging, not an expectation. */
export async function waitUntil(
  what: string,
  holds: () => boolean,
  withinMs = 20_000,
  instead?: () => string,
): Promise<void> {
  const end = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > end) {
      throw new Error(`waited ${withinMs} ms in vain for ${what}${instead === undefined ? '' : `; saw ${instead()}`}`);
    }
    await pause(2);
  }
}
