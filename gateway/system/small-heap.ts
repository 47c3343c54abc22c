/**
 * Keeps the engine from taking memory that a gateway at rest has no use for.
 *
 * Where new objects are made stays as small as it begins, in every thread: left alone it grows to 16 MiB in each at the first
 * busy moment and is never given back. Collections are shorter and come more often.
 * Not promised: a limit; what is really held is held.
 */
import { setFlagsFromString } from 'node:v8';

/** Called before anything large is loaded and any thread is begun; what is compiled is kept under the same flags. */
export function keepHeapSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  // So that a thread can ask for a collection; see `after-start.ts`.
  setFlagsFromString('--expose-gc');
}
