/**
 * Goes over the audit chain of one facility: every event is sealed, every seal follows the one before, and the events
 * still say what was sealed.
 *
 * Guarantees: an event or a seal that was edited, removed, added or moved is found, by its place in the chain.
 * Not promised: what was cut off the end together with its head. Whoever must know keeps the head elsewhere and gives it
 * as `expected`.
 */
import { sql } from 'kysely';
import { type ChainFault, chainStart, createChainCheck } from '#shared/hash-chain.ts';
import type { TenantTransaction } from './tenant-transaction.ts';

export interface AuditHead {
  readonly seq: number;
  /** 64 hexadecimal digits. */
  readonly hash: string;
}

export interface AuditFault {
  /** Place in the chain. */
  readonly seq: number;
  /** `changed`: the event is not what was sealed · `unsealed`: events without a seal · `cut`: the end is missing. */
  readonly fault: ChainFault | 'changed' | 'unsealed' | 'cut';
}

export interface AuditReport {
  readonly head: AuditHead;
  /** At most 100, in order. */
  readonly faults: readonly AuditFault[];
}

interface SealRow extends AuditHead {
  readonly previous: string;
  readonly text: string;
  readonly difference: 'changed' | null;
}

const batch = 1000;
const faultLimit = 100;

/** Run in a repeatable-read transaction with the facility among its claims, or as one who sees all. */
export async function verifyAudit(
  transaction: TenantTransaction,
  facilityId: string,
  expected?: AuditHead,
): Promise<AuditReport> {
  const faults: AuditFault[] = [];
  const check = createChainCheck();
  let head: AuditHead = { seq: 0, hash: chainStart };
  for await (const seal of readSeals(transaction, facilityId)) {
    const fault = check(seal) ?? seal.difference;
    if (fault) faults.push({ seq: seal.seq, fault });
    if (faults.length === faultLimit) break;
    head = { seq: seal.seq, hash: seal.hash };
  }
  const known = [await readHead(transaction, facilityId), expected];
  for (const one of known) {
    const fault = one && (await compareHead(transaction, facilityId, one));
    if (fault) faults.push(fault);
  }
  if (await hasUnsealed(transaction, facilityId)) faults.push({ seq: head.seq + 1, fault: 'unsealed' });
  return { head, faults: faults.slice(0, faultLimit) };
}

/** A head that was noted, here or elsewhere, must still be in the chain as it was. */
async function compareHead(
  transaction: TenantTransaction,
  facilityId: string,
  noted: AuditHead,
): Promise<AuditFault | undefined> {
  if (noted.seq === 0) return undefined;
  const found = await transaction
    .selectFrom('audit_seal')
    .select('hash')
    .where('facility_id', '=', facilityId)
    .where('seq', '=', noted.seq)
    .executeTakeFirst();
  if (!found) return { seq: noted.seq, fault: 'cut' };
  return found.hash === noted.hash ? undefined : { seq: noted.seq, fault: 'relinked' };
}

async function* readSeals(transaction: TenantTransaction, facilityId: string): AsyncGenerator<SealRow> {
  for (let after = 0, isEnd = false; !isEnd; ) {
    const { rows } = await sql<SealRow>`
      select seal.seq, seal.previous, seal.hash, seal.content as text,
        case when seal.content is distinct from app.audit_content(event, seal.seq, seal.sealed_at) then 'changed' end
          as difference
      from audit_seal seal
      left join audit_event event on event.facility_id = seal.facility_id and event.id = seal.event_id
      where seal.facility_id = ${facilityId} and seal.seq > ${after}
      order by seal.seq limit ${batch}`.execute(transaction);
    yield* rows;
    after = rows.at(-1)?.seq ?? after;
    isEnd = rows.length < batch;
  }
}

async function readHead(transaction: TenantTransaction, facilityId: string): Promise<AuditHead | undefined> {
  return transaction
    .selectFrom('audit_head')
    .select(['seq', 'hash'])
    .where('facility_id', '=', facilityId)
    .executeTakeFirst();
}

async function hasUnsealed(transaction: TenantTransaction, facilityId: string): Promise<boolean> {
  const found = await sql`select from audit_event event where facility_id = ${facilityId} and not exists (
    select from audit_seal seal where seal.facility_id = event.facility_id and seal.event_id = event.id) limit 1`.execute(
    transaction,
  );
  return found.rows.length > 0;
}
