/** Grants: which credential opens which door, or every door of a group, and when. */
import { sql } from 'kysely';
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';
import { idSchema } from '#shared/contract/identifier.ts';
import { createGrant } from './create-grant.ts';
import { tag } from './credential-routes.ts';
import { deleteGrant } from './delete-grant.ts';
import { newGrantOfCredential } from './issue-body.ts';
import { type GrantItem, grantItem, readGrants } from './read-credential.ts';
import { writtenAnswer } from './written.ts';

const url = '/v1/facilities/:facility/grants';
const params = z.strictObject({ id: idSchema<'grant'>() });

export function grantRoutes(api: Api, cursors: Cursors): void {
  api.route({
    method: 'GET',
    url,
    operation: 'listGrants',
    summary: 'Grants, of a credential, a door or a group where one is named.',
    tag,
    access: 'issue_credential',
    query: pageQuery.extend({
      credential: idSchema<'credential'>().optional(),
      door: idSchema<'door'>().optional(),
      group: idSchema<'group'>().optional(),
    }),
    answers: { 200: pageOf(grantItem) },
    handle: async ({ transaction, facility, query }) => {
      const { credential = null, door = null, group = null, limit } = query;
      const list = `grants ${facility} ${credential} ${door} ${group}`;
      const after = cursors.read(list, query.cursor) ?? '';
      const where = sql`g.id > ${after} and (${credential}::text is null or g.credential_id = ${credential})
        and (${door}::text is null or g.door_id = ${door}) and (${group}::text is null or g.group_id = ${group})`;
      const found = await readGrants(transaction, facility, where, limit + 1);
      return ok(cutPage(found, limit, ({ id }) => cursors.write(list, id)));
    },
  });
  api.route({
    method: 'POST',
    url,
    operation: 'createGrant',
    summary: 'Grants a credential a door, or every door of a group.',
    tag,
    access: 'manage_access',
    body: newGrantOfCredential,
    answers: { 201: grantItem },
    refusals: ['REFERENCE_UNKNOWN', 'KIND_UNSUITED', 'CREDENTIAL_REVOKED', 'CREDENTIAL_EXPIRED', 'PIN_SPACE_EXHAUSTED'],
    handle: async ({ transaction, facility, body }) => {
      const written = await createGrant(transaction, facility, body);
      return writtenAnswer(written, (id = '') => readGrant(transaction, facility, id), true);
    },
  });
  api.route({
    method: 'GET',
    url: `${url}/:id`,
    operation: 'readGrant',
    summary: 'One grant.',
    tag,
    access: 'issue_credential',
    params,
    answers: { 200: grantItem },
    handle: async ({ transaction, facility, params: { id } }) => {
      const item = await readGrant(transaction, facility, id);
      return item === undefined ? refusal('NOT_FOUND') : ok(item);
    },
  });
  api.route({
    method: 'DELETE',
    url: `${url}/:id`,
    operation: 'deleteGrant',
    summary: 'Takes a grant away.',
    tag,
    access: 'manage_access',
    params,
    query: z.strictObject({ version: z.coerce.number().pipe(z.int().min(1)) }),
    answers: { 200: z.object({ id: z.string() }) },
    refusals: ['VERSION_STALE'],
    handle: async ({ transaction, facility, params: { id }, query }) => {
      const written = await deleteGrant(transaction, { facility, id }, query.version);
      return writtenAnswer(written, async (gone) =>
        gone === undefined ? readGrant(transaction, facility, id) : { id: gone },
      );
    },
  });
}

const readGrant = async (
  transaction: TenantTransaction,
  facility: string,
  id: string,
): Promise<GrantItem | undefined> => (await readGrants(transaction, facility, sql`g.id = ${id}`, 1))[0];
