/** The monotonic clock of this boot: the same for every process of it, so that what one wrote another can measure from. */
import { hrtime } from 'node:process';
import { type MonoMs, monoMs } from '#shared/instant.ts';

export function monotonicNow(): MonoMs {
  const [seconds, nanoseconds] = hrtime();
  return monoMs(seconds * 1_000 + nanoseconds / 1e6);
}
