/** Waits for a condition instead of a time; fails with what was waited for. */
import { setTimeout as pause } from 'node:timers/promises';

/** @param withinMs a bound against hanging, not an expectation. */
export async function waitUntil(what: string, holds: () => boolean, withinMs = 20_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await pause(2);
  }
}
