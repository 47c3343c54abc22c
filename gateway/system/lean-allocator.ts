/**
 * Keeps the C library from holding memory that a gateway at rest has no use for.
 *
 * Left alone it keeps a pool for each of a dozen threads, and in each what was needed only to start. It listens to nothing
 * but the environment it is started with, so a process that was started without these words starts itself again in its own
 * place: same process number, same files, later by what Node itself takes to begin. Whoever starts it with them spares that.
 * Not promised: anything on a machine with another C library, where they mean nothing.
 */
import { environmentWith, isAllocatorSet } from '../environment.ts';

/** One pool; pieces from 64 KiB on are given back to the kernel as soon as they are free. */
export const leanAllocator = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '65536',
} as const;

/** Does not return where it starts again. A channel to a parent would be lost by it: such a parent gives the words itself. */
export function useLeanAllocator(): void {
  if (isAllocatorSet() || process.channel !== undefined || process.execve === undefined) return;
  const { execPath, execArgv, argv } = process;
  process.execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], environmentWith(leanAllocator));
}
