/** Who belongs to a facility, and in which role. People come in by invitation only. */
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { idText } from '#cloud/http/create-api.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';
import { type RoleKey, roleKeys, toRoleKey } from '#shared/role.ts';
import { changeRole, type RoleOutcome } from './change-role.ts';

export const roleText = z
  .string()
  .max(64)
  .transform((text, context) => {
    const role = toRoleKey(text);
    if (role) return role;
    context.issues.push({
      code: 'invalid_value',
      values: [...roleKeys],
      input: text,
    });
    return z.NEVER;
  });

const memberView = z.object({
  user: idText,
  name: z.string(),
  email: z.string(),
  role: z.enum(roleKeys),
  version: z.int(),
  since: z.string(),
});

export function memberRoutes(api: Api, { cursors }: { readonly cursors: Cursors }): void {
  api.route({
    method: 'GET',
    url: '/v1/facilities/:facility/members',
    operation: 'listMembers',
    summary: 'Who belongs to the facility, and in which role.',
    tag: 'Members',
    access: 'invite_member',
    query: pageQuery,
    answers: { 200: pageOf(memberView) },
    handle: async ({ transaction, facility, query: { limit, cursor } }) => {
      const list = `members ${facility}`;
      const after = cursors.read(list, cursor);
      const rows = await members(transaction, facility)
        .$if(after !== undefined, (select) => select.where('user_id', '>', after ?? ''))
        .orderBy('user_id')
        .limit(limit + 1)
        .execute();
      return ok(cutPage(rows.map(viewOf), limit, (last) => cursors.write(list, last.user)));
    },
  });
  api.route({
    method: 'PUT',
    url: '/v1/facilities/:facility/members/:user/role',
    operation: 'changeRole',
    summary: 'Gives a member another role; not yourself, and none above your own rank.',
    tag: 'Members',
    access: 'invite_member',
    params: z.strictObject({ user: idText }),
    body: z.strictObject({ role: roleText, version: z.int().min(1) }),
    answers: { 200: memberView },
    refusals: ['ROLE_OF_ONESELF', 'ROLE_ABOVE_OWN_RANK', 'VERSION_STALE'],
    handle: async ({ transaction, caller, facility, params, body }) => {
      if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
      const change = { facilityId: facility, byUser: caller.userId, userId: params.user, ...body };
      const outcome = await changeRole(transaction, change);
      return roleAnswer(
        outcome,
        async () => ok(await readMember(transaction, facility, params.user)),
        () => readMember(transaction, facility, params.user),
      );
    },
  });
  api.route({
    method: 'DELETE',
    url: '/v1/facilities/:facility/members/:user/role',
    operation: 'removeMember',
    summary: 'Takes a member’s role away; it stops counting at once.',
    tag: 'Members',
    access: 'invite_member',
    params: z.strictObject({ user: idText }),
    query: z.strictObject({ version: z.coerce.number().int().min(1) }),
    answers: { 200: z.object({ removed: z.literal(true) }) },
    refusals: ['ROLE_OF_ONESELF', 'ROLE_ABOVE_OWN_RANK', 'VERSION_STALE'],
    handle: async ({ transaction, caller, facility, params, query }) => {
      if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
      const change = { facilityId: facility, byUser: caller.userId, userId: params.user, role: null, ...query };
      const outcome = await changeRole(transaction, change);
      return roleAnswer(
        outcome,
        async () => ok({ removed: true }),
        () => readMember(transaction, facility, params.user),
      );
    },
  });
}

async function roleAnswer(
  outcome: RoleOutcome,
  done: () => Promise<ReturnType<typeof ok>>,
  readCurrent: () => Promise<unknown>,
) {
  switch (outcome.status) {
    case 'applied':
    case 'noop':
      return done();
    case 'conflict':
      return refusal(outcome.code, { current: await readCurrent() });
    case 'refused':
      return refusal(outcome.code);
  }
}

const members = (transaction: TenantTransaction, facility: string) =>
  transaction
    .selectFrom('role_assignment')
    .innerJoin('app_user', 'app_user.id', 'role_assignment.user_id')
    .select([
      'user_id',
      'app_user.name',
      'app_user.email',
      'role',
      'role_assignment.version',
      'role_assignment.created_at',
    ])
    .where('facility_id', '=', facility);

async function readMember(transaction: TenantTransaction, facility: string, user: string) {
  return viewOf(await members(transaction, facility).where('user_id', '=', user).executeTakeFirstOrThrow());
}

interface MemberColumns {
  readonly user_id: string;
  readonly name: string;
  readonly email: string;
  readonly role: string;
  readonly version: number;
  readonly created_at: Date;
}

function viewOf({ user_id: user, created_at: since, role, ...rest }: MemberColumns) {
  return { ...rest, user, role: role as RoleKey, since: since.toISOString() };
}
