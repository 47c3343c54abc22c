/** A facility comes into being with its secrets; whoever makes it becomes its owner. */
import { randomBytes } from 'node:crypto';
import { publish } from '#cloud/credential/publish.ts';
import { newId } from '#cloud/database/new-id.ts';
import { setLocal, type TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import type { Sealer } from './sealed-value.ts';

export interface NewFacility {
  readonly name: string;
  /** IANA zone. */
  readonly zone: string;
  readonly language: 'en' | 'ja';
}

export const lookupKeyName = (facilityId: string): string => `lookup key ${facilityId}`;

const saltBytes = 16;
const lookupKeyBytes = 32;

/**
 * Allowed by the caller before: an owner in the organization, or its maker.
 * From here on the transaction's claims are the new facility's.
 */
export async function createFacility(
  transaction: TenantTransaction,
  sealer: Sealer,
  by: { readonly userId: string; readonly organizationId: string },
  facility: NewFacility,
): Promise<string> {
  const id = newId<'facility'>('fac');
  await setLocal(transaction, {
    'app.facility_ids': `{${id}}`,
    'app.roles': JSON.stringify({ [id]: 'owner' }),
    'app.organization_id': by.organizationId,
  });
  await asVerb(transaction, 'facility.create', undefined, async () => {
    await transaction
      .insertInto('facility')
      .values({
        id,
        organization_id: by.organizationId,
        name: facility.name,
        zone: facility.zone,
        language: facility.language,
        pin_salt: randomBytes(saltBytes),
        lookup_key_sealed: sealer.seal(lookupKeyName(id), randomBytes(lookupKeyBytes)),
        created_by: by.userId,
      })
      .execute();
    await transaction
      .insertInto('role_assignment')
      .values({
        facility_id: id,
        id: newId('rol'),
        user_id: by.userId,
        role: 'owner',
        assigned_by: by.userId,
      })
      .execute();
    await audit(transaction, id, { action: 'facility.created', entityId: id });
    await publish(transaction, id, { facility: true });
  });
  return id;
}
