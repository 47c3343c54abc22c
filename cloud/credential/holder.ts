/** Somebody who holds keys. What is known of them is little, and goes when they are erased. */
import { sql } from 'kysely';
import * as z from 'zod';
import { idSchema, nameSchema } from '#shared/contract/identifier.ts';
import { lockHolders } from './lock-rows.ts';
import { declareThing } from './thing.ts';

const shape = {
  name: nameSchema,
  email: z.email().max(254).nullable().default(null),
  externalRef: z
    .string()
    .trim()
    .min(1)
    .max(120)
    .nullable()
    .default(null)
    .describe('The id of theirs in another system.'),
  user: idSchema<'user'>()
    .nullable()
    .default(null)
    .describe('Their account: the keys then come with its role here, and end with it.'),
};

export const holderThing = declareThing({
  table: 'holder',
  prefix: 'hol',
  path: 'holders',
  noun: 'Holder',
  reading: 'issue_credential',
  body: z.strictObject(shape),
  item: z.object({
    ...shape,
    name: z.string().nullable(),
    erasedAt: z.iso.datetime().nullable(),
  }),
  columns: (body) => ({
    name: body.name,
    email: body.email,
    external_ref: body.externalRef,
    user_id: body.user,
  }),
  unique: ({ externalRef }) =>
    externalRef === null ? undefined : { column: 'external_ref', value: externalRef, path: '/body/externalRef' },
  references: ({ user }) =>
    user === null ? [] : [{ path: '/body/user', table: 'role_assignment', column: 'user_id', id: user }],
  select: sql`t.name, t.email, t.external_ref, t.user_id, t.erased_at`,
  itemOf: (row) => ({
    name: row['name'],
    email: row['email'],
    externalRef: row['external_ref'],
    user: row['user_id'],
    erasedAt: row['erased_at'] instanceof Date ? row['erased_at'].toISOString() : null,
  }),
  touched: async (transaction, { facility, id }) => ({ holders: await lockHolders(transaction, facility, [id]) }),
});
