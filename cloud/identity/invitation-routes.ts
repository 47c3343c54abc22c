/** Inviting, and accepting: the one way in. The token goes to the person by whatever way the inviter trusts. */
import { sql } from 'kysely';
import * as z from 'zod';
import { newId } from '#cloud/database/new-id.ts';
import { setLocal, type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { type Answer, created, ok, outcomeAnswer, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { idText } from '#cloud/http/create-api.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';
import { nameSchema } from '#shared/contract/identifier.ts';
import { mayAssign, roleKeys } from '#shared/role.ts';
import { createUser, setPassword } from './create-user.ts';
import { acceptInvitation, invite, withdrawInvitation } from './invitation.ts';
import { invitationMachine } from './invitation-machine.ts';
import { roleText } from './member-routes.ts';
import { hashPassword } from './password.ts';
import { isAcceptablePassword } from './password-rule.ts';
import { tokenHash } from './secret-token.ts';
import { openSession, type SessionParts } from './session.ts';
import { emailText, passwordText, tokensAnswer, tokensView } from './session-routes.ts';

interface InvitationRouteParts {
  readonly sessions: SessionParts;
  readonly cursors: Cursors;
}

const invitationView = z.object({
  id: idText,
  email: z.string(),
  role: z.enum(roleKeys),
  status: z.enum(invitationMachine.states),
  version: z.int(),
  expiresAt: z.string(),
  createdAt: z.string(),
});
const outcomeView = z.object({
  status: z.enum(['applied', 'noop']),
  to: z.string().optional(),
  code: z.string().optional(),
});
const tokenText = z.string().min(1).max(128);

export function invitationRoutes(api: Api, parts: InvitationRouteParts): void {
  inviteRoutes(api, parts);
  withdrawRoute(api);
  acceptRoute(api);
  registerRoute(api, parts);
}

function inviteRoutes(api: Api, { cursors }: InvitationRouteParts): void {
  api.route({
    method: 'GET',
    url: '/v1/facilities/:facility/invitations',
    operation: 'listInvitations',
    summary: 'Invitations of the facility, also those that are closed.',
    tag: 'Members',
    access: 'invite_member',
    query: pageQuery,
    answers: { 200: pageOf(invitationView) },
    handle: async ({ transaction, facility, query: { limit, cursor } }) => {
      const list = `invitations ${facility}`;
      const after = cursors.read(list, cursor);
      const rows = await invitations(transaction, facility)
        .$if(after !== undefined, (select) => select.where('id', '>', after ?? ''))
        .orderBy('id')
        .limit(limit + 1)
        .execute();
      return ok(cutPage(rows.map(viewOf), limit, (last) => cursors.write(list, last.id)));
    },
  });
  api.route({
    method: 'POST',
    url: '/v1/facilities/:facility/invitations',
    operation: 'invite',
    summary: 'Invites somebody to a role, none above your own; the token is shown this once.',
    tag: 'Members',
    access: 'invite_member',
    body: z.strictObject({ email: emailText, role: roleText, days: z.int().min(1).max(30).default(7) }),
    answers: { 201: invitationView.extend({ token: z.string() }) },
    refusals: ['ROLE_ABOVE_OWN_RANK', 'ALREADY_EXISTS'],
    handle: async ({ transaction, caller, facility, body }) => {
      if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
      const own = caller.roles.get(facility);
      if (!own || !mayAssign(own, body.role)) return refusal('ROLE_ABOVE_OWN_RANK');
      const { id, token } = await invite(transaction, { facilityId: facility, byUser: caller.userId, ...body });
      return created({ ...(await readInvitation(transaction, facility, id)), token });
    },
  });
}

function withdrawRoute(api: Api): void {
  api.route({
    method: 'POST',
    url: '/v1/facilities/:facility/invitations/:id/withdraw',
    operation: 'withdrawInvitation',
    summary: 'Takes an open invitation back.',
    tag: 'Members',
    access: 'invite_member',
    params: z.strictObject({ id: idText }),
    body: z.strictObject({ version: z.int().min(1) }),
    answers: { 200: z.object({ outcome: outcomeView, item: invitationView }) },
    refusals: ['INVITATION_CLOSED', 'INVITATION_STATE_CHANGED'],
    handle: async ({ transaction, facility, params, body }) => {
      const outcome = await withdrawInvitation(transaction, { facilityId: facility, id: params.id, ...body });
      return outcomeAnswer(outcome, () => readInvitation(transaction, facility, params.id));
    },
  });
}

function acceptRoute(api: Api): void {
  api.route({
    method: 'POST',
    url: '/v1/invitations/accept',
    operation: 'acceptInvitation',
    summary: 'Accepts an invitation that was sent to your address; refresh your session to act in the role.',
    tag: 'Members',
    access: 'signed-in',
    body: z.strictObject({ token: tokenText }),
    answers: { 200: z.object({ outcome: outcomeView, item: z.object({ facility: idText }) }) },
    refusals: ['INVITATION_EMAIL_DIFFERS', 'INVITER_LOST_RANK', 'INVITATION_CLOSED', 'INVITATION_USED'],
    handle: async ({ transaction, caller, body }) => {
      if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
      return accept(transaction, caller.userId, body.token);
    },
  });
}

async function accept(transaction: TenantTransaction, userId: string, token: string): Promise<Answer> {
  const named = await namedBy(transaction, token);
  if (!named) return refusal('NOT_FOUND');
  // Only for what follows, and only because the token was presented: the facility, without a role in it.
  await setLocal(transaction, { 'app.facility_ids': `{${named.facility_id}}`, 'app.roles': '{}' });
  const input = { facilityId: named.facility_id, id: named.invitation_id, userId };
  const outcome = await acceptInvitation(transaction, input);
  return outcomeAnswer(outcome, async () => ({ facility: named.facility_id }));
}

interface NamedInvitation {
  readonly facility_id: string;
  readonly invitation_id: string;
  readonly email: string;
}

async function namedBy(transaction: SessionParts['database'], token: string): Promise<NamedInvitation | undefined> {
  const hash = tokenHash('kin', token);
  if (!hash) return undefined;
  const found = await sql<NamedInvitation>`
    select facility_id, invitation_id, email from app.invitation_by_token(${hash})`.execute(transaction);
  return found.rows[0];
}

function registerRoute(api: Api, { sessions }: InvitationRouteParts): void {
  api.openRoute({
    method: 'POST',
    url: '/v1/invitations/register',
    operation: 'registerByInvitation',
    summary: 'Makes you known, with a password of your own, and accepts the invitation.',
    tag: 'Members',
    perMinute: 30,
    body: z.strictObject({
      token: tokenText,
      name: nameSchema,
      password: passwordText,
      language: z.enum(['en', 'ja']).default('ja'),
    }),
    answers: { 201: tokensView },
    refusals: ['PASSWORD_WEAK', 'EMAIL_TAKEN', 'INVITER_LOST_RANK', 'INVITATION_CLOSED', 'INVITATION_USED'],
    handle: async ({ body }) => {
      const named = await namedBy(sessions.database, body.token);
      if (!named) return refusal('NOT_FOUND');
      const known = await sql<{ id: string | null }>`select app.user_by_email(${named.email}) as id`.execute(
        sessions.database,
      );
      if (known.rows[0]?.id) return refusal('EMAIL_TAKEN');
      if (!isAcceptablePassword(body.password, named.email)) return refusal('PASSWORD_WEAK');
      const id = newId<'user'>('usr');
      const hash = await hashPassword(body.password);
      const claims = { actor: `user:${id}`, userId: id, facilityIds: [named.facility_id] };
      const refused = await becomeKnown(() =>
        tenantTransaction(sessions.database, claims, async (transaction) => {
          await createUser(transaction, { id, email: named.email, name: body.name, language: body.language });
          await setPassword(transaction, id, hash);
          const answer = await accept(transaction, id, body.token);
          if ('refused' in answer) throw new NotAccepted(answer);
        }),
      );
      return refused ?? tokensAnswer(await openSession(sessions, id));
    },
  });
}

/** Nobody is made known by an invitation that does not hold. */
class NotAccepted extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super('not accepted');
    this.answer = answer;
  }
}

async function becomeKnown(work: () => Promise<void>): Promise<Answer | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof NotAccepted) return error.answer;
    throw error;
  }
}

const invitations = (transaction: TenantTransaction, facility: string) =>
  transaction
    .selectFrom('invitation')
    .select(['id', 'email', 'role', 'status', 'version', 'expires_at', 'created_at'])
    .where('facility_id', '=', facility);

async function readInvitation(transaction: TenantTransaction, facility: string, id: string) {
  return viewOf(await invitations(transaction, facility).where('id', '=', id).executeTakeFirstOrThrow());
}

interface InvitationColumns {
  readonly id: string;
  readonly email: string;
  readonly role: string;
  readonly status: string;
  readonly version: number;
  readonly expires_at: Date;
  readonly created_at: Date;
}

function viewOf({ expires_at: expiresAt, created_at: createdAt, ...rest }: InvitationColumns) {
  return { ...rest, expiresAt: expiresAt.toISOString(), createdAt: createdAt.toISOString() };
}
