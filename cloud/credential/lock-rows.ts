/**
 * Locks rows in the one order of this room: schedules, doors, groups, readers, the space of PINs,
 * holders, then credentials; of one table by id.
 *
 * What is only referred to is locked for share, so that it is not deleted meanwhile; what is written, for update.
 */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Reference, ThingTable } from './thing.ts';

const order: readonly Reference['table'][] = [
  'schedule',
  'holiday',
  'door',
  'door_group',
  'reader',
  'holder',
  'role_assignment',
];

/** @returns the first reference that names nothing. */
export async function lockReferences(
  transaction: TenantTransaction,
  facilityId: string,
  references: readonly Reference[],
): Promise<Reference | undefined> {
  const missing = new Set<Reference>();
  for (const table of order) {
    const mine = references.filter((reference) => reference.table === table);
    for (const column of new Set(mine.map(({ column: of = 'id' }) => of))) {
      const wanted = mine.filter((reference) => (reference.column ?? 'id') === column);
      const ids = [...new Set(wanted.map(({ id }) => id))];
      const found = await lockShared(transaction, { facilityId, table, column, ids });
      for (const reference of wanted) if (!found.has(reference.id)) missing.add(reference);
    }
  }
  return references.find((reference) => missing.has(reference));
}

interface Wanted {
  readonly facilityId: string;
  readonly table: Reference['table'];
  readonly column: string;
  readonly ids: readonly string[];
}

async function lockShared(transaction: TenantTransaction, wanted: Wanted): Promise<ReadonlySet<string>> {
  const { facilityId, table, column, ids } = wanted;
  const isThere = table === 'holder' ? sql`and t.erased_at is null` : sql``;
  // Roles are another room's to lock: they come and go, and the sweep follows them.
  const lock = table === 'role_assignment' ? sql`` : sql`order by t.id for share`;
  const found = await sql<{ key: string }>`select t.${sql.ref(column)} as key from ${sql.table(table)} t
    where t.facility_id = ${facilityId} and t.${sql.ref(column)} = any (${ids}) ${isThere} ${lock}`.execute(
    transaction,
  );
  return new Set(found.rows.map(({ key }) => key));
}

/** Locks holders for update. @returns those that are there, erased ones too. */
export async function lockHolders(
  transaction: TenantTransaction,
  facilityId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const found = await sql<{ id: string }>`select id from holder
    where facility_id = ${facilityId} and id = any (${[...new Set(ids)]}) order by id for update`.execute(transaction);
  return found.rows.map(({ id }) => id);
}

/** One change at a time counts a facility’s PINs. */
export async function lockPins(transaction: TenantTransaction, facilityId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`pins ${facilityId}`}, 0))`.execute(transaction);
}

/** Locks one thing for update. */
export async function lockThing(
  transaction: TenantTransaction,
  table: ThingTable,
  { facility, id }: { readonly facility: string; readonly id: string },
): Promise<{ readonly version: number } | undefined> {
  const isThere = table === 'holder' ? sql`and erased_at is null` : sql``;
  const found = await sql<{ version: number }>`select version from ${sql.table(table)}
    where facility_id = ${facility} and id = ${id} ${isThere} for update`.execute(transaction);
  return found.rows[0];
}

/**
 * Locks the holders to whom a door or group is granted, for update.
 * @returns their ids.
 */
export async function lockGranted(
  transaction: TenantTransaction,
  facilityId: string,
  granted: { readonly door?: string; readonly group?: string },
): Promise<readonly string[]> {
  const found = await sql<{ id: string }>`select h.id from holder h
    where h.facility_id = ${facilityId} and h.id in (
      select c.holder_id from credential c
      join credential_grant g on g.facility_id = c.facility_id and g.credential_id = c.id and g.deleted_at is null
      where c.facility_id = ${facilityId} and c.lookup is not null
        and (g.door_id = ${granted.door ?? ''} or g.group_id = ${granted.group ?? ''}))
    order by h.id for update`.execute(transaction);
  return found.rows.map(({ id }) => id);
}
