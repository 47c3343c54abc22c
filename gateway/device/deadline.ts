/**
 * An end for every wait.
 * Not promised: that the work behind it stops; whoever starts something uncancellable cleans up when it ends late.
 */
import { LineFault } from './line.ts';

/** @returns what `work` gives, or fails with `timed-out` after `ms`; a later failure of `work` is no longer anybody's. */
export async function within<T>(work: Promise<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LineFault('timed-out', `${what} did not end within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits `ms`, or until the signal; never fails. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
