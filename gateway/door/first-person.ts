/**
 * First person: nobody enters until somebody entitled to open the day has.
 *
 * The day is the facility's. While the time is not known nobody counts as having entered today,
 * so that only the entitled open the door.
 */
import type { WallMs, WallWindow } from '#shared/instant.ts';
import { applies, type Known, usableNow } from './access-rule.ts';

export type FirstPerson = 'none' | 'missing' | 'enters-now';

/** What the rule makes of this request: nothing, a refusal, or the entry that opens the day. */
export function judgeFirstPerson({ door, credential, facts }: Known): FirstPerson {
  if (!applies(door.firstPerson, facts.clock)) return 'none';
  if (door.hasFirstPersonEntered && usableNow(facts.clock) !== undefined) return 'none';
  return credential.row.isFirstPerson ? 'enters-now' : 'missing';
}

/** Whether the last entry of a first person was today; `today` runs from the facility's midnight to its next. */
export function hasEnteredToday(lastEntry: WallMs | undefined, today: WallWindow): boolean {
  return lastEntry !== undefined && lastEntry >= today.from && lastEntry < today.until;
}
