/** A token for an integration: one facility, the actions it needs, revocable at any time. Shown once, kept as a hash. */
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { type Refused, refused } from '#shared/outcome.ts';
import { type Action, actions } from '#shared/role.ts';
import { newToken } from './secret-token.ts';

/** What a program cannot be given: to make others like itself, or to bring people in, which takes a rank. */
const personal: readonly Action[] = ['manage_token', 'invite_member', 'import_facility'];
export const tokenActions = actions.filter((action) => !personal.includes(action));

interface NewServiceToken {
  readonly facilityId: string;
  readonly byUser: string;
  readonly name: string;
  readonly actions: readonly Action[];
  /** `null`: until it is revoked. */
  readonly days: number | null;
}

export async function createServiceToken(
  transaction: TenantTransaction,
  input: NewServiceToken,
): Promise<{ readonly id: string; readonly token: string }> {
  const { token, hash } = newToken('kst');
  const id = newId<'token'>('tok');
  await asVerb(transaction, 'token.create', undefined, async () => {
    await transaction
      .insertInto('service_token')
      .values({
        facility_id: input.facilityId,
        id,
        name: input.name,
        actions: [...new Set(input.actions)],
        token_hash: hash,
        created_by: input.byUser,
        expires_at: input.days === null ? null : sql<Date>`now() + make_interval(days => ${input.days})`,
      })
      .execute();
    const detail = { actions: input.actions };
    await audit(transaction, input.facilityId, { action: 'token.created', entityId: id, detail });
  });
  return { id, token };
}

type Revoked = { readonly status: 'applied'; readonly to: 'revoked' } | RevokedBefore | Refused;
interface RevokedBefore {
  readonly status: 'noop';
  readonly code: 'ALREADY_REVOKED';
}

/** From its commit on the token is nobody. */
export async function revokeServiceToken(
  transaction: TenantTransaction,
  place: { readonly facilityId: string; readonly id: string },
): Promise<Revoked> {
  return asVerb(transaction, 'token.revoke', undefined, async () => {
    const row = await transaction
      .selectFrom('service_token')
      .select('revoked_at')
      .where('facility_id', '=', place.facilityId)
      .where('id', '=', place.id)
      .forUpdate()
      .executeTakeFirst();
    if (!row) return refused('NOT_FOUND');
    if (row.revoked_at !== null) return { status: 'noop', code: 'ALREADY_REVOKED' };
    await transaction
      .updateTable('service_token')
      .set((columns) => ({ revoked_at: sql<Date>`now()`, version: columns('version', '+', 1) }))
      .where('facility_id', '=', place.facilityId)
      .where('id', '=', place.id)
      .execute();
    await audit(transaction, place.facilityId, { action: 'token.revoked', entityId: place.id });
    return { status: 'applied', to: 'revoked' };
  });
}
