/** Grants a credential a door, or every door of a group. */
import { sql } from 'kysely';
import type * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { arePinsDense } from './check-issued.ts';
import { holderOf } from './credential-verb.ts';
import { insertGrants } from './insert-credentials.ts';
import type { newGrantOfCredential } from './issue-body.ts';
import { lockHolders, lockPins, lockReferences } from './lock-rows.ts';
import { publish } from './publish.ts';
import type { Reference } from './thing.ts';
import { areUsesOfOneGateway } from './uses-gateway.ts';
import { type RefusedWrite, refusedAt, type Written } from './written.ts';

type GrantBody = z.output<typeof newGrantOfCredential>;

/** A refusal is to be rolled back. */
export function createGrant(transaction: TenantTransaction, facility: string, grant: GrantBody): Promise<Written> {
  return asVerb(transaction, 'grant.create', undefined, async (): Promise<Written> => {
    const { credential, door = null, group = null, schedule } = grant;
    const missing = await lockReferences(transaction, facility, referencesOf(grant));
    if (missing) return refusedAt('REFERENCE_UNKNOWN', missing.path, 'field.reference_unknown');
    await lockPins(transaction, facility);
    const holder = await holderOf(transaction, facility, credential);
    if (holder === undefined) return refusedAt('REFERENCE_UNKNOWN', '/body/credential', 'field.reference_unknown');
    await lockHolders(transaction, facility, [holder]);
    const unsuited = await unsuitedOf(transaction, facility, credential);
    if (unsuited) return unsuited;
    const [id = ''] = await insertGrants(transaction, facility, [grant]);
    const refused = await refusalOf(transaction, facility, credential);
    if (refused) return refused;
    const detail = { credential, door, group, schedule };
    await audit(transaction, facility, { action: 'grant.created', entityId: id, detail });
    await publish(transaction, facility, { holders: [holder] });
    return { status: 'written', id };
  });
}

function referencesOf({ door, group, schedule }: GrantBody): readonly Reference[] {
  return [
    ...(schedule === null ? [] : [{ path: '/body/schedule', table: 'schedule', id: schedule } as const]),
    ...(door === undefined ? [] : [{ path: '/body/door', table: 'door', id: door } as const]),
    ...(group === undefined ? [] : [{ path: '/body/group', table: 'door_group', id: group } as const]),
  ];
}

async function refusalOf(
  transaction: TenantTransaction,
  facility: string,
  credential: string,
): Promise<RefusedWrite | undefined> {
  if (await arePinsDense(transaction, facility, [credential]))
    return refusedAt('PIN_SPACE_EXHAUSTED', '/body/credential', 'field.invalid');
  const areCounted = await areUsesOfOneGateway(transaction, facility, { credentials: [credential] });
  return areCounted ? undefined : refusedAt('USES_NEED_ONE_GATEWAY', '/body/credential', 'field.invalid');
}

/** A pass says its doors itself, and what ended is granted nothing more. */
async function unsuitedOf(
  transaction: TenantTransaction,
  facility: string,
  credential: string,
): Promise<RefusedWrite | undefined> {
  const found = await sql<{ kind: string; status: string }>`select kind, status from credential
    where facility_id = ${facility} and id = ${credential}`.execute(transaction);
  const [row] = found.rows;
  const path = '/body/credential';
  if (row?.kind === 'pass') return refusedAt('KIND_UNSUITED', path, 'field.invalid');
  if (row?.status === 'revoked') return refusedAt('CREDENTIAL_REVOKED', path, 'field.invalid');
  return row?.status === 'expired' ? refusedAt('CREDENTIAL_EXPIRED', path, 'field.invalid') : undefined;
}
