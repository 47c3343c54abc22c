/**
 * The HTTP server: what every request meets before and after its route. It decides nothing about rooms.
 *
 * Guarantees: every body is bounded and JSON; every answer carries a request id and strict headers; every error leaves as
 * a problem; nothing of a request's body, query or credentials is logged.
 */
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Logger } from 'pino';
import { newId } from '#cloud/database/new-id.ts';
import { docsPage, docsStyle, type OpenApiDocument } from './docs-page.ts';
import { sendError, sendRefusal } from './error-map.ts';
import { describeApi } from './openapi.ts';
import { preferredLanguage, RequestRefused } from './problem.ts';
import { serializerCompiler, validatorCompiler } from './validate.ts';

export interface ServerOptions {
  readonly logger: Logger;
  readonly version: string;
  /** Requests a minute from one address. */
  readonly perAddress: number;
  /** Addresses of proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
}

const bodyMax = 262_144;
/** Tokens carry a role for each facility. */
const headersMax = 32_768;

export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const app: FastifyInstance = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: bodyMax,
    genReqId: () => newId('req'),
    requestIdHeader: false,
    trustProxy: options.trustedProxies.length === 0 ? false : [...options.trustedProxies],
    requestTimeout: 30_000,
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 128, caseSensitive: true },
    http: { maxHeaderSize: headersMax },
    return503OnClosing: true,
    frameworkErrors: sendError,
  }) as unknown as FastifyInstance;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendError);
  app.setNotFoundHandler((request, reply) => sendRefusal(new RequestRefused({ refused: 'NOT_FOUND' }), request, reply));
  app.removeContentTypeParser('text/plain');
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id).header('cache-control', 'no-store');
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions } = request;
    const ms = Math.round(reply.elapsedTime);
    request.log.info({ method, route: routeOptions.url, status: reply.statusCode, ms }, 'answered');
  });
  await app.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: { 'default-src': ["'none'"], 'style-src': ["'self'"] } },
  });
  await app.register(rateLimit, {
    max: options.perAddress,
    timeWindow: 60_000,
    errorResponseBuilder: (_, { ttl }) => new RequestRefused({ refused: 'RATE_LIMITED' }, Math.ceil(ttl / 1000)),
  });
  await describeApi(app, options.version);
  addPages(app);
  return app;
}

function addPages(app: FastifyInstance): void {
  const document = (): OpenApiDocument => app.swagger() as unknown as OpenApiDocument;
  app.get('/v1/openapi.json', async (_, reply) => reply.type('application/json').send(JSON.stringify(document())));
  app.get('/v1/docs', async (request, reply) =>
    reply.type('text/html').send(docsPage(document(), preferredLanguage(request.headers['accept-language']))),
  );
  app.get('/v1/docs.css', async (_, reply) => reply.type('text/css').send(docsStyle));
}
