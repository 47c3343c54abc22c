/** Invites, takes back, accepts: the verbs of an invitation. Its token is shown once, to whoever invites, and kept as a hash. */
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import { setLocal, type TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit, runVerb } from '#cloud/database/verb.ts';
import type { Outcome } from '#shared/outcome.ts';
import { mayAssign, type RoleKey, toRoleKey } from '#shared/role.ts';
import { invitationMachine } from './invitation-machine.ts';
import { newToken } from './secret-token.ts';

export type InvitationState = (typeof invitationMachine)['initial'];
type InvitationEvent = (typeof invitationMachine)['events'][number];
type Condition = keyof (typeof invitationMachine)['conditions'];

interface InvitationRow {
  readonly facility_id: string;
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly version: number;
  readonly invited_by: string;
  readonly accepted_by: string | null;
  readonly expires_at: Date;
}

interface NewInvitation {
  readonly facilityId: string;
  readonly byUser: string;
  readonly email: string;
  readonly role: RoleKey;
  readonly days: number;
}

/** That the inviter may give the role is decided before, and held by row security. @throws 23505 where one is open. */
export async function invite(
  transaction: TenantTransaction,
  input: NewInvitation,
): Promise<{ readonly id: string; readonly token: string }> {
  const { token, hash } = newToken('kin');
  const id = newId<'invitation'>('inv');
  await asVerb(transaction, 'invitation.send', undefined, async () => {
    await transaction
      .insertInto('invitation')
      .values({
        facility_id: input.facilityId,
        id,
        email: input.email.toLowerCase(),
        role: input.role,
        token_hash: hash,
        invited_by: input.byUser,
        expires_at: sql<Date>`now() + make_interval(days => ${input.days})`,
      })
      .execute();
    const detail = { role: input.role };
    await audit(transaction, input.facilityId, { action: 'invitation.sent', entityId: id, detail });
  });
  return { id, token };
}

interface Place {
  readonly facilityId: string;
  readonly id: string;
}

/** What a machine asks that does not matter for the event. */
const irrelevant = {
  isAddressee: false,
  inviterHoldsRank: false,
  isWithinTime: false,
  isAcceptor: false,
  isTimeOver: false,
} as const;

export function withdrawInvitation(
  transaction: TenantTransaction,
  place: Place & { readonly version: number },
): Promise<Outcome<InvitationState>> {
  return runVerb<InvitationRow, InvitationState, InvitationEvent, Condition>(transaction, {
    name: 'invitation.withdraw',
    machine: invitationMachine,
    event: 'withdraw',
    table: 'invitation',
    facilityId: place.facilityId,
    id: place.id,
    expectedVersion: place.version,
    absent: 'NOT_FOUND',
    conditions: () => irrelevant,
    effects: () => audit(transaction, place.facilityId, { action: 'invitation.withdrawn', entityId: place.id }),
  });
}

/** Called by the sweep over invitations whose time is over. */
export function expireInvitation(transaction: TenantTransaction, place: Place): Promise<Outcome<InvitationState>> {
  return runVerb<InvitationRow, InvitationState, InvitationEvent, Condition>(transaction, {
    name: 'invitation.expire',
    machine: invitationMachine,
    event: 'expire',
    table: 'invitation',
    facilityId: place.facilityId,
    id: place.id,
    absent: 'NOT_FOUND',
    conditions: async (row) => ({ ...irrelevant, isTimeOver: await isOver(transaction, row.expires_at) }),
    effects: () => audit(transaction, place.facilityId, { action: 'invitation.expired', entityId: place.id }),
  });
}

/**
 * The person of the claims accepts; what they presented named the invitation. The transaction's claims are the
 * invitation's facility without a role: only because of what is written here may the role be given.
 */
export async function acceptInvitation(
  transaction: TenantTransaction,
  input: Place & { readonly userId: string },
): Promise<Outcome<InvitationState>> {
  const { facilityId, id, userId } = input;
  await setLocal(transaction, { 'app.entrance': id });
  return runVerb<InvitationRow, InvitationState, InvitationEvent, Condition>(transaction, {
    name: 'invitation.accept',
    machine: invitationMachine,
    event: 'accept',
    table: 'invitation',
    facilityId,
    id,
    absent: 'NOT_FOUND',
    conditions: async (row) => ({
      ...irrelevant,
      isAcceptor: row.accepted_by === userId,
      isAddressee: await hasVerified(transaction, userId, row.email),
      inviterHoldsRank: await stillMayAssign(transaction, row),
      isWithinTime: !(await isOver(transaction, row.expires_at)),
    }),
    columns: () => ({ accepted_by: userId, accepted_at: sql`now()` }),
    effects: async (row) => {
      await giveRole(transaction, row, userId);
      const detail = { role: row.role };
      await audit(transaction, facilityId, { action: 'invitation.accepted', entityId: id, detail });
    },
  });
}

async function hasVerified(transaction: TenantTransaction, userId: string, email: string): Promise<boolean> {
  const user = await transaction
    .selectFrom('app_user')
    .select('id')
    .where('id', '=', userId)
    .where('email', '=', email)
    .where('email_verified_at', 'is not', null)
    .executeTakeFirst();
  return user !== undefined;
}

async function stillMayAssign(transaction: TenantTransaction, invitation: InvitationRow): Promise<boolean> {
  const inviter = await transaction
    .selectFrom('role_assignment')
    .select('role')
    .where('facility_id', '=', invitation.facility_id)
    .where('user_id', '=', invitation.invited_by)
    .executeTakeFirst();
  const [by, role] = [inviter && toRoleKey(inviter.role), toRoleKey(invitation.role)];
  return Boolean(by && role && mayAssign(by, role));
}

async function isOver(transaction: TenantTransaction, at: Date): Promise<boolean> {
  const found = await sql<{ over: boolean }>`select ${at}::timestamptz <= now() as over`.execute(transaction);
  return found.rows[0]?.over !== false;
}

/** Whoever has a role already keeps it: an invitation neither raises nor lowers anybody. */
async function giveRole(transaction: TenantTransaction, invitation: InvitationRow, userId: string): Promise<void> {
  await transaction
    .insertInto('role_assignment')
    .values({
      facility_id: invitation.facility_id,
      id: newId('rol'),
      user_id: userId,
      role: invitation.role,
      assigned_by: invitation.invited_by,
    })
    .onConflict((conflict) => conflict.columns(['facility_id', 'user_id']).doNothing())
    .execute();
}
