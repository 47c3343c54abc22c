/**
 * Erases a holder: keys are taken back, and what is known of the person is gone. What stays are ids, in the audit chain and
 * in history, which name nobody any more.
 */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { lockThing } from './lock-rows.ts';
import { publish } from './publish.ts';
import { revokeCredential } from './revoke-credential.ts';
import type { Place } from './thing.ts';
import type { Written } from './written.ts';

export function eraseHolder(transaction: TenantTransaction, place: Place, version: number): Promise<Written> {
  const { facility, id } = place;
  return asVerb(transaction, 'holder.erase', undefined, async (): Promise<Written> => {
    const row = await lockThing(transaction, 'holder', place);
    if (!row) return { status: 'absent' };
    if (row.version !== version) return { status: 'stale' };
    const live = await sql<{ id: string }>`select id from credential
      where facility_id = ${facility} and holder_id = ${id} and status in ('issued', 'suspended')
      order by id`.execute(transaction);
    for (const credential of live.rows) await revokeCredential(transaction, { facility, id: credential.id });
    await sql`update credential set lookup = null, version = version + 1
      where facility_id = ${facility} and holder_id = ${id} and lookup is not null`.execute(transaction);
    await sql`update holder set name = null, email = null, external_ref = null, user_id = null, erased_at = now(),
        version = version + 1
      where facility_id = ${facility} and id = ${id}`.execute(transaction);
    await audit(transaction, facility, {
      action: 'holder.erased',
      entityId: id,
      detail: { credentials: live.rows.length },
    });
    await publish(transaction, facility, { holders: [id] });
    await forgetName(transaction, place);
    return { status: 'written', id };
  });
}

/**
 * The feed keeps what it said for some days, for gateways that are behind. The name goes out of it; who applies it holds a
 * row without one until its removal, which comes after it.
 */
async function forgetName(transaction: TenantTransaction, { facility, id }: Place): Promise<void> {
  await sql`update feed_change set row = row || '{"name": "–"}'
    where facility_id = ${facility} and kind = 'holder' and key = ${id} and op = 'put'`.execute(transaction);
  // A gateway that is taking a snapshot begins anew.
  await sql`delete from feed_snapshot_chunk where facility_id = ${facility}`.execute(transaction);
  await sql`delete from feed_snapshot where facility_id = ${facility}`.execute(transaction);
}
