/** Notices that the network came back: an address that was not there before. */
import { networkInterfaces } from 'node:os';

const lookEveryMs = 2_000;

/** @returns the function that ends it. */
export function watchLink(told: () => void): () => void {
  let known = addresses();
  const timer = setInterval(() => {
    const now = addresses();
    const isNew = [...now].some((address) => !known.has(address));
    known = now;
    if (isNew) told();
  }, lookEveryMs);
  return () => clearInterval(timer);
}

function addresses(): ReadonlySet<string> {
  try {
    const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    return new Set(all.filter(({ internal }) => !internal).map(({ address }) => address));
  } catch {
    // A sandbox may forbid the question; then waiting ends by itself.
    return new Set();
  }
}
