/**
 * Keeps one resource in use for ever: run it, and when it fails, say so, wait, and run it again.
 *
 * Guarantees: it never gives up and never spins; waits grow with each failure in a row and are spread at random, so that
 * many lines behind one dead hub do not come back in step. Only faults are survived: a bug passes through and ends us.
 */
import { pause } from './deadline.ts';

export interface BackOff {
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface Supervision<Fault extends Error> {
  /** Uses the resource until it fails or `signal` ends it; calls `worked` once it is known good. */
  readonly run: (signal: AbortSignal, worked: () => void) => Promise<void>;
  readonly isFault: (error: unknown) => error is Fault;
  readonly report: (fault: Fault, retryInMs: number) => void;
  /** @returns 0 ≤ x < 1 */
  readonly random: () => number;
  readonly backOff: BackOff;
}

/**
 * How long to wait after `failures` in a row (≥ 1): doubling from `firstMs` to `longestMs`, of that a random half to all.
 */
export function backOffMs(failures: number, backOff: BackOff, random: number): number {
  const full = Math.min(backOff.longestMs, backOff.firstMs * 2 ** Math.min(failures - 1, 30));
  return Math.round(full / 2 + (full / 2) * random);
}

/** Ends when `signal` does. */
export async function supervise<Fault extends Error>(spec: Supervision<Fault>, signal: AbortSignal): Promise<void> {
  let failures = 0;
  const worked = () => {
    failures = 0;
  };
  while (!signal.aborted) {
    const fault = await faultOf(spec, signal, worked);
    if (signal.aborted) return;
    failures += 1;
    const ms = backOffMs(failures, spec.backOff, spec.random());
    if (fault !== undefined) spec.report(fault, ms);
    await pause(ms, signal);
  }
}

async function faultOf<Fault extends Error>(
  spec: Supervision<Fault>,
  signal: AbortSignal,
  worked: () => void,
): Promise<Fault | undefined> {
  try {
    await spec.run(signal, worked);
    return undefined;
  } catch (error) {
    if (spec.isFault(error)) return error;
    throw error;
  }
}
