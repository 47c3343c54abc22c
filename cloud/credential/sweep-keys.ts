/**
 * Goes after keys that may no longer exist: ends those whose time is over, takes back those whose ground is gone, and lets
 * what ended long ago be forgotten.
 *
 * Uses the verbs that people use, one transaction a key, and loses cleanly to whoever was quicker.
 */
import { sql } from 'kysely';
import type { Database } from '#cloud/database/pool.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb } from '#cloud/database/verb.ts';
import { wallMs } from '#shared/instant.ts';
import { dueEvent } from './derive-key.ts';
import { expireCredential } from './expire-credential.ts';
import { readHolderFacts } from './key-facts.ts';
import { lockHolders } from './lock-rows.ts';
import { publish } from './publish.ts';
import { revokeCredential } from './revoke-credential.ts';

const actor = 'worker:keys';
/** So many in one go; the next go takes the rest. */
const keysPerSweep = 500;
/** How long a door can still say of a card why it refuses it, and nobody gets a PIN that was somebody else’s. */
const rememberedDays = 90;
/** Of PINs of so few digits that their space would fill. */
const shortDigits = 5;
const shortRememberedDays = 1;

interface Suspect {
  readonly facility_id: string;
  readonly id: string;
  readonly holder_id: string;
  readonly valid_until: Date | null;
}

/** @returns how many keys were ended, and how many forgotten. */
export async function sweepKeys(worker: Database): Promise<{ readonly ended: number; readonly forgotten: number }> {
  let ended = 0;
  const suspects = await findAcross<Suspect>(
    worker,
    sql<Suspect>`
    select c.facility_id, c.id, c.holder_id, c.valid_until from credential c
    join holder h on h.facility_id = c.facility_id and h.id = c.holder_id
    where c.status in ('issued', 'suspended') and (c.valid_until <= now() or h.erased_at is not null
      or h.user_id is not null and not exists (
        select from role_assignment r where r.facility_id = h.facility_id and r.user_id = h.user_id))
    order by c.valid_until nulls first limit ${keysPerSweep}`,
  );
  for (const suspect of suspects) {
    const claims = { actor, facilityIds: [suspect.facility_id] };
    if (await tenantTransaction(worker, claims, (transaction) => endKey(transaction, suspect))) ended += 1;
  }
  await forgetWindows(worker);
  return { ended, forgotten: await forgetEnded(worker) };
}

async function endKey(transaction: TenantTransaction, suspect: Suspect): Promise<boolean> {
  const { facility_id: facility, id, holder_id, valid_until } = suspect;
  const factsOf = await readHolderFacts(transaction, facility, [holder_id]);
  const validUntil = valid_until === null ? null : wallMs(valid_until.getTime());
  const due = dueEvent({ ...factsOf(holder_id), validUntil });
  if (due === undefined) return false;
  const run = due === 'expire' ? expireCredential : revokeCredential;
  return (await run(transaction, { facility, id, reason: 'sweep' })).status === 'applied';
}

interface Ended {
  readonly facility_id: string;
  readonly id: string;
  readonly holder_id: string;
}

async function forgetEnded(worker: Database): Promise<number> {
  const ended = await findAcross<Ended>(
    worker,
    sql<Ended>`select facility_id, id, holder_id from credential
    where lookup is not null and ended_at < now() - make_interval(
      days => case when pin_digits <= ${shortDigits} then ${shortRememberedDays}::int else ${rememberedDays}::int end)
    order by ended_at limit ${keysPerSweep}`,
  );
  for (const { facility_id: facility, id, holder_id } of ended) {
    await tenantTransaction(worker, { actor, facilityIds: [facility] }, (transaction) =>
      asVerb(transaction, 'credential.forget', undefined, async () => {
        await lockHolders(transaction, facility, [holder_id]);
        await sql`update credential set lookup = null, version = version + 1
          where facility_id = ${facility} and id = ${id} and ended_at is not null`.execute(transaction);
        await publish(transaction, facility, { holders: [holder_id] });
      }),
    );
  }
  return ended.length;
}

/** Enrolment windows of yesterday and before. */
async function forgetWindows(worker: Database): Promise<void> {
  await tenantTransaction(worker, { actor, facilityIds: [] }, (transaction) =>
    sql`delete from enrolment_window where closes_at < now() - interval '1 day'`.execute(transaction),
  );
}

type Query<Row> = ReturnType<typeof sql<Row>>;

/** What the worker may look for across tenants; it writes only inside one. */
async function findAcross<Row>(worker: Database, query: Query<Row>): Promise<readonly Row[]> {
  return tenantTransaction(
    worker,
    { actor, facilityIds: [] },
    async (transaction) => (await query.execute(transaction)).rows,
  );
}
