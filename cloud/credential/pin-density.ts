/** Whether more PINs open a door by themselves than keep guessing hopeless. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { mostPins } from './pin-policy.ts';

interface Count {
  readonly digits: number;
  readonly count: number;
}

/**
 * Counts as things stand in this transaction, which holds `lockPins`. A door that always asks for a card first is opened by
 * no PIN alone.
 * @param doors whose PINs may have become more.
 */
export async function isPinSpaceExhausted(
  transaction: TenantTransaction,
  facilityId: string,
  doors: readonly string[],
): Promise<boolean> {
  if (doors.length === 0) return false;
  const found = await sql<Count>`select c.pin_digits as digits, count(distinct c.id)::int as count
    from door d
    join credential_grant g on g.facility_id = d.facility_id and g.deleted_at is null
      and (g.door_id = d.id or exists (select from door_group_member m
        where m.facility_id = d.facility_id and m.group_id = g.group_id and m.door_id = d.id))
    join credential c on c.facility_id = g.facility_id and c.id = g.credential_id
      and c.kind = 'pin' and c.status in ('issued', 'suspended')
    where d.facility_id = ${facilityId} and d.id = any (${doors}) and d.deleted_at is null
      and d.settings ->> 'secondFactor' is distinct from 'always'
    group by d.id, c.pin_digits`.execute(transaction);
  return found.rows.some(({ digits, count }) => count > mostPins(digits));
}
