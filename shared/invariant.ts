/**
 * A broken invariant is a bug, not an input: it throws, nobody catches it, and the process is restarted.
 */
export function invariant(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Error(`invariant broken: ${claim}`);
}
