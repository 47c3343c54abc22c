/** What is stored of a gateway's history, as far as an upload touches it. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { JournalUpload } from '#shared/contract/sync/journal.ts';
import { invariant } from '#shared/invariant.ts';
import { toBase64url } from '#shared/signed-statement.ts';
import type { UploadFacts } from './judge-upload.ts';
import type { QueueOwner } from './queue-owner.ts';

interface HeadRow {
  readonly epoch: number;
  readonly last_seq: number;
  readonly last_hash: Buffer;
  readonly first_key: Buffer;
  readonly next_key: Buffer;
}

type StoredFacts = Pick<UploadFacts, 'gateway' | 'stand' | 'stored' | 'keyBefore'>;

export async function readJournalFacts(
  transaction: TenantTransaction,
  owner: QueueOwner,
  upload: JournalUpload,
): Promise<StoredFacts> {
  const { facilityId, gatewayId } = owner;
  const found = await sql<HeadRow>`select epoch, last_seq, last_hash, first_key, next_key from journal_head
    where facility_id = ${facilityId} and gateway_id = ${gatewayId} order by epoch desc limit 1`.execute(transaction);
  const head = found.rows[0];
  invariant(head, 'a gateway comes in with the beginning of its history');
  // A later epoch stands on what was before it, also where nothing of it has come yet.
  const isBegun = head.last_seq > 0 || !head.last_hash.equals(Buffer.alloc(32));
  const nextKey = toBase64url(head.next_key);
  const stand = {
    epoch: head.epoch,
    seq: head.last_seq,
    hash: isBegun ? head.last_hash.toString('hex') : undefined,
    nextKey,
  };
  const isOverlap = upload.epoch === head.epoch && upload.firstSeq <= head.last_seq;
  return {
    gateway: gatewayId,
    stand,
    stored: upload.epoch === head.epoch ? await readHashes(transaction, owner, upload) : new Map(),
    keyBefore: isOverlap ? await readKeyBefore(transaction, owner, { upload, head }) : nextKey,
  };
}

async function readHashes(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { epoch, firstSeq, entries }: JournalUpload,
): Promise<ReadonlyMap<number, string>> {
  const found = await sql<{ seq: number; hash: Buffer }>`select seq, hash from journal_entry
    where facility_id = ${facilityId} and gateway_id = ${gatewayId} and epoch = ${epoch}
      and seq between ${firstSeq - 1} and ${firstSeq + entries.length}`.execute(transaction);
  return new Map(found.rows.map(({ seq, hash }) => [seq, hash.toString('hex')]));
}

/** The key that signs the first head at or after `firstSeq`. */
async function readKeyBefore(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { upload, head }: { readonly upload: JournalUpload; readonly head: HeadRow },
): Promise<string> {
  const here = sql`facility_id = ${facilityId} and gateway_id = ${gatewayId} and epoch = ${upload.epoch}`;
  const found = await sql<{ next_key: Buffer }>`
    (select seq, next_key from journal_signed_head where ${here} and seq < ${upload.firstSeq} order by seq desc limit 1)
    union all
    (select to_seq, next_key from journal_gap where ${here} and to_seq < ${upload.firstSeq} order by to_seq desc limit 1)
    order by seq desc limit 1`.execute(transaction);
  return toBase64url(found.rows[0]?.next_key ?? head.first_key);
}
