/** Opens an enrolment window at a reader: the gateway is told, and sends the next card it does not know, sealed. */
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { queueCommand } from '#cloud/gateway-sync/queue-command.ts';
import type { CardWindowAct } from '#shared/contract/sync/command.ts';
import { identifier } from '#shared/identifier.ts';
import { lockReferences } from './lock-rows.ts';
import { refusedAt, type Written } from './written.ts';

export interface WindowWish {
  readonly reader: string;
  readonly seconds: number;
  readonly actor: string;
}

export function openWindow(
  transaction: TenantTransaction,
  facility: string,
  { reader, seconds, actor }: WindowWish,
): Promise<Written> {
  return asVerb(transaction, 'enrolment.open', undefined, async (): Promise<Written> => {
    const path = '/body/reader';
    const missing = await lockReferences(transaction, facility, [{ path, table: 'reader', id: reader }]);
    if (missing) return refusedAt('REFERENCE_UNKNOWN', path, 'field.reference_unknown');
    const found = await sql<{ gateway_id: string }>`select b.gateway_id from reader r
      join door_binding b on b.facility_id = r.facility_id and b.door_id = r.door_id
      where r.facility_id = ${facility} and r.id = ${reader}`.execute(transaction);
    const gateway = found.rows[0]?.gateway_id;
    if (gateway === undefined) return refusedAt('DOOR_UNBOUND', path, 'field.invalid');
    const id = newId<'window'>('win');
    await sql`insert into enrolment_window (facility_id, id, reader_id, gateway_id, opened_by, closes_at)
      values (${facility}, ${id}, ${reader}, ${gateway}, ${actor}, now() + make_interval(secs => ${seconds}))`.execute(
      transaction,
    );
    const act: CardWindowAct = { act: 'read-card', reader: identifier<'reader'>(reader), window: id, seconds };
    const queued = await queueCommand(transaction, { facilityId: facility, gatewayId: gateway, act, actor });
    if (queued.status === 'refused') return refusedAt(queued.code, path, 'field.invalid');
    await audit(transaction, facility, { action: 'enrolment.opened', entityId: id, detail: { reader, gateway } });
    return { status: 'written', id };
  });
}
