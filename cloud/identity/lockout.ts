/** How long an address waits after wrong passwords: nothing for a few, then doubling to a quarter of an hour. Pure. */
const freeFailures = 5;
const firstLockMs = 30_000;
const lockMaxMs = 900_000;

/** @param failures in a row, this one included. */
export function lockMs(failures: number): number {
  if (failures < freeFailures) return 0;
  return Math.min(lockMaxMs, firstLockMs * 2 ** Math.min(failures - freeFailures, 10));
}
