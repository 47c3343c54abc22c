/** Takes a credential out of force until it is restored. */
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Outcome } from '#shared/outcome.ts';
import { type CredentialCall, runCredentialVerb } from './credential-verb.ts';
import type { CredentialStatus } from './machine.ts';

export const suspendCredential = (
  transaction: TenantTransaction,
  call: CredentialCall,
): Promise<Outcome<CredentialStatus>> => runCredentialVerb(transaction, 'suspend', call);
