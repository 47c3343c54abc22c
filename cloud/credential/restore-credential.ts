/** Puts a suspended credential back in force, if everything it rests on still stands. */
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Outcome } from '#shared/outcome.ts';
import { type CredentialCall, runCredentialVerb } from './credential-verb.ts';
import type { CredentialStatus } from './machine.ts';

export const restoreCredential = (
  transaction: TenantTransaction,
  call: CredentialCall,
): Promise<Outcome<CredentialStatus>> => runCredentialVerb(transaction, 'restore', call);
