/**
 * A credential with a number of uses is counted by one gateway: its doors must be bound to one, or to none yet.
 */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';

/** @param of these credentials, or all that are granted a group. */
export async function areUsesOfOneGateway(
  transaction: TenantTransaction,
  facilityId: string,
  of: { readonly credentials: readonly string[] } | { readonly group: string } | { readonly door: string },
): Promise<boolean> {
  const narrowed = narrowedTo(of);
  const found = await sql`select c.id from credential c
    join credential_grant g on g.facility_id = c.facility_id and g.credential_id = c.id and g.deleted_at is null
    left join door_group_member m on m.facility_id = g.facility_id and m.group_id = g.group_id
    join door_binding b on b.facility_id = g.facility_id and b.door_id = coalesce(g.door_id, m.door_id)
    where c.facility_id = ${facilityId} and c.uses_max is not null and c.status in ('issued', 'suspended') and ${narrowed}
    group by c.id having count(distinct b.gateway_id) > 1 limit 1`.execute(transaction);
  return found.rows.length === 0;
}

function narrowedTo(of: Parameters<typeof areUsesOfOneGateway>[2]) {
  if ('credentials' in of) return sql`c.id = any (${of.credentials})`;
  const granted =
    'group' in of
      ? sql`x.group_id = ${of.group}`
      : sql`(x.door_id = ${of.door} or exists (select from door_group_member n
          where n.facility_id = x.facility_id and n.group_id = x.group_id and n.door_id = ${of.door}))`;
  return sql`c.id in (select x.credential_id from credential_grant x
    where x.facility_id = c.facility_id and x.deleted_at is null and ${granted})`;
}
