/** Whether a door's free schedule holds now: inside its hours, the time is known, and the first person has come where one must. */
import type { DoorRow } from '#shared/contract/replica-row.ts';
import { applies } from '../door/access-rule.ts';
import { isInside } from '../door/wall-windows.ts';
import type { ReplicaReader } from '../replica/replica-reader.ts';
import { hasFirstPersonEntered, type LiveParts } from './live-state.ts';

export function isFreeNow(row: DoorRow, { schedules }: Pick<ReplicaReader, 'schedules'>, live: LiveParts): boolean {
  const clock = live.time.read();
  if (row.freeSchedule === null || clock.now === undefined) return false;
  if (!isInside(schedules.granting(row.freeSchedule, clock.now), clock.now)) return false;
  const { firstPerson } = row;
  const rule = typeof firstPerson === 'string' ? firstPerson : schedules.restricting(firstPerson.schedule, clock.now);
  return !applies(rule, clock) || hasFirstPersonEntered(row.id, live);
}
