/** Takes a thing away, unless something else still depends on it. Its row stays, for what history says of it. */
import { sql } from 'kysely';
import { setLocal, type TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { invariant } from '#shared/invariant.ts';
import { lockThing } from './lock-rows.ts';
import { publish } from './publish.ts';
import type { Place, Thing } from './thing.ts';
import type { Written } from './written.ts';

/** @param version the one the caller saw. */
export function deleteThing(
  transaction: TenantTransaction,
  thing: Thing,
  place: Place,
  version: number,
): Promise<Written> {
  const { table, isUsed } = thing;
  invariant(isUsed !== undefined, `${table} can be deleted`);
  return asVerb(transaction, `${table}.delete`, undefined, async () => {
    const row = await lockThing(transaction, table, place);
    if (!row) return { status: 'absent' };
    if (row.version !== version) return { status: 'stale' };
    const used = await sql`select from ${sql.table(table)} t
      where t.facility_id = ${place.facility} and t.id = ${place.id} and (${isUsed})`.execute(transaction);
    if (used.rows.length > 0) return { status: 'refused', code: 'STILL_REFERENCED' };
    const touched = await thing.touched(transaction, place);
    await hideRow(transaction, table, place);
    await thing.settle?.(transaction, place, undefined);
    await audit(transaction, place.facility, { action: `${table}.deleted`, entityId: place.id });
    await publish(transaction, place.facility, touched);
    return { status: 'written', id: place.id };
  });
}

/** The row must be seen after the update, though it is hidden from then on. */
export async function hideRow(transaction: TenantTransaction, table: string, place: Place): Promise<void> {
  await setLocal(transaction, { 'app.include_deleted': 'on' });
  await sql`update ${sql.table(table)} set deleted_at = now(), version = version + 1
    where facility_id = ${place.facility} and id = ${place.id} and deleted_at is null`.execute(transaction);
  await setLocal(transaction, { 'app.include_deleted': '' });
}
