/**
 * Lets the door process go first: what relays may wait for a core, a card may not.
 *
 * All threads of this process, also those of the engine, take a core only from what nobody else wants (niceness 10);
 * threads that begin later follow the one that began them. Nothing takes it back: a process may only become nicer.
 */
import { readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

export function yieldProcessor(): void {
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // A thread that ended meanwhile.
    }
  }
}
