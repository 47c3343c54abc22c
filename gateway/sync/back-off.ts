/** How long to wait after a failure: full jitter under a doubling ceiling, so that ten thousand gateways do not return at once. */

const firstMs = 1_000;
export const ceilingMs = 60_000;

/**
 * @param failures in a row, from 1. @param random in [0, 1).
 * @param leastMs what the other side asked for; jitter then comes on top.
 * @returns whole milliseconds, at least 50: never a busy loop.
 */
export function backOffMs(failures: number, random: number, leastMs = 0): number {
  const ceiling = Math.min(firstMs * 2 ** Math.min(failures - 1, 16), ceilingMs);
  return Math.max(50, Math.ceil(leastMs + random * ceiling));
}
