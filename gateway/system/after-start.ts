/**
 * What a thread does once, when its start is over and everything that runs every day has run: it keeps what was compiled for
 * the next start, which may follow a power cut, and gives back the memory that only the start needed.
 *
 * A collection that gives back is a thorough one: it holds up its thread for some 50 ms on a small computer of today, once.
 * Left alone the engine has no reason for it, since a gateway at rest asks for no memory.
 */
import { runInNewContext } from 'node:vm';
import { keepCompileCache } from './compile-cache.ts';

/** By then the checks that follow a start are over too. */
export const startIsOverAfterMs = 60_000;

/** Called at the beginning of a process or thread; does not keep it alive. */
export function tidyAfterStart(): void {
  setTimeout(() => {
    keepCompileCache();
    giveBack();
  }, startIsOverAfterMs).unref();
}

type Collect = (how: { readonly type: 'major'; readonly execution: 'sync'; readonly flavor: 'last-resort' }) => void;

/** Does nothing in a process that was not begun by `keepHeapSmall`. */
function giveBack(): void {
  const collect: unknown = runInNewContext('globalThis.gc');
  if (typeof collect !== 'function') return;
  (collect as Collect)({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
