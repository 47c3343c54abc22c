/** By which a facility’s credentials are found: its lookup key, sealed under the cloud’s key, and the salt of its PINs. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { lookupKeyName } from '#cloud/identity/create-facility.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import { type CredentialLookup, createCredentialLookup } from '#shared/credential-lookup.ts';
import { invariant } from '#shared/invariant.ts';

export interface FacilityKeys {
  readonly lookup: CredentialLookup;
  /** 16 bytes. */
  readonly pinSalt: Uint8Array;
}

/** @throws SealBroken where the key file is another. */
export async function readFacilityKeys(
  transaction: TenantTransaction,
  sealer: Sealer,
  facilityId: string,
): Promise<FacilityKeys> {
  const found = await sql<{ lookup_key_sealed: Buffer; pin_salt: Buffer }>`
    select lookup_key_sealed, pin_salt from facility where id = ${facilityId}`.execute(transaction);
  const [row] = found.rows;
  invariant(row, 'a facility that was claimed is there');
  const key = sealer.open(lookupKeyName(facilityId), row.lookup_key_sealed);
  return { lookup: createCredentialLookup(key), pinSalt: row.pin_salt };
}
