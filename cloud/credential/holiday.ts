/** A holiday: a day of the facility on which schedules say what they say of holidays. */
import { sql } from 'kysely';
import * as z from 'zod';
import { holidayRow } from '#shared/contract/replica-row.ts';
import { declareThing } from './thing.ts';

const { name, date } = holidayRow.shape;
const shape = { name, date };

export const holidayThing = declareThing({
  table: 'holiday',
  prefix: 'hdy',
  path: 'holidays',
  noun: 'Holiday',
  reading: 'release_door',
  body: z.strictObject(shape),
  item: z.object(shape),
  columns: (body) => ({ name: body.name, date: body.date }),
  unique: (body) => ({ column: 'date', value: body.date, path: '/body/date' }),
  references: () => [],
  select: sql`t.name, to_char(t.date, 'YYYY-MM-DD') as date`,
  itemOf: (row) => ({ name: row['name'], date: row['date'] }),
  isUsed: sql`false`,
  touched: async (_transaction, { id }) => ({ facility: true, holidays: [id] }),
});
