/** Reads things of a facility, one or a page of them, as they leave. */
import { sql } from 'kysely';
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Place, Thing } from './thing.ts';

/** What every item has. */
export const itemHead = {
  id: z.string(),
  version: z.int().describe('To be sent with the next change; refused if another was quicker.'),
  createdAt: z.iso.datetime(),
};

export type Item = Readonly<Record<string, unknown>> & { readonly id: string };

interface Head {
  readonly id: string;
  readonly version: number;
  readonly created_at: Date;
}

const columns = sql`t.id, t.version, t.created_at`;

export async function readThing(transaction: TenantTransaction, thing: Thing, place: Place): Promise<Item | undefined> {
  const found = await sql<Head>`select ${columns}, ${thing.select} from ${sql.table(thing.table)} t
    where t.facility_id = ${place.facility} and t.id = ${place.id}`.execute(transaction);
  return found.rows.map((row) => itemOf(thing, row)).at(0);
}

/** In the order of their ids, after `after`; one more than `limit`, where there are more. */
export async function listThings(
  transaction: TenantTransaction,
  thing: Thing,
  facility: string,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly Item[]> {
  const found = await sql<Head>`select ${columns}, ${thing.select} from ${sql.table(thing.table)} t
    where t.facility_id = ${facility} and t.id > ${page.after}
    order by t.id limit ${page.limit + 1}`.execute(transaction);
  return found.rows.map((row) => itemOf(thing, row));
}

function itemOf(thing: Thing, row: Head): Item {
  const { id, version, created_at } = row;
  return { id, version, createdAt: created_at.toISOString(), ...thing.itemOf({ ...row }) };
}
