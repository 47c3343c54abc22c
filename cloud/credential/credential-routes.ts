/** Issuing credentials, one or many, and reading them with what the doors know of them. */
import { sql } from 'kysely';
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { type Answer, created, ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { type Caller, mayAct } from '#cloud/http/caller.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';
import { idSchema } from '#shared/contract/identifier.ts';
import { issueBody } from './issue-body.ts';
import { type IssueDesk, type Issued, issueCredentials } from './issue-credentials.ts';
import { credentialMachine } from './machine.ts';
import { type NewCredential, newCredentialOf } from './new-credential.ts';
import { credentialItem, readCredential, readCredentials } from './read-credential.ts';
import { refusedField } from './written.ts';

export const credentialUrl = '/v1/facilities/:facility/credentials';
export const credentialParams = z.strictObject({ id: idSchema<'credential'>() });
export const tag = 'credentials';
/** Shown in this answer, and by reveal; nowhere else. */
export const secretSchema = z.union([z.object({ pin: z.string() }), z.object({ pass: z.string() })]).optional();
export const issuedSchema = z.object({ item: credentialItem, secret: secretSchema });

export const issueRefusals = [
  'REFERENCE_UNKNOWN',
  'HOLDER_ERASED',
  'HOLDER_WITHOUT_ROLE',
  'CREDENTIAL_EXPIRED',
  'CARD_TAKEN',
  'CARD_UNREADABLE',
  'PIN_SPACE_EXHAUSTED',
  'PIN_BUSY',
  'PASS_TOO_LARGE',
  'USES_NEED_ONE_GATEWAY',
  'ENROLMENT_WAITING',
  'ENROLMENT_CLOSED',
] as const;

/** In one call, all or none. PINs take their time to hash. */
const itemsMax = 500;
const pinsMax = 100;

export function issueRoutes(api: Api, desk: IssueDesk, cursors: Cursors): void {
  api.route({
    method: 'POST',
    url: credentialUrl,
    operation: 'issueCredential',
    summary: 'Issues a card, a PIN or a pass. A PIN or pass is shown in this answer.',
    tag,
    access: 'issue_credential',
    body: issueBody,
    answers: { 201: issuedSchema },
    refusals: issueRefusals,
    handle: async ({ transaction, facility, caller, body }) => {
      const item = newCredentialOf(body, '/body');
      return issueOne(transaction, { desk, facility, caller }, item);
    },
  });
  api.route({
    method: 'POST',
    url: `${credentialUrl}/bulk`,
    operation: 'issueCredentials',
    summary: `Issues up to ${itemsMax} credentials at once, at most ${pinsMax} PINs among them: all, or none.`,
    tag,
    access: 'issue_credential',
    body: z.strictObject({
      items: z
        .array(issueBody)
        .min(1)
        .max(itemsMax)
        .refine((items) => items.filter(({ pin }) => pin !== undefined).length <= pinsMax, {
          message: 'field.too_long',
        }),
    }),
    answers: { 201: z.object({ items: z.array(issuedSchema) }) },
    refusals: issueRefusals,
    handle: async ({ transaction, facility, caller, body }) => {
      const items = body.items.map((item, at) => newCredentialOf(item, `/body/items/${at}`));
      if (!mayGrant(caller, facility, items)) return refusal('NOT_AUTHORIZED');
      const outcome = await issueCredentials(transaction, desk, facility, items);
      if (outcome.status === 'refused') return refusedField(outcome);
      return created({ items: await readIssued(transaction, facility, outcome.issued) });
    },
  });
  readRoutes(api, cursors);
}

/** Whoever grants doors manages access; whoever hands out what was granted already need not. */
const mayGrant = (caller: Caller, facility: string, items: readonly NewCredential[]): boolean =>
  items.every(({ grants }) => grants.length === 0) || mayAct(caller, facility, 'manage_access');

async function issueOne(
  transaction: TenantTransaction,
  { desk, facility, caller }: { readonly desk: IssueDesk; readonly facility: string; readonly caller: Caller },
  item: NewCredential,
): Promise<Answer> {
  if (!mayGrant(caller, facility, [item])) return refusal('NOT_AUTHORIZED');
  const outcome = await issueCredentials(transaction, desk, facility, [item]);
  if (outcome.status === 'refused') return refusedField(outcome);
  const [made] = await readIssued(transaction, facility, outcome.issued);
  return created(made);
}

/** In the order in which they were asked for. */
async function readIssued(transaction: TenantTransaction, facility: string, issued: readonly Issued[]) {
  const ids = issued.map(({ id }) => id);
  const items = await readCredentials(transaction, facility, sql`c.id = any (${ids})`, ids.length);
  const byId = new Map(items.map((item) => [item.id, item]));
  return issued.map(({ id, secret }) => ({ item: byId.get(id), secret }));
}

function readRoutes(api: Api, cursors: Cursors): void {
  api.route({
    method: 'GET',
    url: credentialUrl,
    operation: 'listCredentials',
    summary: 'Credentials, with their grants and what each door knows of them.',
    tag,
    access: 'issue_credential',
    query: pageQuery.extend({
      holder: idSchema<'holder'>().optional(),
      status: z.enum(credentialMachine.states).optional(),
    }),
    answers: { 200: pageOf(credentialItem) },
    handle: async ({ transaction, facility, query }) => {
      const { holder, status, limit } = query;
      const list = `credentials ${facility} ${holder ?? ''} ${status ?? ''}`;
      const after = cursors.read(list, query.cursor) ?? '';
      const where = sql`c.id > ${after} and (${holder ?? null}::text is null or c.holder_id = ${holder ?? null})
        and (${status ?? null}::text is null or c.status = ${status ?? null})`;
      const found = await readCredentials(transaction, facility, where, limit + 1);
      return ok(cutPage(found, limit, ({ id }) => cursors.write(list, id)));
    },
  });
  api.route({
    method: 'GET',
    url: `${credentialUrl}/:id`,
    operation: 'readCredential',
    summary: 'One credential, with its grants and what each door knows of it.',
    tag,
    access: 'issue_credential',
    params: credentialParams,
    answers: { 200: credentialItem },
    handle: async ({ transaction, facility, params: { id } }) => {
      const item = await readCredential(transaction, facility, id);
      return item === undefined ? refusal('NOT_FOUND') : ok(item);
    },
  });
}
