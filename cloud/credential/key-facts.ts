/** Reads what keys rest on: their holders, and the roles with which their keys come. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { wallMs } from '#shared/instant.ts';
import { toRoleKey } from '#shared/role.ts';
import type { KeyFacts } from './derive-key.ts';

type HolderFacts = Omit<KeyFacts, 'validUntil'>;

/** By holder, as of the database’s time of this transaction. Holders that are not there are `absent`. */
export async function readHolderFacts(
  transaction: TenantTransaction,
  facilityId: string,
  holders: readonly string[],
): Promise<(holder: string) => HolderFacts> {
  const found = await sql<{ id: string; erased: boolean; has_user: boolean; role: string | null }>`
    select h.id, h.erased_at is not null as erased, h.user_id is not null as has_user,
      (select r.role from role_assignment r where r.facility_id = h.facility_id and r.user_id = h.user_id) as role
    from holder h where h.facility_id = ${facilityId} and h.id = any (${holders})`.execute(transaction);
  const at = wallMs((await databaseTime(transaction)).getTime());
  const facts = new Map(
    found.rows.map(({ id, erased, has_user, role }): [string, HolderFacts] => [
      id,
      { at, holder: erased ? 'erased' : 'present', role: has_user ? toRoleKey(role ?? '') : 'not-needed' },
    ]),
  );
  return (holder) => facts.get(holder) ?? { at, holder: 'absent', role: 'not-needed' };
}

/** Of the transaction: one moment for all it does. */
export async function databaseTime(transaction: TenantTransaction): Promise<Date> {
  const found = await sql<{ at: Date }>`select now() as at`.execute(transaction);
  return found.rows[0]?.at ?? new Date(0);
}
