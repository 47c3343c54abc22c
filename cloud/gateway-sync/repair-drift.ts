/**
 * Finds where a gateway's rows differ from what they should be, by the sums of its buckets, and gives it the right rows.
 *
 * Only a gateway that stands at the head is compared; otherwise the answer is empty, and it asks again when it is there.
 */
import { sql } from 'kysely';
import type * as z from 'zod';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { changesMax, type FeedPut, type repairReply, type repairRequest } from '#shared/contract/sync/feed.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { addHash, sumHex } from '#shared/replica-digest.ts';
import { signStatement } from '#shared/signed-statement.ts';
import { numberedChange, type StoredChange } from './feed-draft.ts';
import type { GatewayCaller } from './gateway-caller.ts';
import { readStand } from './read-stand.ts';
import type { SyncParts } from './sync-parts.ts';

type Request = z.output<typeof repairRequest>;

interface Repair {
  readonly buckets: readonly number[];
  readonly rows: readonly FeedPut[];
}

export async function repairDrift(
  parts: SyncParts,
  caller: GatewayCaller,
  request: Request,
): Promise<z.input<typeof repairReply>> {
  const repair = await tenantTransaction(parts.database, caller.claims, async (transaction) => {
    const { head, acked } = await readStand(transaction, caller);
    const isComparable = head.seq === request.cursor && acked?.epoch === request.epoch;
    return isComparable ? await findRepair(transaction, caller, request) : undefined;
  });
  if (repair === undefined) return {};
  if (repair === 'too-much') return { snapshotNeeded: true };
  const { epoch, cursor, kind } = request;
  const statement = { gateway: caller.gatewayId, epoch, cursor, kind, issuedAt: parts.now(), ...repair };
  return { repair: await signStatement(statementType.repair, statement, parts.keys().signKey) };
}

async function findRepair(
  transaction: TenantTransaction,
  caller: GatewayCaller,
  { kind, sums }: Request,
): Promise<Repair | 'too-much' | undefined> {
  const held = await readSums(transaction, caller, kind);
  const buckets: number[] = [];
  let count = 0;
  const named = new Set([...held.keys(), ...Object.keys(sums).map(Number)]);
  for (const bucket of [...named].filter((place) => place < 1_024).sort((one, other) => one - other)) {
    const ours = held.get(bucket) ?? { sum: 0n, count: 0 };
    if (sumHex(ours.sum) === (sums[String(bucket)] ?? sumHex(0n))) continue;
    if (count + ours.count > changesMax) {
      if (buckets.length > 0) break;
      return 'too-much';
    }
    buckets.push(bucket);
    count += ours.count;
  }
  if (buckets.length === 0) return undefined;
  return { buckets, rows: await readRows(transaction, caller, { kind, buckets }) };
}

async function readSums(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: GatewayCaller,
  kind: string,
): Promise<ReadonlyMap<number, { readonly sum: bigint; readonly count: number }>> {
  const found = await sql<{ bucket: number; hash: Buffer }>`select bucket, hash from feed_row
    where facility_id = ${facilityId} and gateway_id = ${gatewayId} and kind = ${kind} and row is not null`.execute(
    transaction,
  );
  const sums = new Map<number, { sum: bigint; count: number }>();
  for (const { bucket, hash } of found.rows) {
    const before = sums.get(bucket) ?? { sum: 0n, count: 0 };
    sums.set(bucket, { sum: addHash(before.sum, hash.toString('hex')), count: before.count + 1 });
  }
  return sums;
}

async function readRows(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: GatewayCaller,
  { kind, buckets }: { readonly kind: string; readonly buckets: readonly number[] },
): Promise<readonly FeedPut[]> {
  const found = await sql<StoredChange & { seq: number }>`select 'put' as op, kind, key, row, seq from feed_row
    where facility_id = ${facilityId} and gateway_id = ${gatewayId} and kind = ${kind}
      and bucket = any (${buckets}::int[]) and row is not null
    order by key`.execute(transaction);
  return found.rows.map(({ seq, ...stored }) => numberedChange(stored, seq) as FeedPut);
}
