/** A door: how it is wired and timed, and what rules it has. Which gateway works it is a binding of its own. */
import { sql } from 'kysely';
import * as z from 'zod';
import { doorRow, type Rule } from '#shared/contract/replica-row.ts';
import { wiringConflict } from './check-wiring.ts';
import { lockPins } from './lock-rows.ts';
import { isPinSpaceExhausted } from './pin-density.ts';
import { declareThing, type Reference } from './thing.ts';
import { refusedAt } from './written.ts';

const body = doorRow.omit({ id: true, version: true });
type DoorBody = z.output<typeof body>;

export const doorThing = declareThing({
  table: 'door',
  prefix: 'dor',
  path: 'doors',
  noun: 'Door',
  reading: 'release_door',
  body,
  item: z.object({
    ...body.shape,
    gateway: z.string().nullable().describe('The gateway that works it; null while it is bound to none.'),
  }),
  columns: ({ name, ...settings }) => ({ name, settings: sql`${JSON.stringify(settings)}::jsonb` }),
  unique: ({ name }) => ({ column: 'name', value: name, path: '/body/name' }),
  references: schedulesOf,
  select: sql`t.name, t.settings, (select b.gateway_id from door_binding b
    where b.facility_id = t.facility_id and b.door_id = t.id) as gateway`,
  itemOf: (row) => ({ name: row['name'], ...(row['settings'] as object), gateway: row['gateway'] }),
  isUsed: sql`exists (select from reader r
      where r.facility_id = t.facility_id and r.door_id = t.id and r.deleted_at is null)
    or exists (select from door_group_member m where m.facility_id = t.facility_id and m.door_id = t.id)
    or exists (select from credential_grant g
      where g.facility_id = t.facility_id and g.door_id = t.id and g.deleted_at is null)
    or exists (select from door_binding b where b.facility_id = t.facility_id and b.door_id = t.id)`,
  settle: async (transaction, place, written) => {
    if (written === undefined) return undefined;
    const field = await wiringConflict(transaction, place);
    if (field) return refusedAt('ALREADY_EXISTS', `/body/${field}`, 'field.taken');
    await lockPins(transaction, place.facility);
    const isDense = await isPinSpaceExhausted(transaction, place.facility, [place.id]);
    return isDense ? refusedAt('PIN_SPACE_EXHAUSTED', '/body/secondFactor', 'field.invalid') : undefined;
  },
  touched: async (_transaction, { id }) => ({ facility: true, doors: [id] }),
});

function schedulesOf(door: DoorBody): readonly Reference[] {
  const of = (path: string, rule: Rule): readonly Reference[] =>
    typeof rule === 'string' ? [] : [{ path: `/body/${path}/schedule`, table: 'schedule', id: rule.schedule }];
  return [
    ...of('secondFactor', door.secondFactor),
    ...of('escort', door.escort),
    ...of('antiPassback/when', door.antiPassback.when),
    ...of('firstPerson', door.firstPerson),
    ...(door.freeSchedule === null
      ? []
      : [{ path: '/body/freeSchedule', table: 'schedule', id: door.freeSchedule } as const]),
  ];
}
