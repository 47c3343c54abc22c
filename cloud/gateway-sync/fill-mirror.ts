/**
 * Begins a gateway's mirror with all that the facility says of what concerns it, as one place of its feed.
 *
 * The gateway gets these rows by a snapshot. What is queued behind it may be in already; put again, it changes nothing else.
 */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { plainHashOf, type RowOf } from '#shared/replica-columns.ts';
import { addHash, emptySums, type KindSums, type RowKind } from '#shared/replica-digest.ts';
import { bucketOf, credentialOf, doorOf, type StoredChange } from './feed-draft.ts';
import type { QueueOwner } from './queue-owner.ts';

/** Rows read and written at a time. */
const pageRows = 2_000;

type SourceRow = Omit<StoredChange, 'op'>;

/** @param seq the place, which is every row's version. @returns the sums of what the mirror holds now. */
export async function fillMirror(transaction: TenantTransaction, owner: QueueOwner, seq: number): Promise<KindSums> {
  await sql`delete from feed_row where facility_id = ${owner.facilityId} and gateway_id = ${owner.gatewayId}`.execute(
    transaction,
  );
  const sums: Record<RowKind, bigint> = { ...emptySums };
  let after = { kind: '', key: '' };
  for (;;) {
    const page = await readPage(transaction, owner, after);
    const rows = page.map((source) => mirrorRow(source, seq));
    for (const { kind, hash } of rows) sums[kind] = addHash(sums[kind], hash);
    if (rows.length > 0) await writePage(transaction, owner, { rows, seq });
    const last = page.at(-1);
    if (last === undefined || page.length < pageRows) return sums;
    after = last;
  }
}

async function readPage(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  after: { readonly kind: string; readonly key: string },
): Promise<readonly SourceRow[]> {
  const found = await sql<SourceRow>`select s.kind, s.key, s.row from feed_source s
    where s.facility_id = ${facilityId} and (s.kind, s.key) > (${after.kind}, ${after.key})
      and (s.door_id is null or exists (select from door_binding b
        where b.facility_id = s.facility_id and b.door_id = s.door_id and b.gateway_id = ${gatewayId}))
    order by s.kind, s.key limit ${pageRows}`.execute(transaction);
  return found.rows;
}

function mirrorRow(source: SourceRow, seq: number) {
  const hashOf = plainHashOf as (kind: RowKind, row: RowOf[RowKind]) => string;
  const hash = hashOf(source.kind, { ...source.row, version: seq } as unknown as RowOf[RowKind]);
  const concerns = { credential_id: credentialOf(source), door_id: doorOf(source) };
  return { kind: source.kind, key: source.key, bucket: bucketOf(source), hash, row: source.row, ...concerns };
}

async function writePage(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { rows, seq }: { readonly rows: readonly ReturnType<typeof mirrorRow>[]; readonly seq: number },
): Promise<void> {
  await sql`insert into feed_row (facility_id, gateway_id, kind, key, seq, bucket, hash, credential_id, door_id, row)
    select ${facilityId}, ${gatewayId}, g.kind, g.key, ${seq}, g.bucket, decode(g.hash, 'hex'), g.credential_id, g.door_id,
      g.row
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g(kind text, key text, bucket int, hash text,
      credential_id text, door_id text, row jsonb)`.execute(transaction);
}
