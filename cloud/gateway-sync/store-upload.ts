/** Writes a verified piece of history: entries, values about persons, heads, the place reached, and what is to be processed. */
import { sql } from 'kysely';
import { prepared } from '#cloud/database/prepared.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { JournalGap, JournalUpload, UploadedEntry } from '#shared/contract/sync/journal.ts';
import { fromBase64url } from '#shared/signed-statement.ts';
import type { UploadJudgement } from './judge-upload.ts';
import { isProcessed } from './process-entry.ts';
import type { QueueOwner } from './queue-owner.ts';

type Stored = Extract<UploadJudgement, { kind: 'store' }>;
type Fork = Extract<UploadJudgement, { kind: 'forked' }>;

interface Storing {
  readonly upload: JournalUpload;
  /** The verified statement of the upload's gap. */
  readonly gap: JournalGap | undefined;
  readonly stored: Stored;
}

export async function storeUpload(
  transaction: TenantTransaction,
  owner: QueueOwner,
  { upload, gap, stored }: Storing,
): Promise<void> {
  await moveHead(transaction, owner, stored);
  await insertEntries(transaction, owner, upload, stored);
  await insertHeads(transaction, owner, stored);
  if (stored.gap && gap && upload.gap) {
    const { epoch } = stored.stand;
    const { fromSeq, toSeq } = stored.gap;
    await sql`insert into journal_gap (facility_id, gateway_id, epoch, from_seq, to_seq, last_hash, next_key, statement)
      values (${owner.facilityId}, ${owner.gatewayId}, ${epoch}, ${fromSeq}, ${toSeq}, ${hex(gap.lastHash)},
        ${raw(gap.nextKey)}, ${upload.gap})`.execute(transaction);
  }
  await queueEvents(transaction, owner, stored);
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const raw = (text: string): Buffer => Buffer.from(fromBase64url(text));

async function moveHead(transaction: TenantTransaction, owner: QueueOwner, { stand, begins }: Stored): Promise<void> {
  const { epoch, seq, hash = '', nextKey } = stand;
  await sql`${prepared}insert into journal_head (facility_id, gateway_id, epoch, last_seq, last_hash, first_key, next_key)
    values (${owner.facilityId}, ${owner.gatewayId}, ${epoch}, ${seq}, ${hex(hash)}, ${raw(begins?.firstKey ?? nextKey)},
      ${raw(nextKey)})
    on conflict (facility_id, gateway_id, epoch) do update set last_seq = excluded.last_seq,
      last_hash = excluded.last_hash, next_key = excluded.next_key, moved_at = now()`.execute(transaction);
}

async function insertEntries(
  transaction: TenantTransaction,
  owner: QueueOwner,
  upload: JournalUpload,
  stored: Stored,
): Promise<void> {
  const firstNew = stored.entries[0]?.seq ?? 0;
  const before = upload.entries.find(({ seq }) => seq === firstNew - 1)?.hash ?? upload.prevHash;
  const rows = stored.entries.map(({ personal: _, ...entry }, index) => ({
    ...entry,
    prevHash: stored.entries[index - 1]?.hash ?? before,
  }));
  const { facilityId, gatewayId } = owner;
  const { epoch } = stored.stand;
  await sql`${prepared}insert into journal_entry (facility_id, gateway_id, epoch, seq, boot_id, at, clock_state, kind, door_id,
      request_id, body, personal_hash, prev_hash, hash)
    select ${facilityId}, ${gatewayId}, ${epoch}, e.seq, e."bootId", to_timestamp(e.at::float8 / 1000), e."clockState",
      e.kind, e.door, e."requestId", e.body, decode(e."personalHash", 'hex'), decode(e."prevHash", 'hex'),
      decode(e.hash, 'hex')
    from json_to_recordset(${JSON.stringify(rows)}::json) as e(seq bigint, "bootId" text, at bigint, "clockState" text,
      kind text, door text, "requestId" text, body text, "personalHash" text, "prevHash" text, hash text)`.execute(
    transaction,
  );
  await insertPersonal(transaction, owner, { epoch, entries: stored.entries });
}

async function insertPersonal(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { epoch, entries }: { readonly epoch: number; readonly entries: readonly UploadedEntry[] },
): Promise<void> {
  const rows = entries.flatMap(({ seq, personal }) =>
    personal ? [{ seq, salt: raw(personal.salt).toString('hex'), value: personal.value }] : [],
  );
  if (rows.length === 0) return;
  await sql`insert into journal_personal (facility_id, gateway_id, epoch, seq, salt, value)
    select ${facilityId}, ${gatewayId}, ${epoch}, e.seq, decode(e.salt, 'hex'), e.value
    from json_to_recordset(${JSON.stringify(rows)}::json) as e(seq bigint, salt text, value text)`.execute(transaction);
}

async function insertHeads(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { heads }: Stored,
): Promise<void> {
  const rows = heads.map(({ nextKey, signature, ...head }) => ({
    ...head,
    nextKey: raw(nextKey).toString('hex'),
    signature: raw(signature).toString('hex'),
  }));
  await sql`${prepared}insert into journal_signed_head (facility_id, gateway_id, epoch, seq, at, hash, next_key, signature)
    select ${facilityId}, ${gatewayId}, h.epoch, h.seq, to_timestamp(h.at::float8 / 1000), decode(h.hash, 'hex'),
      decode(h."nextKey", 'hex'), decode(h.signature, 'hex')
    from json_to_recordset(${JSON.stringify(rows)}::json) as h(epoch int, seq bigint, at bigint, hash text,
      "nextKey" text, signature text)`.execute(transaction);
}

/** Entries that mean something to do here become events of the inbox, processed exactly once. */
async function queueEvents(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { entries, stand }: Stored,
): Promise<void> {
  const rows = entries.filter(isProcessed).map(({ seq, kind, at, door, requestId, body }) => ({
    event_id: `${stand.epoch}.${seq}`,
    type: kind,
    payload: { gatewayId, at, door, requestId, body },
  }));
  if (rows.length === 0) return;
  await sql`insert into inbox_event (facility_id, source, event_id, type, payload)
    select ${facilityId}, ${`gateway:${gatewayId}`}, e.event_id, e.type, e.payload
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as e(event_id text, type text, payload jsonb)
    on conflict do nothing`.execute(transaction);
}

/** Keeps the other history beside ours, from the entry on in which it differs. */
export async function storeFork(
  transaction: TenantTransaction,
  { facilityId, gatewayId }: QueueOwner,
  { epoch, fork }: { readonly epoch: number; readonly fork: Fork },
): Promise<void> {
  const [first] = fork.entries;
  const told = first?.hash ?? '0'.repeat(64);
  const held = sql`(select hash from journal_entry where facility_id = ${facilityId} and gateway_id = ${gatewayId}
    and epoch = ${epoch} and seq = ${fork.seq})`;
  // What is about persons stays with the gateway: this is evidence, not history.
  const entries = fork.entries.map(({ personal: _, ...entry }) => ({
    ...entry,
    body: entry.body.replaceAll('\\u0000', ''),
  }));
  await sql`insert into journal_fork (facility_id, gateway_id, epoch, seq, held_hash, told_hash, told)
    values (${facilityId}, ${gatewayId}, ${epoch}, ${fork.seq}, ${held}, ${hex(told)}, ${JSON.stringify(entries)}::jsonb)
    on conflict do nothing`.execute(transaction);
}
