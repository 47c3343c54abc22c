/** What a confirmed gateway gets: who it is, where, the key by which credentials are found, and whom to believe. */
import { sql } from 'kysely';
import type * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { enrolReply } from '#shared/contract/sync/enrolment.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { invariant } from '#shared/invariant.ts';
import { sealFor } from '#shared/sealed-box.ts';
import { signStatement, toBase64url } from '#shared/signed-statement.ts';
import { readFeedHead } from './feed-head.ts';
import type { SyncParts } from './sync-parts.ts';

interface Enrolled {
  readonly facilityId: string;
  readonly gatewayId: string;
}

export async function signEnrolment(
  transaction: TenantTransaction,
  parts: SyncParts,
  { facilityId, gatewayId }: Enrolled,
): Promise<z.input<typeof enrolReply>> {
  const found = await sql<{ name: string; door_fingerprint: string; door_seal_key: Buffer }>`
    select f.name, g.door_fingerprint, g.door_seal_key
    from gateway g join facility f on f.id = g.facility_id
    where g.facility_id = ${facilityId} and g.id = ${gatewayId}`.execute(transaction);
  const row = found.rows[0];
  invariant(row, 'a gateway that was let in is there');
  const keys = parts.keys();
  const { seq } = await readFeedHead(transaction, facilityId, gatewayId);
  const lookupKey = await parts.lookupKeyOf(transaction, facilityId);
  const statement = {
    gateway: gatewayId,
    facility: facilityId,
    facilityName: row.name,
    doorFingerprint: row.door_fingerprint,
    lookupKeySealed: sealFor(row.door_seal_key, lookupKeyPurpose, lookupKey),
    cursor: seq,
    issuedAt: parts.now(),
  };
  const enrolment = await signStatement(statementType.enrolment, statement, keys.signKey);
  return { status: 'enrolled', enrolment, root: toBase64url(keys.root), certificate: keys.certificate };
}

/** What the box is sealed for. */
export const lookupKeyPurpose = 'lookup key';
