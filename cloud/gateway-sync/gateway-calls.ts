/**
 * The calls of gateways, `/gateway/v1`: one thin route for each, admitted by the request's own token, its body bounded and
 * strict. What changes nothing is counted by its reason.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { RequestRefused } from '#cloud/http/problem.ts';
import type { Code } from '#shared/code.ts';
import { cardRead, enrolRequest } from '#shared/contract/sync/enrolment.ts';
import { feedAckRequest, feedQuery, repairRequest, snapshotQuery } from '#shared/contract/sync/feed.ts';
import { journalUpload } from '#shared/contract/sync/journal.ts';
import { nonceSchema, statementType } from '#shared/contract/sync/statement.ts';
import { signStatement } from '#shared/signed-statement.ts';
import { cutSnapshot } from './cut-snapshot.ts';
import { enrolGateway } from './enrol-gateway.ts';
import { admitGateway, type GatewayCaller, type UsedTokens } from './gateway-caller.ts';
import { pollFeed } from './poll-feed.ts';
import { repairDrift } from './repair-drift.ts';
import type { SyncParts } from './sync-parts.ts';
import { takeAck } from './take-ack.ts';
import { takeCardRead } from './take-card-read.ts';
import { takeJournal } from './take-journal.ts';

const bodyMax = 1_048_576;
const timesPerMinute = 120;
const noBody = new Uint8Array();

/** Registered as a plugin of its own: bodies are kept as bytes, since the token is over them. */
export async function gatewayCalls(app: FastifyInstance, parts: SyncParts): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer', bodyLimit: bodyMax }, (_request, body, done) =>
    done(null, body),
  );
  addOpenCalls(app, parts);
  addFeedCalls(app, parts);
  addUpCalls(app, parts);
}

const limited = (max: number) => ({ config: { rateLimit: { max, timeWindow: 60_000 } }, schema: { hide: true } });
const admitted = { config: { rateLimit: false }, schema: { hide: true } } as const;
const timeQuery = z.strictObject({ nonce: nonceSchema });

function addOpenCalls(app: FastifyInstance, parts: SyncParts): void {
  app.get('/gateway/v1/time', limited(timesPerMinute), async (request) => {
    const { nonce } = parseQuery(parts, timeQuery, request);
    const statement = { gateway: null, nonce, at: parts.now() };
    return { time: await signStatement(statementType.time, statement, parts.keys().signKey) };
  });
  app.post('/gateway/v1/enroll', limited(parts.enrolmentsPerMinute), async (request) => {
    const answer = await enrolGateway(parts, parseBody(parts, enrolRequest, request));
    if ('refused' in answer) throw ignored(parts, request, { code: answer.refused, reason: answer.refused });
    return answer;
  });
}

function addFeedCalls(app: FastifyInstance, parts: SyncParts): void {
  const used: UsedTokens = new Map();
  app.get('/gateway/v1/feed', admitted, async (request, reply) => {
    const caller = await admit(parts, used, request);
    return await pollFeed(parts, caller, parseQuery(parts, feedQuery, request), goneSignal(reply));
  });
  app.post('/gateway/v1/feed/ack', admitted, async (request) => {
    const caller = await admit(parts, used, request);
    const answer = await takeAck(parts, caller, parseBody(parts, feedAckRequest, request));
    if ('refused' in answer) throw ignored(parts, request, { code: answer.refused, reason: answer.reason });
    if (answer.status === 'noop') count(parts, request, 'repeated');
    return answer;
  });
  app.post('/gateway/v1/feed/repair', admitted, async (request) => {
    const caller = await admit(parts, used, request);
    return await repairDrift(parts, caller, parseBody(parts, repairRequest, request));
  });
  app.get('/gateway/v1/snapshot', admitted, async (request) => {
    const caller = await admit(parts, used, request);
    const answer = await cutSnapshot(parts, caller, parseQuery(parts, snapshotQuery, request));
    if ('refused' in answer) throw ignored(parts, request, { code: answer.refused, reason: 'gone' });
    return answer;
  });
}

function addUpCalls(app: FastifyInstance, parts: SyncParts): void {
  const used: UsedTokens = new Map();
  app.post('/gateway/v1/read', admitted, async (request) => {
    const caller = await admit(parts, used, request);
    return await takeCardRead(parts, caller, parseBody(parts, cardRead, request));
  });
  app.post('/gateway/v1/journal', admitted, async (request) => {
    const caller = await admit(parts, used, request);
    const answer = await takeJournal(parts, caller, parseBody(parts, journalUpload, request));
    if (answer.kind === 'acked') return { ack: answer.ack };
    if (answer.kind === 'refused') throw ignored(parts, request, { code: 'STATEMENT_INVALID', reason: answer.reason });
    const { epoch, seq, hash = '0'.repeat(64) } = answer.stand;
    count(parts, request, answer.reason ?? answer.code);
    throw new RequestRefused({ refused: answer.code, current: { epoch, seq, hash, ack: answer.ack } });
  });
}

async function admit(parts: SyncParts, used: UsedTokens, request: FastifyRequest): Promise<GatewayCaller> {
  const { method, url: path, headers } = request;
  const admission = await admitGateway(parts, used, {
    authorization: headers.authorization,
    method,
    path,
    body: bytesOf(request),
  });
  if ('refused' in admission) throw ignored(parts, request, { code: admission.refused, reason: admission.refused });
  return admission;
}

const bytesOf = ({ body }: FastifyRequest): Uint8Array => (body instanceof Uint8Array ? body : noBody);

function count(parts: SyncParts, request: FastifyRequest, reason: string): void {
  parts.ignored.inc({ call: request.routeOptions.url ?? 'none', reason });
}

/** @returns the refusal, counted. */
function ignored(
  parts: SyncParts,
  request: FastifyRequest,
  { code, reason }: { readonly code: Code; readonly reason: string },
): RequestRefused {
  count(parts, request, reason);
  return new RequestRefused({ refused: code });
}

function parseQuery<Schema extends z.ZodType>(
  parts: SyncParts,
  schema: Schema,
  request: FastifyRequest,
): z.output<Schema> {
  return parsed(parts, schema, request, request.query);
}

function parseBody<Schema extends z.ZodType>(
  parts: SyncParts,
  schema: Schema,
  request: FastifyRequest,
): z.output<Schema> {
  const value = jsonOf(bytesOf(request));
  if (value === undefined) throw ignored(parts, request, { code: 'BODY_MALFORMED', reason: 'malformed' });
  return parsed(parts, schema, request, value);
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

function parsed<Schema extends z.ZodType>(
  parts: SyncParts,
  schema: Schema,
  request: FastifyRequest,
  value: unknown,
): z.output<Schema> {
  const result = schema.safeParse(value);
  if (!result.success) throw ignored(parts, request, { code: 'REQUEST_INVALID', reason: 'wrong-shape' });
  return result.data;
}

/** Fires when nobody waits for the answer any more. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => gone.abort());
  return gone.signal;
}
