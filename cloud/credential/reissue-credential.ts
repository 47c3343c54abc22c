/** Issues a new credential in the place of one, with the same holder, terms and grants: the old one is revoked with it. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import type { Outcome } from '#shared/outcome.ts';
import type { CredentialCall } from './credential-verb.ts';
import type { NewGrant } from './issue-body.ts';
import { type IssueDesk, type IssueOutcome, issueCredentials } from './issue-credentials.ts';
import { lockPins, lockReferences } from './lock-rows.ts';
import type { CredentialStatus } from './machine.ts';
import type { NewCredential, NewSecret } from './new-credential.ts';
import { referencesOf } from './prepare-issue.ts';
import { revokeCredential } from './revoke-credential.ts';

export type Reissue =
  /** A card needs the new one. */
  | { readonly status: 'unsuited' }
  | { readonly status: 'kept'; readonly outcome: Outcome<CredentialStatus> }
  | { readonly status: 'replaced'; readonly with: IssueOutcome };

/**
 * A card may be the same one, or another; a PIN is drawn anew.
 * @param secret of the same kind, or of another.
 */
export function reissueCredential(
  transaction: TenantTransaction,
  desk: IssueDesk,
  call: CredentialCall,
  secret: NewSecret | undefined,
): Promise<Reissue> {
  return asVerb(transaction, 'credential.reissue', call.reason, async () => {
    const old = await readOld(transaction, call, secret);
    if (old?.secret === undefined) return old === undefined ? absent : { status: 'unsuited' };
    // In the order of the room: what is granted, the space of PINs, and only then the holder, with the revocation.
    await lockReferences(transaction, call.facility, referencesOf(old));
    if (old.secret.kind === 'pin') await lockPins(transaction, call.facility);
    const outcome = await revokeCredential(transaction, call);
    if (outcome.status !== 'applied') return { status: 'kept', outcome };
    // Whoever writes grants holds the holder's lock: what is read now is what stands.
    const grants = await readOldGrants(transaction, call.facility, call.id);
    const next = { ...old, secret: old.secret, grants };
    const issued = await issueCredentials(transaction, desk, call.facility, [next]);
    if (issued.status === 'issued') {
      const detail = { from: call.id, to: issued.issued[0]?.id };
      await audit(transaction, call.facility, { action: 'credential.reissued', entityId: call.id, detail });
    }
    return { status: 'replaced', with: issued };
  });
}

const absent = { status: 'kept', outcome: { status: 'refused', code: 'NOT_FOUND' } } as const;

interface OldRow {
  readonly holder_id: string;
  readonly kind: 'card' | 'pin' | 'pass';
  readonly pin_digits: number | null;
  readonly valid_from: Date | null;
  readonly valid_until: Date | null;
  readonly lease_ms: number | null;
  readonly uses_max: number | null;
  readonly is_duress: boolean;
  readonly overrides_lockdown: boolean;
  readonly needs_extended_time: boolean;
  readonly is_first_person: boolean;
}

type OldCredential = Omit<NewCredential, 'secret'> & { readonly secret: NewSecret | undefined };

async function readOld(
  transaction: TenantTransaction,
  { facility, id }: CredentialCall,
  secret: NewSecret | undefined,
): Promise<OldCredential | undefined> {
  const found = await sql<OldRow>`select holder_id, kind, pin_digits, valid_from, valid_until, lease_ms, uses_max,
      is_duress, overrides_lockdown, needs_extended_time, is_first_person
    from credential where facility_id = ${facility} and id = ${id}`.execute(transaction);
  const [row] = found.rows;
  if (!row) return undefined;
  const { kind, pin_digits } = row;
  return {
    at: '/body',
    holder: row.holder_id,
    secret: secret ?? sameSecret(kind, pin_digits),
    terms: {
      validFrom: row.valid_from,
      validUntil: row.valid_until,
      leaseMs: row.lease_ms ?? 'unlimited',
      usesMax: row.uses_max,
      isDuress: row.is_duress,
      overridesLockdown: row.overrides_lockdown,
      needsExtendedTime: row.needs_extended_time,
      isFirstPerson: row.is_first_person,
    },
    grants: await readOldGrants(transaction, facility, id),
    replaces: id,
  };
}

function sameSecret(kind: OldRow['kind'], digits: number | null): NewSecret | undefined {
  if (kind === 'pin' && digits !== null) return { kind, digits };
  return kind === 'pass' ? { kind } : undefined;
}

async function readOldGrants(
  transaction: TenantTransaction,
  facility: string,
  id: string,
): Promise<readonly NewGrant[]> {
  const found = await sql<NewGrant>`select door_id as door, group_id as "group", schedule_id as schedule,
      valid_from as "validFrom", valid_until as "validUntil"
    from credential_grant where facility_id = ${facility} and credential_id = ${id} and deleted_at is null
    order by id`.execute(transaction);
  return found.rows.map(({ door, group, ...grant }) => ({
    ...grant,
    door: door ?? undefined,
    group: group ?? undefined,
  }));
}
