/**
 * Turns declarations of routes into routes: who may, in whose claims, at most once.
 *
 * Order of a request: who asks (401) → the facility exists for them (404) → their role permits it (403) → the request is
 * well-formed (422) → the key was not used for something else (422) → the handler. A facility of others and none at all
 * look the same.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import type { Database } from '#cloud/database/pool.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import { identifierPattern } from '#shared/identifier.ts';
import { invariant } from '#shared/invariant.ts';
import type { Answer, Done, Refusal } from './answer.ts';
import type { Api, Method, ObjectSchema, OpenCall, OpenRoute, Route, RouteCall } from './api.ts';
import { actorOf, belongsTo, type Caller, claimsOf, mayAct } from './caller.ts';
import { claimKey, type IdempotentRequest, keepAnswer } from './idempotency.ts';
import { preferredLanguage, RequestRefused } from './problem.ts';

export interface ApiParts {
  readonly database: Database;
  readonly sealer: Sealer;
  /** Who an Authorization header stands for; `undefined` for nobody. @throws RequestRefused, DatabaseFault. */
  readonly authenticate: (authorization: string | undefined) => Promise<Caller | undefined>;
  /** Counts a request of somebody known. @throws RequestRefused RATE_LIMITED. */
  readonly countCaller: (actor: string) => void;
}

export const idText = z.string().regex(identifierPattern);
const emptyQuery = z.strictObject({});
const noBody = z.strictObject({}).nullish();

/** What the hooks learn of a request, for its handler. */
const callers = new WeakMap<FastifyRequest, Caller>();

type AnyRoute = Route<ObjectSchema | undefined, ObjectSchema | undefined, z.ZodType | undefined>;
type AnyCall = RouteCall<ObjectSchema | undefined, ObjectSchema | undefined, z.ZodType | undefined>;
type AnyOpenRoute = OpenRoute<ObjectSchema | undefined, ObjectSchema | undefined, z.ZodType | undefined>;
type AnyOpenCall = OpenCall<ObjectSchema | undefined, ObjectSchema | undefined, z.ZodType | undefined>;

export function createApi(app: FastifyInstance, parts: ApiParts): Api {
  return {
    route: (route) => addRoute(app, parts, route as unknown as AnyRoute),
    openRoute: (route) => addOpenRoute(app, route as unknown as AnyOpenRoute),
  };
}

function addRoute(app: FastifyInstance, parts: ApiParts, route: AnyRoute): void {
  const isOfFacility = route.url.includes('/:facility');
  invariant(isOfFacility === (route.access !== 'signed-in'), `${route.operation} says in which facility it acts`);
  app.route({
    method: route.method,
    url: route.url,
    schema: schemaOf(route, { isOfFacility, access: route.access }),
    // After the address was counted, before the body is read.
    preParsing: (request) => admit(parts, route, request),
    handler: async (request, reply) => send(reply, await serve(parts, route, request, reply)),
  });
}

function schemaOf(
  route: AnyRoute | AnyOpenRoute,
  { isOfFacility, access }: { readonly isOfFacility: boolean; readonly access: string },
): Record<string, unknown> {
  const params = { ...(isOfFacility ? { facility: idText } : {}), ...route.params?.shape };
  return {
    params: z.strictObject(params),
    querystring: route.query ?? emptyQuery,
    ...(route.method === 'GET' ? {} : { body: route.body ?? noBody }),
    response: route.answers,
    operationId: route.operation,
    summary: route.summary,
    tags: [route.tag],
    ...(access === 'open' ? {} : { security: [{ bearer: [] }] }),
    'x-access': access,
    'x-refusals': route.refusals ?? [],
  };
}

const facilityOf = (request: FastifyRequest): string | undefined =>
  (request.params as { readonly facility?: string }).facility;

/** Nobody makes us read what they may not send. */
async function admit(parts: ApiParts, route: AnyRoute, request: FastifyRequest): Promise<void> {
  const caller = await parts.authenticate(request.headers.authorization);
  if (!caller) throw new RequestRefused({ refused: 'NOT_AUTHENTICATED' });
  parts.countCaller(actorOf(caller));
  const facility = facilityOf(request);
  if (facility !== undefined && !belongsTo(caller, facility)) throw new RequestRefused({ refused: 'NOT_FOUND' });
  const { access } = route;
  const isPermitted =
    access === 'signed-in' || access === 'member' || (facility !== undefined && mayAct(caller, facility, access));
  if (!isPermitted) throw new RequestRefused({ refused: 'NOT_AUTHORIZED' });
  callers.set(request, caller);
}

/** Ends a transaction whose handler refused. */
class RolledBack extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.refused);
    this.refusal = refusal;
  }
}

async function serve(parts: ApiParts, route: AnyRoute, request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
  const caller = callers.get(request);
  invariant(caller, 'a handler runs after its caller was admitted');
  const facility = facilityOf(request);
  const handle = async (transaction: TenantTransaction): Promise<Done> => {
    const answer = await route.handle(callOf(request, caller, transaction));
    if ('refused' in answer) throw new RolledBack(answer);
    return answer;
  };
  const keyed = route.method === 'GET' ? undefined : keyedRequest(route.method, request, caller);
  try {
    return await tenantTransaction(parts.database, claimsOf(caller, facility), async (transaction) => {
      if (!keyed) return handle(transaction);
      const claimed = await claimKey(transaction, parts.sealer, keyed);
      if (claimed.kind === 'repeated') {
        void reply.header('idempotent-replayed', 'true');
        return claimed.answer;
      }
      const done = await handle(transaction);
      await keepAnswer(transaction, parts.sealer, keyed, done);
      return done;
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.refusal;
    throw error;
  }
}

function callOf(request: FastifyRequest, caller: Caller, transaction: TenantTransaction): AnyCall {
  return {
    caller,
    facility: facilityOf(request) ?? '',
    params: request.params as AnyCall['params'],
    query: request.query as AnyCall['query'],
    body: request.body as AnyCall['body'],
    transaction,
    language: preferredLanguage(request.headers['accept-language']),
  };
}

/** Printable ASCII, long enough that two programs do not choose the same by chance. */
const keyPattern = /^[\x21-\x7e]{8,128}$/;

function keyedRequest(method: Method, request: FastifyRequest, caller: Caller): IdempotentRequest {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || !keyPattern.test(key)) {
    throw new RequestRefused({ refused: 'IDEMPOTENCY_KEY_MISSING' });
  }
  const { url, body } = request;
  return { facility: facilityOf(request), actor: actorOf(caller), key, method, url, body };
}

function addOpenRoute(app: FastifyInstance, route: AnyOpenRoute): void {
  const rateLimit = route.perMinute === undefined ? {} : { rateLimit: { max: route.perMinute, timeWindow: 60_000 } };
  app.route({
    method: route.method,
    url: route.url,
    schema: schemaOf(route, { isOfFacility: false, access: 'open' }),
    config: rateLimit,
    ...(route.bodyMax === undefined ? {} : { bodyLimit: route.bodyMax }),
    handler: async (request, reply) => {
      const call: AnyOpenCall = {
        params: request.params as AnyOpenCall['params'],
        query: request.query as AnyOpenCall['query'],
        body: request.body as AnyOpenCall['body'],
        request,
        reply,
        language: preferredLanguage(request.headers['accept-language']),
      };
      return send(reply, await route.handle(call));
    },
  });
}

function send(reply: FastifyReply, answer: Answer): FastifyReply {
  if ('refused' in answer) throw new RequestRefused(answer);
  return reply.code(answer.status).send(answer.body);
}
