/** A schedule: weekly times of the facility’s own day, and what takes their place on holidays. */
import { sql } from 'kysely';
import * as z from 'zod';
import { scheduleRow } from '#shared/contract/replica-row.ts';
import { declareThing } from './thing.ts';

const { name, weekly, onHolidays } = scheduleRow.shape;
const shape = { name, weekly, onHolidays };

interface Interval {
  readonly from: string;
  readonly until: string;
}
const hasLength = ({ from, until }: Interval): boolean => from !== until;

export const scheduleThing = declareThing({
  table: 'schedule',
  prefix: 'sch',
  path: 'schedules',
  noun: 'Schedule',
  reading: 'release_door',
  body: z.strictObject(shape).superRefine((body, context) => {
    for (const part of ['weekly', 'onHolidays'] as const) {
      const at = body[part].findIndex((interval) => !hasLength(interval));
      if (at >= 0) context.addIssue({ code: 'custom', path: [part, at, 'until'], message: 'field.end_before_start' });
    }
    if (body.weekly.length + body.onHolidays.length === 0)
      context.addIssue({ code: 'custom', path: ['weekly'], message: 'field.required' });
  }),
  item: z.object(shape),
  columns: (body) => ({
    name: body.name,
    weekly: sql`${JSON.stringify(body.weekly)}::jsonb`,
    on_holidays: sql`${JSON.stringify(body.onHolidays)}::jsonb`,
  }),
  unique: (body) => ({ column: 'name', value: body.name, path: '/body/name' }),
  references: () => [],
  select: sql`t.name, t.weekly, t.on_holidays`,
  itemOf: (row) => ({ name: row['name'], weekly: row['weekly'], onHolidays: row['on_holidays'] }),
  // A door names schedules in its settings, always as a value of its own.
  isUsed: sql`exists (select from credential_grant g
      where g.facility_id = t.facility_id and g.schedule_id = t.id and g.deleted_at is null)
    or exists (select from door d where d.facility_id = t.facility_id and d.deleted_at is null
      and jsonb_path_exists(d.settings, '$.**.schedule ? (@ == $id)', jsonb_build_object('id', t.id)))
    or exists (select from door d where d.facility_id = t.facility_id and d.deleted_at is null
      and d.settings ->> 'freeSchedule' = t.id)`,
  touched: async (_transaction, { id }) => ({ facility: true, schedules: [id] }),
});
