/**
 * Gives somebody of a facility another role, or none. Never for oneself, never above one's own rank, neither the old role
 * nor the new; row security holds the same, whatever is written here.
 *
 * Guarantee: changes of one facility's roles take turns, and each is judged by the roles as they stand in its turn, so that
 * two owners who take each other's role do not both succeed.
 */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import type { Code } from '#shared/code.ts';
import { type Refused, refused } from '#shared/outcome.ts';
import { mayAssign, type RoleKey, toRoleKey } from '#shared/role.ts';

export interface RoleChange {
  readonly facilityId: string;
  /** Who changes. */
  readonly byUser: string;
  /** Whose role. */
  readonly userId: string;
  /** `null` takes it away. */
  readonly role: RoleKey | null;
  /** The version the caller saw. */
  readonly version: number;
}

export type RoleOutcome =
  | { readonly status: 'applied'; readonly to: RoleKey | 'none' }
  | { readonly status: 'noop'; readonly code: Code }
  | { readonly status: 'conflict'; readonly code: Code; readonly current: string }
  | Refused;

export async function changeRole(transaction: TenantTransaction, change: RoleChange): Promise<RoleOutcome> {
  return asVerb(transaction, 'role.change', undefined, async () => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`roles ${change.facilityId}`}, 0))`.execute(transaction);
    const by = await roleOf(transaction, change.facilityId, change.byUser);
    const held = await roleOf(transaction, change.facilityId, change.userId);
    if (!held) return refused('NOT_FOUND');
    const refusal = refusalOf(change, by?.role, held.role);
    if (refusal) return refused(refusal);
    if (held.version !== change.version) return { status: 'conflict', code: 'VERSION_STALE', current: held.role };
    if (held.role === change.role) return { status: 'noop', code: 'ALREADY_DONE' };
    await write(transaction, change);
    const detail = { from: held.role, to: change.role ?? 'none' };
    await audit(transaction, change.facilityId, { action: 'role.changed', entityId: change.userId, detail });
    return { status: 'applied', to: change.role ?? 'none' };
  });
}

function refusalOf(change: RoleChange, by: RoleKey | undefined, held: RoleKey): Code | undefined {
  if (change.userId === change.byUser) return 'ROLE_OF_ONESELF';
  if (by === undefined) return 'NOT_AUTHORIZED';
  const isAbove = !mayAssign(by, held) || (change.role !== null && !mayAssign(by, change.role));
  return isAbove ? 'ROLE_ABOVE_OWN_RANK' : undefined;
}

async function roleOf(
  transaction: TenantTransaction,
  facilityId: string,
  userId: string,
): Promise<{ readonly role: RoleKey; readonly version: number } | undefined> {
  const row = await transaction
    .selectFrom('role_assignment')
    .select(['role', 'version'])
    .where('facility_id', '=', facilityId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  const role = row && toRoleKey(row.role);
  return row && role ? { role, version: row.version } : undefined;
}

async function write(transaction: TenantTransaction, { facilityId, userId, role, byUser }: RoleChange): Promise<void> {
  if (role === null) {
    await transaction
      .deleteFrom('role_assignment')
      .where('facility_id', '=', facilityId)
      .where('user_id', '=', userId)
      .execute();
    return;
  }
  await transaction
    .updateTable('role_assignment')
    .set((row) => ({ role, assigned_by: byUser, version: row('version', '+', 1) }))
    .where('facility_id', '=', facilityId)
    .where('user_id', '=', userId)
    .execute();
}
