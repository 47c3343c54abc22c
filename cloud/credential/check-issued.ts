/** What can only be said of credentials and grants once they are written: how dense PINs are, and who counts uses. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { PlacedCredential } from './insert-credentials.ts';
import { isPinSpaceExhausted } from './pin-density.ts';
import { areUsesOfOneGateway } from './uses-gateway.ts';
import { type RefusedWrite, refusedAt } from './written.ts';

export async function checkIssued(
  transaction: TenantTransaction,
  facility: string,
  placed: readonly PlacedCredential[],
): Promise<RefusedWrite | undefined> {
  const pins = placed.filter(({ pin }) => pin !== undefined);
  const counted = placed.filter(({ item }) => item.terms.usesMax !== null);
  const at = (pins.length === 1 ? pins[0]?.item.at : undefined) ?? '/body';
  const isDense = await arePinsDense(
    transaction,
    facility,
    pins.map(({ id }) => id),
  );
  if (isDense) return refusedAt('PIN_SPACE_EXHAUSTED', `${at}/pin/digits`, 'field.too_small');
  for (const { id, item } of counted) {
    if (await areUsesOfOneGateway(transaction, facility, { credentials: [id] })) continue;
    return refusedAt('USES_NEED_ONE_GATEWAY', `${item.at}/grants`, 'field.invalid');
  }
  return undefined;
}

/** Whether a door that one of these PINs opens has too many of them now. */
export async function arePinsDense(
  transaction: TenantTransaction,
  facility: string,
  credentials: readonly string[],
): Promise<boolean> {
  if (credentials.length === 0) return false;
  const found = await sql<{ door: string }>`select distinct coalesce(g.door_id, m.door_id) as door
    from credential_grant g
    left join door_group_member m on m.facility_id = g.facility_id and m.group_id = g.group_id
    where g.facility_id = ${facility} and g.credential_id = any (${credentials}) and g.deleted_at is null
      and coalesce(g.door_id, m.door_id) is not null`.execute(transaction);
  return isPinSpaceExhausted(
    transaction,
    facility,
    found.rows.map(({ door }) => door),
  );
}
