/** The bytes of a JSON body as they came, beside what they say: a signature is over bytes. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { RequestRefused } from './problem.ts';

const bodies = new WeakMap<FastifyRequest, Uint8Array>();
const none = new Uint8Array();

/** Empty where there was no body. */
export const rawBody = (request: FastifyRequest): Uint8Array => bodies.get(request) ?? none;

/** Keys that would reach a prototype are refused, as is text that is not UTF-8. */
export function keepRawBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    bodies.set(request, body);
    if (isUtf8(body)) void parse(request, body.toString('utf8'), done);
    else done(new RequestRefused({ refused: 'BODY_MALFORMED' }));
  });
}
