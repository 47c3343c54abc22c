/** The OpenAPI 3.1 document, from the same schemas that validate. */
import type { SwaggerTransform } from '@fastify/swagger';
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import * as z from 'zod';

const problemSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'remedy', 'request'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string', description: 'In the language of Accept-Language (ja or en).' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'Stable; what a program matches.' },
    remedy: { type: 'string' },
    request: { type: 'string', description: 'The id under which the request is found in the log.' },
    fields: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'key', 'message'],
        properties: {
          path: { type: 'string' },
          key: { type: 'string' },
          limit: { type: 'string' },
          message: { type: 'string' },
        },
      },
    },
    current: { description: 'What it is now, where somebody else changed it meanwhile.' },
  },
};

const problemResponse = {
  description: 'Why not.',
  content: { 'application/problem+json': { schema: problemSchema } },
};

const jsonOf = (schema: unknown): Record<string, unknown> => {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' });
  return json;
};

const keyHeader = {
  type: 'object',
  required: ['idempotency-key'],
  properties: {
    'idempotency-key': { type: 'string', minLength: 8, maxLength: 128, description: 'New with every new change.' },
  },
};

const transform: SwaggerTransform = ({ schema, url, route }) => {
  const { params, querystring, body, response, ...rest } = (schema ?? {}) as FastifySchema & Record<string, unknown>;
  if (rest['operationId'] === undefined) return { schema: { hide: true }, url };
  const answers = Object.entries((response ?? {}) as Record<string, unknown>).map(
    ([status, answer]) => [status, { description: 'Done.', ...jsonOf(answer) }] as const,
  );
  const isKeyed = rest['security'] !== undefined && route.method !== 'GET';
  const json = {
    ...rest,
    ...(params === undefined ? {} : { params: jsonOf(params) }),
    ...(querystring === undefined ? {} : { querystring: jsonOf(querystring) }),
    ...(body === undefined ? {} : { body: jsonOf(body) }),
    ...(isKeyed ? { headers: keyHeader } : {}),
    response: { ...Object.fromEntries(answers), default: problemResponse },
  };
  return { schema: json as FastifySchema, url };
};

export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Kannuki', version, description: 'Who may open which door, and what happened at it.' },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
    },
    transform,
  });
}
