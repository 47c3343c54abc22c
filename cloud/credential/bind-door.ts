/** Binds a door to the gateway that works it, where wiring and counted uses allow it. */
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { bindDoor as bindAtGateway } from '#cloud/gateway-sync/bind-door.ts';
import type { Outcome } from '#shared/outcome.ts';
import { wiringConflict } from './check-wiring.ts';
import { lockThing } from './lock-rows.ts';
import { publish } from './publish.ts';
import type { Place } from './thing.ts';
import { areUsesOfOneGateway } from './uses-gateway.ts';

/** A refusal is to be rolled back. @param gateway `null`: no gateway works it any more. */
export async function bindDoor(
  transaction: TenantTransaction,
  { facility, id }: Place,
  gateway: string | null,
): Promise<Outcome<'bound' | 'unbound'>> {
  const door = await lockThing(transaction, 'door', { facility, id });
  if (!door) return { status: 'refused', code: 'NOT_FOUND' };
  await publish(transaction, facility, { facility: true, doors: [id] });
  const outcome = await bindAtGateway(transaction, { facilityId: facility, doorId: id, gatewayId: gateway });
  if (outcome.status !== 'applied' || gateway === null) return outcome;
  if (await wiringConflict(transaction, { facility, id })) return { status: 'refused', code: 'WIRED_TWICE' };
  const areCounted = await areUsesOfOneGateway(transaction, facility, { door: id });
  return areCounted ? outcome : { status: 'refused', code: 'USES_NEED_ONE_GATEWAY' };
}
