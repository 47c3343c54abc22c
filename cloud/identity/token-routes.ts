/** Service tokens of a facility, for integrations. */
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { created, ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { idText } from '#cloud/http/create-api.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';
import { nameSchema } from '#shared/contract/identifier.ts';
import { createServiceToken, revokeServiceToken, tokenActions } from './service-token.ts';

const tokenView = z.object({
  id: idText,
  name: z.string(),
  actions: z.array(z.string()),
  createdBy: idText,
  createdAt: z.string(),
  expiresAt: z.string().nullable(),
  revokedAt: z.string().nullable(),
});

export function tokenRoutes(api: Api, { cursors }: { readonly cursors: Cursors }): void {
  api.route({
    method: 'GET',
    url: '/v1/facilities/:facility/tokens',
    operation: 'listTokens',
    summary: 'Service tokens of the facility, also those that were revoked.',
    tag: 'Tokens',
    access: 'manage_token',
    query: pageQuery,
    answers: { 200: pageOf(tokenView) },
    handle: async ({ transaction, facility, query: { limit, cursor } }) => {
      const list = `tokens ${facility}`;
      const after = cursors.read(list, cursor);
      const rows = await tokens(transaction, facility)
        .$if(after !== undefined, (select) => select.where('id', '>', after ?? ''))
        .orderBy('id')
        .limit(limit + 1)
        .execute();
      return ok(cutPage(rows.map(viewOf), limit, (last) => cursors.write(list, last.id)));
    },
  });
  api.route({
    method: 'POST',
    url: '/v1/facilities/:facility/tokens',
    operation: 'createToken',
    summary: 'Makes a token for an integration, with the actions it needs; it is shown this once.',
    tag: 'Tokens',
    access: 'manage_token',
    body: z.strictObject({
      name: nameSchema,
      actions: z.array(z.enum(tokenActions)).min(1).max(32),
      days: z.int().min(1).max(3650).nullable().default(365),
    }),
    answers: { 201: tokenView.extend({ token: z.string() }) },
    handle: async ({ transaction, caller, facility, body }) => {
      if (caller.kind === 'token') return refusal('NOT_AUTHORIZED');
      const input = { facilityId: facility, byUser: caller.userId, ...body };
      const { id, token } = await createServiceToken(transaction, input);
      return created({ ...(await readToken(transaction, facility, id)), token });
    },
  });
  api.route({
    method: 'POST',
    url: '/v1/facilities/:facility/tokens/:id/revoke',
    operation: 'revokeToken',
    summary: 'Revokes a token; from now on it is nobody.',
    tag: 'Tokens',
    access: 'manage_token',
    params: z.strictObject({ id: idText }),
    answers: { 200: tokenView },
    handle: async ({ transaction, facility, params }) => {
      const outcome = await revokeServiceToken(transaction, { facilityId: facility, id: params.id });
      if (outcome.status === 'refused') return refusal(outcome.code);
      return ok(await readToken(transaction, facility, params.id));
    },
  });
}

const tokens = (transaction: TenantTransaction, facility: string) =>
  transaction
    .selectFrom('service_token')
    .select(['id', 'name', 'actions', 'created_by', 'created_at', 'expires_at', 'revoked_at'])
    .where('facility_id', '=', facility);

async function readToken(transaction: TenantTransaction, facility: string, id: string) {
  return viewOf(await tokens(transaction, facility).where('id', '=', id).executeTakeFirstOrThrow());
}

interface TokenColumns {
  readonly id: string;
  readonly name: string;
  readonly actions: readonly string[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

function viewOf(row: TokenColumns) {
  return {
    id: row.id,
    name: row.name,
    actions: row.actions,
    createdBy: row.created_by,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at?.toISOString() ?? null,
    revokedAt: row.revoked_at?.toISOString() ?? null,
  };
}
