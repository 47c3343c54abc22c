/** How far a gateway's feed is numbered, with the sums of what it then holds, between the tables and the rules. */
import { sql } from 'kysely';
import { prepared } from '#cloud/database/prepared.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { digestOf, emptySums, type KindSums, type RowKind, rowKinds, sumHex } from '#shared/replica-digest.ts';

export interface StoredHead {
  readonly seq: number;
  /** Changes after this place are kept. */
  readonly retainedFrom: number;
  readonly sums: KindSums;
}

/** As it lies in its table. */
export interface HeadRow {
  readonly head_seq: number;
  readonly retained_from: number;
  readonly sums: Readonly<Record<string, string>>;
}

/** Before the first numbering there is none: an empty feed. */
export async function readFeedHead(
  transaction: TenantTransaction,
  facilityId: string,
  gatewayId: string,
): Promise<StoredHead> {
  const found = await sql<HeadRow>`${prepared}select head_seq, retained_from, sums from feed_head
    where facility_id = ${facilityId} and gateway_id = ${gatewayId}`.execute(transaction);
  return headOf(found.rows[0]);
}

export function headOf(row: HeadRow | undefined): StoredHead {
  if (!row) return { seq: 0, retainedFrom: 0, sums: emptySums };
  return { seq: row.head_seq, retainedFrom: row.retained_from, sums: sumsOf(row.sums) };
}

export async function writeFeedHead(
  transaction: TenantTransaction,
  facilityId: string,
  gatewayId: string,
  head: StoredHead,
): Promise<void> {
  const sums = JSON.stringify(Object.fromEntries(rowKinds.map((kind) => [kind, sumHex(head.sums[kind])])));
  await sql`${prepared}insert into feed_head (facility_id, gateway_id, head_seq, retained_from, sums)
    values (${facilityId}, ${gatewayId}, ${head.seq}, ${head.retainedFrom}, ${sums}::jsonb)
    on conflict (facility_id, gateway_id) do update set head_seq = excluded.head_seq,
      retained_from = excluded.retained_from, sums = excluded.sums, numbered_at = now()`.execute(transaction);
}

function sumsOf(stored: Readonly<Record<string, string>>): KindSums {
  const sums: Record<RowKind, bigint> = { ...emptySums };
  for (const kind of rowKinds) sums[kind] = BigInt(`0x${stored[kind] ?? '0'}`);
  return sums;
}

/** @param kinds those the gateway knows; of others it holds nothing. */
export function headDigest(sums: KindSums, kinds: ReadonlySet<string> = new Set(rowKinds)): string {
  const known = Object.fromEntries(rowKinds.map((kind) => [kind, kinds.has(kind) ? sums[kind] : 0n]));
  return digestOf(known as Record<RowKind, bigint>);
}
