/** Alarms of a gateway: one stands for each code and subject until it is cleared. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { AlarmCode } from '#shared/code.ts';
import type { QueueOwner } from './queue-owner.ts';

export interface Alarm {
  readonly code: AlarmCode;
  readonly doorId?: string | null;
  /** What it is about, where it is not the gateway itself. */
  readonly subject?: string;
  /** Ids and counts. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

export async function raiseAlarm(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { code, doorId = null, subject = '', detail = {} }: Alarm,
): Promise<void> {
  await sql`insert into gateway_alarm (facility_id, gateway_id, code, door_id, subject, detail)
    values (${facilityId}, ${gatewayId}, ${code}, ${doorId}, ${subject}, ${JSON.stringify(detail)}::jsonb)
    on conflict (facility_id, gateway_id, code, subject) where cleared_at is null do nothing`.execute(transaction);
}

export async function clearAlarm(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { code, subject = '' }: Pick<Alarm, 'code' | 'subject'>,
): Promise<void> {
  await sql`update gateway_alarm set cleared_at = now()
    where facility_id = ${facilityId} and gateway_id = ${gatewayId} and code = ${code} and subject = ${subject}
      and cleared_at is null`.execute(transaction);
}
