/** Looks at a path as this user may: what is hidden from us is not absent. */
import { type Stats, statSync } from 'node:fs';

export function look(path: string): Stats | 'absent' | 'hidden' {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? 'absent';
  } catch {
    // Whatever the reason, nothing can be said of it but that we may not see it.
    return 'hidden';
  }
}
