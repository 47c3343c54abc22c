/** What people do with gateways: let them in, look at them, put them out. */
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { created, ok, outcomeAnswer, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { actorOf } from '#cloud/http/caller.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';
import { idSchema, nameSchema } from '#shared/contract/identifier.ts';
import type { Outcome } from '#shared/outcome.ts';
import { createEnrolmentCode } from './create-code.ts';
import type { FeedKeys } from './feed-keys.ts';
import { confirmGateway, type GatewayVerb, releaseGateway, revokeGateway } from './gateway-verbs.ts';
import { gatewayView, readGateways } from './read-gateways.ts';

export interface OperatorParts {
  readonly cursors: Cursors;
  readonly keys: () => FeedKeys;
}

const tag = 'gateways';
const base = '/v1/facilities/:facility/gateways';
const params = z.strictObject({ gateway: idSchema<'gateway'>() });
const version = z.int().min(1).optional().describe('The version that was read; absent acts on whatever is there.');
const outcome = z.record(z.string(), z.unknown());
const changed = { 200: z.object({ outcome, item: gatewayView }) };

export function gatewayRoutes(api: Api, parts: OperatorParts): void {
  codeRoute(api, parts);
  readRoutes(api, parts);
  verbRoutes(api);
}

function codeRoute(api: Api, parts: OperatorParts): void {
  api.route({
    method: 'POST',
    url: '/v1/facilities/:facility/enrolment-codes',
    operation: 'createEnrolmentCode',
    summary: 'Makes a code by which one gateway may come in within a quarter of an hour. It is shown once.',
    tag,
    access: 'manage_gateway',
    body: z.strictObject({ name: nameSchema, replaces: idSchema<'gateway'>().nullable().default(null) }),
    answers: { 201: z.object({ code: z.string(), expiresAt: z.iso.datetime() }) },
    refusals: ['REFERENCE_UNKNOWN'],
    handle: async ({ transaction, facility: facilityId, caller, body }) => {
      const { root } = parts.keys();
      const made = await createEnrolmentCode(transaction, { facilityId, ...body, actor: actorOf(caller), root });
      if (made.status === 'refused') return refusal(made.code);
      return created({ code: made.code, expiresAt: made.expiresAt.toISOString() });
    },
  });
}

function readRoutes(api: Api, { cursors }: OperatorParts): void {
  api.route({
    method: 'GET',
    url: base,
    operation: 'listGateways',
    summary: 'The gateways of a facility: state, lag, cursor, when each was last seen.',
    tag,
    access: 'member',
    query: pageQuery,
    answers: { 200: pageOf(gatewayView) },
    handle: async ({ transaction, facility, query }) => {
      const list = `gateways ${facility}`;
      const after = cursors.read(list, query.cursor) ?? '';
      const found = await readGateways(transaction, facility, { after, limit: query.limit + 1 });
      return ok(cutPage(found, query.limit, ({ id }) => cursors.write(list, id)));
    },
  });
  api.route({
    method: 'GET',
    url: `${base}/:gateway`,
    operation: 'readGateway',
    summary: 'One gateway.',
    tag,
    access: 'member',
    params,
    answers: { 200: gatewayView },
    handle: async ({ transaction, facility, params: { gateway } }) => {
      const item = await readOne(transaction, facility, gateway);
      return item === undefined ? refusal('NOT_FOUND') : ok(item);
    },
  });
}

async function readOne(transaction: TenantTransaction, facility: string, id: string) {
  return (await readGateways(transaction, facility, { id }))[0];
}

function verbRoutes(api: Api): void {
  api.route({
    method: 'POST',
    url: `${base}/:gateway/confirm`,
    operation: 'confirmGateway',
    summary: 'Lets a gateway in after its fingerprint was compared; one that it replaces is out at once.',
    tag,
    access: 'manage_gateway',
    params,
    body: z.strictObject({ fingerprint: z.string().regex(/^[0-9A-Fa-f]{64}$/), version }),
    answers: changed,
    refusals: ['FINGERPRINT_DIFFERS', 'GATEWAY_STATE_CHANGED'],
    handle: ({ transaction, facility, params: { gateway }, body }) => {
      const verb = verbOf(facility, gateway, body);
      return answerOf(transaction, verb, confirmGateway(transaction, verb, body.fingerprint));
    },
  });
  simpleVerb(api, 'revoke', 'Puts a gateway out: its next call is refused.', revokeGateway);
  simpleVerb(api, 'release', 'Lets a gateway go on that was in quarantine.', releaseGateway);
}

function simpleVerb(api: Api, name: string, summary: string, run: typeof revokeGateway): void {
  api.route({
    method: 'POST',
    url: `${base}/:gateway/${name}`,
    operation: `${name}Gateway`,
    summary,
    tag,
    access: 'manage_gateway',
    params,
    body: z.strictObject({ version, reason: z.string().trim().min(1).max(500).optional() }),
    answers: changed,
    refusals: ['GATEWAY_STATE_CHANGED', 'ILLEGAL_TRANSITION'],
    handle: ({ transaction, facility, params: { gateway }, body }) => {
      const verb = verbOf(facility, gateway, body);
      return answerOf(transaction, verb, run(transaction, verb));
    },
  });
}

interface VerbBody {
  readonly version?: number | undefined;
  readonly reason?: string | undefined;
}

function verbOf(facilityId: string, gatewayId: string, { version: expectedVersion, reason }: VerbBody): GatewayVerb {
  return {
    facilityId,
    gatewayId,
    ...(expectedVersion === undefined ? {} : { expectedVersion }),
    ...(reason === undefined ? {} : { reason }),
  };
}

async function answerOf(transaction: TenantTransaction, verb: GatewayVerb, running: Promise<Outcome>) {
  return await outcomeAnswer(await running, () => readOne(transaction, verb.facilityId, verb.gatewayId));
}
