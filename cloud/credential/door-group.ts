/** A group of doors, so that one grant is for all of them: what joins it later too. */
import { sql } from 'kysely';
import * as z from 'zod';
import { idSchema, nameSchema } from '#shared/contract/identifier.ts';
import { lockGranted, lockPins } from './lock-rows.ts';
import { isPinSpaceExhausted } from './pin-density.ts';
import { declareThing } from './thing.ts';
import { areUsesOfOneGateway } from './uses-gateway.ts';
import { refusedAt } from './written.ts';

/** As many doors as a gateway has, four times over. */
const doorsMax = 256;
const shape = {
  name: nameSchema,
  doors: z
    .array(idSchema<'door'>())
    .max(doorsMax)
    .refine((doors) => new Set(doors).size === doors.length, { message: 'field.twice' }),
};

export const doorGroupThing = declareThing({
  table: 'door_group',
  prefix: 'grp',
  path: 'door-groups',
  noun: 'DoorGroup',
  reading: 'release_door',
  body: z.strictObject(shape),
  item: z.object(shape),
  columns: ({ name }) => ({ name }),
  unique: ({ name }) => ({ column: 'name', value: name, path: '/body/name' }),
  references: ({ doors }) => doors.map((id, at) => ({ path: `/body/doors/${at}`, table: 'door', id }) as const),
  select: sql`t.name, array(select m.door_id from door_group_member m
    where m.facility_id = t.facility_id and m.group_id = t.id order by m.door_id) as doors`,
  itemOf: (row) => ({ name: row['name'], doors: row['doors'] }),
  isUsed: sql`exists (select from credential_grant g
    where g.facility_id = t.facility_id and g.group_id = t.id and g.deleted_at is null)`,
  settle: async (transaction, place, written) => {
    const doors = written?.doors ?? [];
    await sql`delete from door_group_member where facility_id = ${place.facility} and group_id = ${place.id}
      and not (door_id = any (${doors}::text[]))`.execute(transaction);
    await sql`insert into door_group_member (facility_id, group_id, door_id)
      select ${place.facility}, ${place.id}, door_id from unnest(${doors}::text[]) door_id
      on conflict do nothing`.execute(transaction);
    if (written === undefined) return undefined;
    await lockPins(transaction, place.facility);
    if (await isPinSpaceExhausted(transaction, place.facility, doors))
      return refusedAt('PIN_SPACE_EXHAUSTED', '/body/doors', 'field.invalid');
    if (!(await areUsesOfOneGateway(transaction, place.facility, { group: place.id })))
      return refusedAt('USES_NEED_ONE_GATEWAY', '/body/doors', 'field.invalid');
    return undefined;
  },
  touched: async (transaction, { facility, id }) => ({
    holders: await lockGranted(transaction, facility, { group: id }),
  }),
});
