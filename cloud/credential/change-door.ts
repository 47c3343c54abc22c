/** Moves what a credential is granted from one door to another, under the same terms: another room, the same card. */
import { sql } from 'kysely';
import { setLocal, type TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import type { Outcome } from '#shared/outcome.ts';
import { arePinsDense } from './check-issued.ts';
import { type CredentialCall, holderOf } from './credential-verb.ts';
import { isLive } from './derive-feed-rows.ts';
import { type GrantColumns, insertGrants } from './insert-credentials.ts';
import { lockHolders, lockPins, lockReferences } from './lock-rows.ts';
import { type CredentialStatus, credentialMachine } from './machine.ts';
import { publish } from './publish.ts';
import { areUsesOfOneGateway } from './uses-gateway.ts';

export interface DoorChange extends CredentialCall {
  readonly from: string;
  readonly to: string;
}

type Changed = Outcome<CredentialStatus>;

/** The same door twice is a noop. A pass names its doors for good: reissue it. A refusal is to be rolled back. */
export function changeDoor(transaction: TenantTransaction, change: DoorChange): Promise<Changed> {
  const { facility, id, from, to, reason } = change;
  return asVerb(transaction, 'credential.change_door', reason, async (): Promise<Changed> => {
    const missing = await lockReferences(transaction, facility, [{ path: '', table: 'door', id: to }]);
    if (missing) return { status: 'refused', code: 'REFERENCE_UNKNOWN' };
    await lockPins(transaction, facility);
    const holder = await holderOf(transaction, facility, id);
    if (holder === undefined) return { status: 'refused', code: 'NOT_FOUND' };
    await lockHolders(transaction, facility, [holder]);
    const row = await lockCredential(transaction, change);
    if ('outcome' in row) return row.outcome;
    if (from === to) return { status: 'noop', code: 'ALREADY_DONE' };
    const moved = await takeGrants(transaction, change);
    if (moved.length === 0) return { status: 'refused', code: 'DOOR_NOT_GRANTED' };
    await insertGrants(
      transaction,
      facility,
      moved.map((grant) => ({ ...grant, door: to })),
    );
    const refused = await refusalOf(transaction, change);
    if (refused) return refused;
    await sql`update credential set version = version + 1 where facility_id = ${facility} and id = ${id}`.execute(
      transaction,
    );
    await audit(transaction, facility, { action: 'credential.door_changed', entityId: id, detail: { from, to } });
    await publish(transaction, facility, { holders: [holder] });
    return { status: 'applied', to: row.status };
  });
}

interface Row {
  readonly status: CredentialStatus;
  readonly kind: string;
  readonly version: number;
}

async function lockCredential(
  transaction: TenantTransaction,
  { facility, id, version }: DoorChange,
): Promise<Row | { readonly outcome: Changed }> {
  const found = await sql<Row>`select status, kind, version from credential
    where facility_id = ${facility} and id = ${id} for update`.execute(transaction);
  const [row] = found.rows;
  if (!row) return { outcome: { status: 'refused', code: 'NOT_FOUND' } };
  if (version !== undefined && version !== row.version)
    return { outcome: { status: 'conflict', code: credentialMachine.conflict, current: row.status } };
  if (!isLive(row.status)) return { outcome: { status: 'refused', code: 'ILLEGAL_TRANSITION' } };
  return row.kind === 'pass' ? { outcome: { status: 'refused', code: 'KIND_UNSUITED' } } : row;
}

/** Takes away what is granted at the old door. */
async function takeGrants(
  transaction: TenantTransaction,
  { facility, id, from }: DoorChange,
): Promise<readonly GrantColumns[]> {
  await setLocal(transaction, { 'app.include_deleted': 'on' });
  const taken = await sql<GrantColumns>`update credential_grant set deleted_at = now(), version = version + 1
    where facility_id = ${facility} and credential_id = ${id} and door_id = ${from} and deleted_at is null
    returning credential_id as credential, schedule_id as schedule, valid_from as "validFrom", valid_until as "validUntil"`.execute(
    transaction,
  );
  await setLocal(transaction, { 'app.include_deleted': '' });
  return taken.rows;
}

async function refusalOf(transaction: TenantTransaction, { facility, id }: DoorChange): Promise<Changed | undefined> {
  if (await arePinsDense(transaction, facility, [id])) return { status: 'refused', code: 'PIN_SPACE_EXHAUSTED' };
  const areCounted = await areUsesOfOneGateway(transaction, facility, { credentials: [id] });
  return areCounted ? undefined : { status: 'refused', code: 'USES_NEED_ONE_GATEWAY' };
}
