/**
 * Every error on its way out: a refusal keeps its code, a fault of the database becomes 503, a broken constraint the
 * refusal it stands for, and anything else is a bug of ours, logged with the request's id and told as nothing more.
 */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { DatabaseFault, databaseFault, sqlState } from '#cloud/database/database-fault.ts';
import { type Code, codeHttpStatus } from '#shared/code.ts';
import { preferredLanguage, problemOf, RequestRefused } from './problem.ts';

/** What a constraint refused, though every schema passed it. */
const stateCodes: Readonly<Record<string, Code>> = {
  '23505': 'ALREADY_EXISTS',
  '23P01': 'ALREADY_EXISTS',
  '23503': 'REFERENCE_UNKNOWN',
  '23514': 'REQUEST_INVALID',
  '22021': 'REQUEST_INVALID', // a NUL in text
  '22P05': 'REQUEST_INVALID', // the same in JSON
  '42501': 'NOT_AUTHORIZED', // row security
};

const fastifyCodes: Readonly<Record<string, Code>> = {
  FST_ERR_BAD_URL: 'NOT_FOUND',
  FST_ERR_MAX_PARAM_LENGTH: 'NOT_FOUND',
  FST_ERR_CTP_BODY_TOO_LARGE: 'BODY_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'BODY_TYPE_UNSUPPORTED',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'BODY_MALFORMED',
  FST_ERR_CTP_INVALID_JSON_BODY: 'BODY_MALFORMED',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'BODY_MALFORMED',
};

const busyRetryS = 1;
const unavailableRetryS = 5;

/** The refusal an error stands for. */
function refusalOf(error: unknown): RequestRefused {
  if (error instanceof RequestRefused) return error;
  const fault = error instanceof DatabaseFault ? error : databaseFault(error);
  if (fault) {
    return new RequestRefused({ refused: fault.code }, fault.code === 'DATABASE_BUSY' ? busyRetryS : unavailableRetryS);
  }
  const state = sqlState(error);
  const ofState = state === undefined ? undefined : stateCodes[state];
  if (ofState) return new RequestRefused({ refused: ofState });
  return new RequestRefused({ refused: ofFastify(error) });
}

function ofFastify(error: unknown): Code {
  const { code = '', statusCode = 500 } = error as Partial<FastifyError>;
  const known = fastifyCodes[code];
  if (known) return known;
  if (statusCode === 503) return 'SHUTTING_DOWN';
  return statusCode >= 400 && statusCode < 500 ? 'BODY_MALFORMED' : 'REQUEST_FAILED';
}

export function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const refused = refusalOf(error);
  const status = codeHttpStatus(refused.code);
  if (status >= 500) request.log.error({ err: error, code: refused.code }, 'request failed');
  sendRefusal(refused, request, reply);
}

export function sendRefusal(refused: RequestRefused, request: FastifyRequest, reply: FastifyReply): void {
  const problem = problemOf(refused.refusal, preferredLanguage(request.headers['accept-language']), request.id);
  if (refused.retryAfterS !== undefined) void reply.header('retry-after', String(refused.retryAfterS));
  if (problem.status === 401) void reply.header('www-authenticate', 'Bearer');
  void reply
    .code(problem.status)
    .type('application/problem+json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(problem);
}
