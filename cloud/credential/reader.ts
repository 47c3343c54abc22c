/** A reader at a door: which device and head it is, and how its bits are read. */
import { sql } from 'kysely';
import * as z from 'zod';
import { standardFormats } from '#protocol/wiegand/standard-formats.ts';
import { readerRow } from '#shared/contract/replica-row.ts';
import { wiringConflict } from './check-wiring.ts';
import { declareThing } from './thing.ts';
import { refusedAt } from './written.ts';

const formats = new Set(standardFormats.map(({ name }) => name));
const shape = {
  ...readerRow.omit({ id: true, version: true }).shape,
  cardFormats: z
    .array(z.string().refine((name) => formats.has(name), { message: 'field.not_allowed' }))
    .max(16)
    .default([])
    .describe(`Of ${[...formats].join(', ')}.`),
};

export const readerThing = declareThing({
  table: 'reader',
  prefix: 'rdr',
  path: 'readers',
  noun: 'Reader',
  reading: 'release_door',
  body: z.strictObject(shape),
  item: z.object(shape),
  columns: ({ name, door, ...settings }) => ({
    name,
    door_id: door,
    settings: sql`${JSON.stringify(settings)}::jsonb`,
  }),
  unique: () => undefined,
  references: ({ door }) => [{ path: '/body/door', table: 'door', id: door }],
  select: sql`t.name, t.door_id, t.settings`,
  itemOf: (row) => ({ name: row['name'], door: row['door_id'], ...(row['settings'] as object) }),
  isUsed: sql`false`,
  settle: async (transaction, place, written) => {
    if (written === undefined) return undefined;
    const field = await wiringConflict(transaction, { ...place, id: written.door });
    return field === undefined ? undefined : refusedAt('ALREADY_EXISTS', '/body/device', 'field.taken');
  },
  touched: async (_transaction, { id }) => ({ readers: [id] }),
});
