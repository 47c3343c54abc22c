/** Takes a credential back for good. */
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Outcome } from '#shared/outcome.ts';
import { type CredentialCall, runCredentialVerb } from './credential-verb.ts';
import type { CredentialStatus } from './machine.ts';

export const revokeCredential = (
  transaction: TenantTransaction,
  call: CredentialCall,
): Promise<Outcome<CredentialStatus>> => runCredentialVerb(transaction, 'revoke', call);
