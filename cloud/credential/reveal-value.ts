/** Shows a PIN or a pass once more, to whoever may issue one. That it was shown is audited. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import type { Code } from '#shared/code.ts';
import { credentialValueName } from './draw-pins.ts';
import type { IssuedSecret } from './insert-credentials.ts';

export type Revealed =
  | { readonly status: 'shown'; readonly secret: IssuedSecret }
  | { readonly status: 'refused'; readonly code: Code };

export function revealValue(
  transaction: TenantTransaction,
  sealer: Sealer,
  facility: string,
  id: string,
): Promise<Revealed> {
  return asVerb(transaction, 'credential.reveal', undefined, async () => {
    const found = await sql<{ kind: string; value_sealed: Buffer | null }>`select kind, value_sealed from credential
      where facility_id = ${facility} and id = ${id}`.execute(transaction);
    const [row] = found.rows;
    if (!row) return { status: 'refused', code: 'NOT_FOUND' };
    if (row.kind === 'card') return { status: 'refused', code: 'KIND_UNSUITED' };
    if (row.value_sealed === null) return { status: 'refused', code: 'VALUE_GONE' };
    const value = sealer.open(credentialValueName(id), row.value_sealed).toString('utf8');
    await audit(transaction, facility, { action: 'credential.revealed', entityId: id });
    return { status: 'shown', secret: row.kind === 'pin' ? { pin: value } : { pass: value } };
  });
}
