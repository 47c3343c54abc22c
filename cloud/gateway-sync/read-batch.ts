/** The changes of one batch: whole groups after a place, as many as fit, of the kinds the gateway knows. */
import { sql } from 'kysely';
import { prepared } from '#cloud/database/prepared.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { batchBytesMax, changesMax, type FeedChange } from '#shared/contract/sync/feed.ts';
import { cutBatch, type NumberedGroup } from './cut-batch.ts';
import { numberedChange, type StoredChange } from './feed-draft.ts';
import { unsupportedKind } from './known-kinds.ts';
import type { QueueOwner } from './queue-owner.ts';

export interface Batch {
  readonly to: number;
  readonly changes: readonly FeedChange[];
  /** The kind before which it had to stop. */
  readonly unsupported?: string;
}

export async function readBatch(
  transaction: TenantTransaction,
  owner: QueueOwner,
  { from, kinds }: { readonly from: number; readonly kinds: ReadonlySet<string> },
): Promise<Batch> {
  const groups = await readGroups(transaction, owner, from);
  const to = cutBatch(from, groups, { changesMax, bytesMax: batchBytesMax });
  const changes: FeedChange[] = [];
  let reached = from;
  for (const group of await readChanges(transaction, owner, { from, to })) {
    const unsupported = unsupportedKind(group.changes, kinds);
    if (unsupported !== undefined) return { to: reached, changes, unsupported };
    changes.push(...group.changes.filter(({ kind }) => kinds.has(kind)));
    reached = group.lastSeq;
  }
  return { to: reached, changes };
}

async function readGroups(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  from: number,
): Promise<readonly NumberedGroup[]> {
  const found =
    await sql<NumberedGroup>`${prepared}select first_seq as "firstSeq", last_seq as "lastSeq", change_count as changes,
      byte_count as bytes
    from feed_group where facility_id = ${facilityId} and gateway_id = ${gatewayId} and last_seq > ${from}
    order by last_seq limit ${changesMax}`.execute(transaction);
  return found.rows;
}

interface ReadGroup {
  readonly lastSeq: number;
  readonly changes: readonly FeedChange[];
}

async function readChanges(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly ReadGroup[]> {
  const found = await sql<StoredChange & { seq: number; last_seq: number }>`${prepared}
    select c.op, c.kind, c.key, c.row, g.first_seq + c.place as seq, g.last_seq
    from feed_group g join feed_change c on c.facility_id = g.facility_id and c.group_id = g.id
    where g.facility_id = ${facilityId} and g.gateway_id = ${gatewayId} and g.last_seq > ${from} and g.last_seq <= ${to}
    order by g.last_seq, c.place`.execute(transaction);
  const groups = new Map<number, FeedChange[]>();
  for (const { seq, last_seq: lastSeq, ...stored } of found.rows) {
    const changes = groups.get(lastSeq) ?? [];
    groups.set(lastSeq, changes);
    changes.push(numberedChange(stored, seq));
  }
  return [...groups].map(([lastSeq, changes]) => ({ lastSeq, changes }));
}
