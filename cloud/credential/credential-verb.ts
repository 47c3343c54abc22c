/** One transition of one credential: its holder is locked first, its end forgets its value, and the gateways hear of it. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { audit, runVerb } from '#cloud/database/verb.ts';
import { wallMs } from '#shared/instant.ts';
import { type Outcome, refused } from '#shared/outcome.ts';
import { isLive } from './derive-feed-rows.ts';
import { keyHolds } from './derive-key.ts';
import { readHolderFacts } from './key-facts.ts';
import { lockHolders } from './lock-rows.ts';
import { type CredentialEvent, type CredentialStatus, credentialMachine } from './machine.ts';
import { publish } from './publish.ts';

export interface CredentialCall {
  readonly facility: string;
  readonly id: string;
  /** The one the caller saw; left out, it acts on whatever is there. */
  readonly version?: number | undefined;
  readonly reason?: string | undefined;
}

interface CredentialRow {
  readonly facility_id: string;
  readonly id: string;
  readonly version: number;
  readonly holder_id: string;
  readonly valid_until: Date | null;
}

/** As audit tells it. */
const pastOf = { suspend: 'suspended', restore: 'restored', revoke: 'revoked', expire: 'expired' } as const;

export async function runCredentialVerb(
  transaction: TenantTransaction,
  event: CredentialEvent,
  { facility, id, version, reason }: CredentialCall,
): Promise<Outcome<CredentialStatus>> {
  const holder = await holderOf(transaction, facility, id);
  if (holder === undefined) return refused('NOT_FOUND');
  await lockHolders(transaction, facility, [holder]);
  const factsOf = await readHolderFacts(transaction, facility, [holder]);
  return runVerb(transaction, {
    name: `credential.${event}`,
    machine: credentialMachine,
    event,
    table: 'credential',
    facilityId: facility,
    id,
    absent: 'NOT_FOUND',
    ...(version === undefined ? {} : { expectedVersion: version }),
    ...(reason === undefined ? {} : { reason }),
    conditions: (row: CredentialRow) => {
      const validUntil = row.valid_until === null ? null : wallMs(row.valid_until.getTime());
      const holds = keyHolds({ ...factsOf(holder), validUntil });
      return { ...holds, isTimeOver: !holds.isWithinTime };
    },
    columns: (_row, { to }) => (isLive(to) ? {} : { value_sealed: null, ended_at: sql`now()` }),
    effects: async (_row, { from, to }) => {
      await audit(transaction, facility, { action: `credential.${pastOf[event]}`, entityId: id, detail: { from, to } });
      await publish(transaction, facility, { holders: [holder] });
    },
  });
}

/** Whose it is; that never changes. */
export async function holderOf(
  transaction: TenantTransaction,
  facilityId: string,
  credential: string,
): Promise<string | undefined> {
  const found = await sql<{ holder_id: string }>`select holder_id from credential
    where facility_id = ${facilityId} and id = ${credential}`.execute(transaction);
  return found.rows[0]?.holder_id;
}
