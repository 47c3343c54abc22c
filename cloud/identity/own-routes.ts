/** What people see and change of themselves. */
import { sql } from 'kysely';
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { idText } from '#cloud/http/create-api.ts';
import { nameSchema } from '#shared/contract/identifier.ts';
import { actions, roleKeys } from '#shared/role.ts';
import { setPassword } from './create-user.ts';
import { hashPassword, isRightPassword } from './password.ts';
import { isAcceptablePassword } from './password-rule.ts';
import { endSessions } from './session.ts';
import { passwordText } from './session-routes.ts';

const meView = z.object({
  kind: z.enum(['person', 'token']),
  id: idText,
  email: z.string().optional(),
  name: z.string().optional(),
  language: z.enum(['en', 'ja']).optional(),
  version: z.int().optional(),
  facilities: z.array(
    z.object({ id: idText, role: z.enum(roleKeys).optional(), actions: z.array(z.enum(actions)).optional() }),
  ),
});

export function ownRoutes(api: Api): void {
  api.route({
    method: 'GET',
    url: '/v1/me',
    operation: 'readMe',
    summary: 'Who you are, and your role in each facility.',
    tag: 'You',
    access: 'signed-in',
    answers: { 200: meView },
    handle: async ({ transaction, caller }) => {
      if (caller.kind === 'token') {
        const facilities = [{ id: caller.facilityId, actions: [...caller.actions] }];
        return ok({ kind: 'token', id: caller.tokenId, facilities });
      }
      const facilities = [...caller.roles].map(([id, role]) => ({ id, role }));
      return ok({ kind: 'person', ...(await readSelf(transaction, caller.userId)), facilities });
    },
  });
  changeRoutes(api);
}

function changeRoutes(api: Api): void {
  api.route({
    method: 'PATCH',
    url: '/v1/me',
    operation: 'changeMe',
    summary: 'Changes your name or language.',
    tag: 'You',
    access: 'signed-in',
    body: z.strictObject({
      version: z.int().min(1),
      name: nameSchema.optional(),
      language: z.enum(['en', 'ja']).optional(),
    }),
    answers: { 200: meView.omit({ facilities: true }) },
    refusals: ['VERSION_STALE'],
    handle: async ({ transaction, caller, body: { version, ...changes } }) => {
      if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
      const changed = await transaction
        .updateTable('app_user')
        .set((row) => ({ ...changes, version: row('version', '+', 1) }))
        .where('id', '=', caller.userId)
        .where('version', '=', version)
        .executeTakeFirst();
      const self = { kind: 'person', ...(await readSelf(transaction, caller.userId)) };
      return changed.numUpdatedRows === 1n ? ok(self) : refusal('VERSION_STALE', { current: self });
    },
  });
  api.route({
    method: 'POST',
    url: '/v1/me/password',
    operation: 'changePassword',
    summary: 'Changes your password and ends your other sessions.',
    tag: 'You',
    access: 'signed-in',
    body: z.strictObject({ current: passwordText, next: passwordText }),
    answers: { 200: z.object({ changed: z.literal(true) }) },
    refusals: ['LOGIN_FAILED', 'PASSWORD_WEAK'],
    handle: async ({ transaction, caller, body }) => {
      if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
      const { email } = await readSelf(transaction, caller.userId);
      if (!isAcceptablePassword(body.next, email)) return refusal('PASSWORD_WEAK');
      const stored = await transaction.selectFrom('user_password').select('hash').executeTakeFirst();
      if (!(await isRightPassword(stored?.hash, body.current))) return refusal('LOGIN_FAILED');
      await setPassword(transaction, caller.userId, await hashPassword(body.next));
      await transaction
        .updateTable('user_session')
        .set({ ended_at: sql<Date>`now()` })
        .where('id', '<>', caller.sessionId)
        .where('ended_at', 'is', null)
        .execute();
      return ok({ changed: true });
    },
  });
  leaveRoute(api);
}

function leaveRoute(api: Api): void {
  api.route({
    method: 'DELETE',
    url: '/v1/me',
    operation: 'leave',
    summary: 'Closes your account: you are signed out everywhere and cannot come in again.',
    tag: 'You',
    access: 'signed-in',
    answers: { 200: z.object({ closed: z.literal(true) }) },
    refusals: ['LAST_OWNER'],
    handle: async ({ transaction, caller }) => {
      if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
      const owned = [...caller.roles].filter(([, role]) => role === 'owner').map(([id]) => id);
      if (owned.length > 0) return refusal('LAST_OWNER');
      await transaction
        .updateTable('app_user')
        .set({ disabled_at: sql<Date>`now()` })
        .where('id', '=', caller.userId)
        .execute();
      await endSessions(transaction);
      return ok({ closed: true });
    },
  });
}

function readSelf(transaction: TenantTransaction, id: string) {
  return transaction
    .selectFrom('app_user')
    .select(['id', 'email', 'name', 'language', 'version'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}
