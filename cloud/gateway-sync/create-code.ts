/** Makes the code by which one gateway may come in, for a quarter of an hour. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import type { Code } from '#shared/code.ts';
import { crockford, formatEnrolmentCode, rootPrintOf } from '#shared/enrolment-code.ts';

export interface CodeRequest {
  readonly facilityId: string;
  /** As people will know the gateway. */
  readonly name: string;
  /** The gateway in whose place it comes. */
  readonly replaces: string | null;
  readonly actor: string;
  /** Raw public key of the root. */
  readonly root: Uint8Array;
}

export type CreatedCode =
  | { readonly status: 'created'; readonly code: string; readonly expiresAt: Date }
  | { readonly status: 'refused'; readonly code: Code };

/** The code is shown now and never again. */
export async function createEnrolmentCode(transaction: TenantTransaction, request: CodeRequest): Promise<CreatedCode> {
  const { facilityId, name, replaces, actor, root } = request;
  if (replaces !== null && !(await isReplaceable(transaction, facilityId, replaces))) {
    return { status: 'refused', code: 'REFERENCE_UNKNOWN' };
  }
  const codeId = crockford(randomBytes(5));
  const secret = crockford(randomBytes(10));
  return await asVerb(transaction, 'enrolment_code.create', undefined, async () => {
    const made = await sql<{
      expires_at: Date;
    }>`insert into enrolment_code (facility_id, id, secret, gateway_name, replaces,
        expires_at, created_by)
      values (${facilityId}, ${codeId}, ${secret}, ${name}, ${replaces}, now() + interval '15 minutes', ${actor})
      returning expires_at`.execute(transaction);
    await audit(transaction, facilityId, { action: 'enrolment_code.create', entityId: codeId, detail: { replaces } });
    const code = formatEnrolmentCode({ codeId, secret, rootPrint: rootPrintOf(root) });
    return { status: 'created', code, expiresAt: made.rows[0]?.expires_at ?? new Date(0) };
  });
}

/** Also one that was revoked: its doors still wait. One whose place was taken has none left. */
async function isReplaceable(transaction: TenantTransaction, facilityId: string, gatewayId: string): Promise<boolean> {
  const found = await sql`select from gateway
    where facility_id = ${facilityId} and id = ${gatewayId} and status in ('active', 'quarantined', 'revoked')`.execute(
    transaction,
  );
  return found.rows.length > 0;
}
