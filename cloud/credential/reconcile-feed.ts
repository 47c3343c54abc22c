/**
 * Compares what was said to the gateways with what is derived from the facility as it is, and says what differs.
 *
 * Verbs say what they change; this finds what no verb said: a fault of ours, a row put right by hand, a restored backup.
 * Guarantee: afterwards the facility's last word on everything is what is derived; that something differed is audited.
 */
import { sql } from 'kysely';
import type { Database } from '#cloud/database/pool.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { lockScope } from '#cloud/gateway-sync/emit-feed.ts';
import { publish } from './publish.ts';
import type { Touched } from './touched.ts';

const actor = 'worker:feed';
/** Holders of one transaction: whatever else is said of the facility waits so long. */
const holdersAtOnce = 500;

/** All facilities, one after the other. @returns how many rows differed. */
export async function reconcileFeed(worker: Database): Promise<number> {
  const facilities = await tenantTransaction(
    worker,
    { actor, facilityIds: [] },
    async (transaction) => (await sql<{ id: string }>`select id from facility order by id`.execute(transaction)).rows,
  );
  let differing = 0;
  for (const { id } of facilities) differing += await reconcileFacility(worker, id);
  return differing;
}

async function reconcileFacility(worker: Database, facility: string): Promise<number> {
  const inFacility = <Result>(work: (transaction: TenantTransaction) => Promise<Result>): Promise<Result> =>
    tenantTransaction(worker, { actor, facilityIds: [facility] }, async (transaction) => {
      // What is written and what was said of it are seen as of one moment: no verb says anything meanwhile.
      await lockScope(transaction, facility, 'exclusive');
      return work(transaction);
    });
  const say = (transaction: TenantTransaction, touched: Touched): Promise<number> =>
    asVerb(transaction, 'feed.reconcile', undefined, async () => {
      const rows = await publish(transaction, facility, touched);
      if (rows > 0)
        await audit(transaction, facility, { action: 'feed.reconciled', entityId: facility, detail: { rows } });
      return rows;
    });
  let differing = await inFacility(async (transaction) => say(transaction, await readSmall(transaction, facility)));
  for (let after: string | undefined = ''; after !== undefined; ) {
    const from: string = after;
    const part = await inFacility(async (transaction) => {
      const holders = await nextHolders(transaction, facility, from);
      return { holders, rows: await say(transaction, { holders }) };
    });
    differing += part.rows;
    after = part.holders.length < holdersAtOnce ? undefined : part.holders.at(-1);
  }
  return differing;
}

/** What there are few of, and what was said of such as are gone. */
async function readSmall(transaction: TenantTransaction, facility: string): Promise<Touched> {
  const idsOf = async (table: 'schedule' | 'holiday' | 'door' | 'reader'): Promise<readonly string[]> => {
    const there = await sql<{ id: string }>`select id from ${sql.table(table)}
      where facility_id = ${facility}`.execute(transaction);
    const said = await sql<{ id: string }>`select key as id from feed_source
      where facility_id = ${facility} and kind = ${table}`.execute(transaction);
    return [...new Set([...there.rows, ...said.rows].map(({ id }) => id))];
  };
  return {
    facility: true,
    schedules: await idsOf('schedule'),
    holidays: await idsOf('holiday'),
    doors: await idsOf('door'),
    readers: await idsOf('reader'),
  };
}

async function nextHolders(
  transaction: TenantTransaction,
  facility: string,
  after: string,
): Promise<readonly string[]> {
  const found = await sql<{ id: string }>`select id from holder where facility_id = ${facility} and id > ${after}
    order by id limit ${holdersAtOnce}`.execute(transaction);
  return found.rows.map(({ id }) => id);
}
