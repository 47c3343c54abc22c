/**
 * How a room adds its routes: one declaration, from which follow validation, authorization, the transaction, the
 * idempotency key and the OpenAPI page.
 *
 * `route` is for people and service tokens; `openRoute` for what must work before anybody is known (it carries its own
 * proof: a password, a code, a signature). Rooms export `routes(api, parts)` and are wired in compose.ts.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Code, Language } from '#shared/code.ts';
import type { Action } from '#shared/role.ts';
import type { Answer, Done } from './answer.ts';
import type { Caller } from './caller.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type ObjectSchema = z.ZodObject;
type Parsed<Schema> = Schema extends z.ZodType ? z.infer<Schema> : undefined;

interface Described<Params, Query, Body> {
  readonly method: Method;
  /** For example `/v1/facilities/:facility/holders/:id`. */
  readonly url: string;
  /** Unique, in camel case: the name of the call in generated clients. */
  readonly operation: string;
  /** One sentence. */
  readonly summary: string;
  /** Under which heading it stands on the docs page. */
  readonly tag: string;
  /** Beside `facility`, which is known; strict. */
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** What the answers look like, by status; what a schema does not name does not leave. */
  readonly answers: Readonly<Partial<Record<Done['status'], z.ZodType>>>;
  /** Codes it may refuse with beside those of every route, for the docs page. */
  readonly refusals?: readonly Code[];
}

export interface RouteCall<Params, Query, Body> {
  readonly caller: Caller;
  /** The facility of the path, which the caller belongs to; '' for a route without one. */
  readonly facility: string;
  readonly params: Parsed<Params>;
  readonly query: Parsed<Query>;
  readonly body: Parsed<Body>;
  /** In the caller's claims. Commits with a `Done`, is rolled back with a refusal. */
  readonly transaction: TenantTransaction;
  readonly language: Language;
}

export interface Route<Params, Query, Body> extends Described<Params, Query, Body> {
  /** An action in the path's facility; `member`: any role there; `signed-in`: anybody known, no facility in the path. */
  readonly access: Action | 'member' | 'signed-in';
  readonly handle: (call: RouteCall<Params, Query, Body>) => Promise<Answer>;
}

export interface OpenCall<Params, Query, Body> {
  readonly params: Parsed<Params>;
  readonly query: Parsed<Query>;
  readonly body: Parsed<Body>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly language: Language;
}

export interface OpenRoute<Params, Query, Body> extends Described<Params, Query, Body> {
  /** Requests a minute from one address; what a guess costs nothing is limited harder. */
  readonly perMinute?: number;
  /** Greatest body in bytes, where it is not the server's own limit. */
  readonly bodyMax?: number;
  readonly handle: (call: OpenCall<Params, Query, Body>) => Promise<Answer>;
}

export interface Api {
  readonly route: <
    Params extends ObjectSchema | undefined = undefined,
    Query extends ObjectSchema | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
  >(
    route: Route<Params, Query, Body>,
  ) => void;
  readonly openRoute: <
    Params extends ObjectSchema | undefined = undefined,
    Query extends ObjectSchema | undefined = undefined,
    Body extends z.ZodType | undefined = undefined,
  >(
    route: OpenRoute<Params, Query, Body>,
  ) => void;
}
