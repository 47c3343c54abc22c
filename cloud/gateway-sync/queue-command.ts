/**
 * Asks a gateway to do something now. The answer is only that it was asked: what became of it is read from its state.
 *
 * Guarantees: it goes to the gateway that works the door, in its lifetime or never; each id is done at most once.
 */
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import type { Code } from '#shared/code.ts';
import type { RemoteAct } from '#shared/contract/sync/command.ts';
import type { GatewayStatus } from './gateway-machine.ts';
import { commandPrefix } from './process-entry.ts';

export interface CommandRequest {
  readonly facilityId: string;
  readonly gatewayId: string;
  readonly act: RemoteAct;
  /** Who asks, as history shows it. */
  readonly actor: string;
  /** 1 000–60 000; for an act of a person in front of a screen, half a minute. */
  readonly lifetimeMs?: number;
}

export type Queued =
  | { readonly status: 'queued'; readonly id: string; readonly gatewayId: string }
  | { readonly status: 'refused'; readonly code: Code };

const lifetimeMsDefault = 30_000;

/** After the commit the caller hints: `hints.publish([gatewayId])`. */
export async function queueCommand(transaction: TenantTransaction, request: CommandRequest): Promise<Queued> {
  const { facilityId, gatewayId, act, actor, lifetimeMs = lifetimeMsDefault } = request;
  const found = await sql<{ status: GatewayStatus }>`select status from gateway
    where facility_id = ${facilityId} and id = ${gatewayId} for share`.execute(transaction);
  const status = found.rows[0]?.status;
  if (status === undefined) return { status: 'refused', code: 'NOT_FOUND' };
  if (status !== 'active') return { status: 'refused', code: 'GATEWAY_NOT_SERVED' };
  const id = newId<'request'>(commandPrefix);
  await asVerb(transaction, 'command.queue', undefined, async () => {
    await sql`insert into gateway_command (facility_id, id, gateway_id, act, requested_by, lifetime_ms)
      values (${facilityId}, ${id}, ${gatewayId}, ${JSON.stringify(act)}::jsonb, ${actor.slice(0, 120)}, ${lifetimeMs})`.execute(
      transaction,
    );
    await audit(transaction, facilityId, { action: 'command.queue', entityId: id, detail: { gatewayId, ...act } });
  });
  return { status: 'queued', id, gatewayId };
}

/** The gateway that works a door. */
export async function gatewayOfDoor(
  transaction: TenantTransaction,
  facilityId: string,
  doorId: string,
): Promise<string | undefined> {
  const found = await sql<{ gateway_id: string }>`select gateway_id from door_binding
    where facility_id = ${facilityId} and door_id = ${doorId}`.execute(transaction);
  return found.rows[0]?.gateway_id;
}
