/** How many requests one caller may make a minute, on this node. Bounded memory: callers of a past minute are forgotten. */
import { RequestRefused } from './problem.ts';

const windowMs = 60_000;

/** @param now monotonic milliseconds. @returns counts a request. @throws RequestRefused RATE_LIMITED. */
export function createCallerLimit(perMinute: number, now: () => number): (actor: string) => void {
  let startedAt = now();
  const counts = new Map<string, number>();
  return (actor) => {
    const age = now() - startedAt;
    if (age >= windowMs) {
      counts.clear();
      startedAt = now();
    }
    const count = (counts.get(actor) ?? 0) + 1;
    counts.set(actor, count);
    if (count > perMinute) {
      throw new RequestRefused({ refused: 'RATE_LIMITED' }, Math.max(1, Math.ceil((windowMs - age) / 1000)));
    }
  };
}
