/**
 * Puts away what time has ended: invitations, and rows that nobody asks for any more. Run by any node at any time; one does
 * the work, the others find nothing left.
 */
import { sql } from 'kysely';
import type { Database } from '#cloud/database/pool.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { expireInvitation } from './invitation.ts';

const batch = 500;
/** Rows whose policy lets the worker see them only once they are over. */
const forgotten = ['idempotency_key', 'login_failure', 'oidc_attempt', 'user_session'] as const;

export async function sweepIdentity(worker: Database): Promise<{ readonly expired: number }> {
  const over = await worker
    .selectFrom('invitation')
    .select(['facility_id', 'id'])
    .where('status', '=', 'sent')
    .where('expires_at', '<=', sql<Date>`now()`)
    .limit(batch)
    .execute();
  let expired = 0;
  for (const { facility_id: facilityId, id } of over) {
    const claims = { actor: 'worker:identity', facilityIds: [facilityId], reason: 'its time is over' };
    const outcome = await tenantTransaction(worker, claims, (transaction) =>
      expireInvitation(transaction, { facilityId, id }),
    );
    if (outcome.status === 'applied') expired += 1;
  }
  for (const table of forgotten) {
    await tenantTransaction(worker, { actor: 'worker:identity', facilityIds: [] }, (transaction) =>
      sql`delete from ${sql.table(table)}`.execute(transaction),
    );
  }
  return { expired };
}
