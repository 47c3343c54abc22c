/** What a gateway that is far behind must know before its turn: the newest revocations and suspensions it has not reached. */
import { sql } from 'kysely';
import type * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { credentialRow } from '#shared/contract/replica-row.ts';
import type { QueueOwner } from './queue-owner.ts';

/** The newest, where there are more; the others come with their batches. */
const urgentMax = 500;

export async function readUrgent(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  after: number,
): Promise<readonly z.input<typeof credentialRow>[]> {
  const found = await sql<{ seq: number; row: Omit<z.input<typeof credentialRow>, 'version'> }>`select seq, row
    from feed_row where facility_id = ${facilityId} and gateway_id = ${gatewayId} and kind = 'credential'
      and row ->> 'status' <> 'issued' and seq > ${after}
    order by seq desc limit ${urgentMax}`.execute(transaction);
  return found.rows.map(({ seq, row }) => ({ ...row, version: seq }));
}
