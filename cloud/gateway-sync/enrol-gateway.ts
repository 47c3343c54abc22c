/**
 * A gateway comes in: once by each code, and only to wait for a person who compares its fingerprint.
 *
 * Guarantees: a wrong proof changes nothing but the count of wrong proofs, and five close the code; the same gateway may
 * ask as often as it likes, another with the same code is refused; nothing secret leaves before the confirmation.
 * All that is wrong with a code looks the same from outside.
 */
import { timingSafeEqual } from 'node:crypto';
import { sql } from 'kysely';
import type * as z from 'zod';
import { withDatabaseFaults } from '#cloud/database/database-fault.ts';
import { newId } from '#cloud/database/new-id.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import type { Code } from '#shared/code.ts';
import { enrolmentProofStatement, type enrolReply, type enrolRequest } from '#shared/contract/sync/enrolment.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { doorFingerprintOf, enrolmentProofOf } from '#shared/enrolment-code.ts';
import { fromBase64url, publicSignKey, verifyStatement } from '#shared/signed-statement.ts';
import { claimedBy } from './claimed-statement.ts';
import { type GatewayStatus, isServed } from './gateway-machine.ts';
import { signEnrolment } from './sign-enrolment.ts';
import type { SyncParts } from './sync-parts.ts';

export type Proof = z.output<typeof enrolmentProofStatement>;
type Request = z.output<typeof enrolRequest>;
export type EnrolAnswer = z.input<typeof enrolReply> | { readonly refused: Code };

const failuresMax = 5;

export async function enrolGateway(parts: SyncParts, request: Request): Promise<EnrolAnswer> {
  const claimed = claimedBy(request.proof, enrolmentProofStatement);
  if (claimed === undefined) return { refused: 'STATEMENT_INVALID' };
  const key = publicSignKey(fromBase64url(claimed.doorSignKey));
  const verified = await verifyStatement(statementType.enrolmentProof, enrolmentProofStatement, request.proof, key);
  if (verified.kind === 'rejected') return { refused: 'STATEMENT_INVALID' };
  const proof = verified.value;
  const facilityId = await facilityOfCode(parts, proof.codeId);
  if (facilityId === undefined) return { refused: 'ENROLMENT_CODE_INVALID' };
  const claims = { actor: `code:${proof.codeId}`, facilityIds: [facilityId] };
  return await tenantTransaction(parts.database, claims, (transaction) =>
    useCode(transaction, parts, { facilityId, proof, request }),
  );
}

async function facilityOfCode(parts: SyncParts, codeId: string): Promise<string | undefined> {
  const found = await withDatabaseFaults(() =>
    sql<{ facility_id: string }>`select facility_id from app.enrolment_code_facility(${codeId})`.execute(
      parts.database,
    ),
  );
  return found.rows[0]?.facility_id;
}

interface CodeRow {
  readonly secret: string | null;
  readonly gateway_name: string;
  readonly replaces: string | null;
  readonly failures: number;
  readonly is_open: boolean;
  readonly gateway_id: string | null;
}

interface Arrival {
  readonly facilityId: string;
  readonly proof: Proof;
  readonly request: Request;
}

async function useCode(transaction: TenantTransaction, parts: SyncParts, arrival: Arrival): Promise<EnrolAnswer> {
  const { facilityId, proof } = arrival;
  const found = await sql<CodeRow>`select secret, gateway_name, replaces, failures, expires_at > now() as is_open,
      gateway_id
    from enrolment_code where facility_id = ${facilityId} and id = ${proof.codeId} for update`.execute(transaction);
  const code = found.rows[0];
  if (!code?.secret || code.failures >= failuresMax) return { refused: 'ENROLMENT_CODE_INVALID' };
  if (!isProofRight(code.secret, proof)) {
    await sql`update enrolment_code set failures = failures + 1
      where facility_id = ${facilityId} and id = ${proof.codeId}`.execute(transaction);
    return { refused: 'ENROLMENT_CODE_INVALID' };
  }
  if (code.gateway_id !== null)
    return await answerAgain(transaction, parts, { ...arrival, gatewayId: code.gateway_id });
  if (!code.is_open) return { refused: 'ENROLMENT_CODE_INVALID' };
  return { status: 'pending', gateway: await admit(transaction, arrival, code) };
}

function isProofRight(secret: string, proof: Proof): boolean {
  const expected = Buffer.from(enrolmentProofOf(secret, proof), 'hex');
  return timingSafeEqual(expected, Buffer.from(proof.code, 'hex'));
}

async function admit(
  transaction: TenantTransaction,
  { facilityId, proof, request }: Arrival,
  code: CodeRow,
): Promise<string> {
  const gatewayId = newId<'gateway'>('gwy');
  const firstKey = Buffer.from(fromBase64url(proof.journalFirstKey));
  await asVerb(transaction, 'gateway.enrol', undefined, async () => {
    await sql`insert into gateway (facility_id, id, name, door_sign_key, door_seal_key, edge_key, door_fingerprint,
        hardware, devices, replaces)
      values (${facilityId}, ${gatewayId}, ${code.gateway_name}, ${Buffer.from(fromBase64url(proof.doorSignKey))},
        ${Buffer.from(fromBase64url(proof.doorSealKey))}, ${Buffer.from(fromBase64url(proof.edgeKey))},
        ${doorFingerprintOf(proof)}, ${request.hardware}, ${[...request.devices]}, ${code.replaces})`.execute(
      transaction,
    );
    await sql`update enrolment_code set gateway_id = ${gatewayId}
      where facility_id = ${facilityId} and id = ${proof.codeId}`.execute(transaction);
    await sql`insert into journal_head (facility_id, gateway_id, epoch, last_hash, first_key, next_key)
      values (${facilityId}, ${gatewayId}, ${proof.journalEpoch}, ${Buffer.alloc(32)}, ${firstKey}, ${firstKey})`.execute(
      transaction,
    );
    await sql`insert into gateway_health (facility_id, gateway_id, report)
      values (${facilityId}, ${gatewayId}, ${JSON.stringify({ version: request.version })}::jsonb)`.execute(
      transaction,
    );
    await audit(transaction, facilityId, {
      action: 'gateway.enrol',
      entityId: gatewayId,
      detail: { code: proof.codeId },
    });
  });
  return gatewayId;
}

interface GatewayRow {
  readonly status: GatewayStatus;
  readonly door_sign_key: Buffer;
  readonly door_seal_key: Buffer;
  readonly edge_key: Buffer;
}

/** The same machine asks again: until somebody confirmed it, and once more if the answer was lost. */
async function answerAgain(
  transaction: TenantTransaction,
  parts: SyncParts,
  { facilityId, proof, gatewayId }: Arrival & { readonly gatewayId: string },
): Promise<EnrolAnswer> {
  const found = await sql<GatewayRow>`select status, door_sign_key, door_seal_key, edge_key from gateway
    where facility_id = ${facilityId} and id = ${gatewayId}`.execute(transaction);
  const row = found.rows[0];
  const isSame =
    row?.door_sign_key.equals(fromBase64url(proof.doorSignKey)) &&
    row.door_seal_key.equals(fromBase64url(proof.doorSealKey)) &&
    row.edge_key.equals(fromBase64url(proof.edgeKey));
  if (!row || !isSame) return { refused: 'ENROLMENT_CODE_USED' };
  if (row.status === 'enrolling') return { status: 'pending', gateway: gatewayId };
  if (!isServed(row.status)) return { refused: 'GATEWAY_REVOKED' };
  return await signEnrolment(transaction, parts, { facilityId, gatewayId });
}
