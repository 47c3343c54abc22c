/**
 * Which gateway works which door. A door that moves is taken out of one gateway's feed and put, with its readers and
 * grants, into the other's.
 */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import type { Outcome } from '#shared/outcome.ts';
import { groupsOf, lockScope, queueGroup } from './emit-feed.ts';
import type { StoredChange } from './feed-draft.ts';
import type { GatewayStatus } from './gateway-machine.ts';

export interface Binding {
  readonly facilityId: string;
  readonly doorId: string;
  /** `null`: no gateway works it any more. */
  readonly gatewayId: string | null;
}

/** The door must be known to the caller; gateways that are out take none. */
export async function bindDoor(
  transaction: TenantTransaction,
  binding: Binding,
): Promise<Outcome<'bound' | 'unbound'>> {
  const { facilityId, doorId, gatewayId } = binding;
  await lockScope(transaction, facilityId, 'exclusive');
  const refusal = gatewayId === null ? undefined : await refusalOf(transaction, facilityId, gatewayId);
  if (refusal !== undefined) return { status: 'refused', code: refusal };
  const before = await sql<{ gateway_id: string }>`select gateway_id from door_binding
    where facility_id = ${facilityId} and door_id = ${doorId} for update`.execute(transaction);
  const former = before.rows[0]?.gateway_id ?? null;
  if (former === gatewayId) return { status: 'noop', code: 'ALREADY_DONE' };
  return await asVerb(transaction, 'door.bind', undefined, async () => {
    const rows = await readRows(transaction, facilityId, doorId);
    if (former !== null) await queueAll(transaction, facilityId, former, rows.map(removal).reverse());
    await writeBinding(transaction, binding);
    if (gatewayId !== null) await queueAll(transaction, facilityId, gatewayId, rows);
    await audit(transaction, facilityId, {
      action: 'door.bind',
      entityId: doorId,
      detail: { from: former, to: gatewayId },
    });
    return { status: 'applied', to: gatewayId === null ? 'unbound' : 'bound' };
  });
}

/** All doors of one gateway to another, which is told of them by its first fill. */
export async function moveDoors(
  transaction: TenantTransaction,
  { facilityId, from, to }: { readonly facilityId: string; readonly from: string; readonly to: string },
): Promise<void> {
  await sql`update door_binding set gateway_id = ${to}, bound_at = now()
    where facility_id = ${facilityId} and gateway_id = ${from}`.execute(transaction);
}

async function refusalOf(
  transaction: TenantTransaction,
  facilityId: string,
  gatewayId: string,
): Promise<'NOT_FOUND' | 'GATEWAY_NOT_SERVED' | undefined> {
  const found = await sql<{ status: GatewayStatus }>`select status from gateway
    where facility_id = ${facilityId} and id = ${gatewayId} for share`.execute(transaction);
  const status = found.rows[0]?.status;
  if (status === undefined) return 'NOT_FOUND';
  return status === 'revoked' || status === 'superseded' ? 'GATEWAY_NOT_SERVED' : undefined;
}

async function writeBinding(transaction: TenantTransaction, { facilityId, doorId, gatewayId }: Binding): Promise<void> {
  if (gatewayId === null) {
    await sql`delete from door_binding where facility_id = ${facilityId} and door_id = ${doorId}`.execute(transaction);
    return;
  }
  await sql`insert into door_binding (facility_id, door_id, gateway_id) values (${facilityId}, ${doorId}, ${gatewayId})
    on conflict (facility_id, door_id) do update set gateway_id = excluded.gateway_id, bound_at = now()`.execute(
    transaction,
  );
}

/** The door, then its readers, then its grants. */
async function readRows(
  transaction: TenantTransaction,
  facilityId: string,
  doorId: string,
): Promise<readonly StoredChange[]> {
  const found = await sql<StoredChange>`select 'put' as op, kind, key, row from feed_source
    where facility_id = ${facilityId} and door_id = ${doorId}
    order by case kind when 'door' then 0 when 'reader' then 1 else 2 end, key`.execute(transaction);
  return found.rows;
}

const removal = ({ kind, key }: StoredChange): StoredChange => ({ op: 'remove', kind, key, row: null });

/** To a gateway that waits for its confirmation nothing is told yet: the fill will. */
async function queueAll(
  transaction: TenantTransaction,
  facilityId: string,
  gatewayId: string,
  changes: readonly StoredChange[],
): Promise<void> {
  const found = await sql`select from gateway
    where facility_id = ${facilityId} and id = ${gatewayId} and status in ('active', 'quarantined')`.execute(
    transaction,
  );
  if (found.rows.length === 0) return;
  for (const group of groupsOf(changes)) await queueGroup(transaction, facilityId, gatewayId, group);
}
