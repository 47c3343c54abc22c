/** Zod as fastify's validator and serializer: what came is parsed once, what leaves is only what its schema names. */
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify';
import type * as z from 'zod';
import { fieldIssues } from './field-issue.ts';
import { RequestRefused } from './problem.ts';

/** As the paths of complaints name the parts of a request. */
const partNames: Readonly<Record<string, string>> = { querystring: 'query' };

export const validatorCompiler: FastifySchemaCompiler<z.ZodType> = ({ schema, httpPart = 'body' }) => {
  return (data: unknown) => {
    const result = schema.safeParse(data);
    if (result.success) return { value: result.data };
    // What does not even look like an id is no id of anything here.
    if (httpPart === 'params') return { error: new RequestRefused({ refused: 'NOT_FOUND' }) };
    const fields = fieldIssues(partNames[httpPart] ?? httpPart, result.error.issues);
    return { error: new RequestRefused({ refused: 'REQUEST_INVALID', fields }) };
  };
};

export const serializerCompiler: FastifySerializerCompiler<z.ZodType> = ({ schema, method, url }) => {
  return (data: unknown) => {
    const result = schema.safeParse(data);
    if (!result.success) {
      throw new Error(`the answer of ${method} ${url} is not as declared`, { cause: result.error });
    }
    return JSON.stringify(result.data);
  };
};
