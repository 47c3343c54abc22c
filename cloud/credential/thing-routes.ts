/** The routes of a thing: list, create, read, replace, and delete where it can be deleted. */
import * as z from 'zod';
import { ok, refusal } from '#cloud/http/answer.ts';
import type { Api } from '#cloud/http/api.ts';
import { type Cursors, cutPage, pageOf, pageQuery } from '#cloud/http/page.ts';
import { idSchema } from '#shared/contract/identifier.ts';
import { deleteThing } from './delete-thing.ts';
import { itemHead, listThings, readThing } from './read-thing.ts';
import type { Thing } from './thing.ts';
import { createThing, updateThing } from './write-thing.ts';
import { writtenAnswer } from './written.ts';

const params = z.strictObject({ id: idSchema<string>() });
const version = z.int().min(1).describe('The version that was read.');
const ownId = idSchema<string>().optional().describe('Chosen by the caller, for ever; by default one is made.');
const refusals = ['REFERENCE_UNKNOWN', 'ALREADY_EXISTS'] as const;

export function thingRoutes(api: Api, cursors: Cursors, thing: Thing): void {
  const item = z.object({ ...itemHead, ...thing.item.shape });
  const url = `/v1/facilities/:facility/${thing.path}`;
  const words = thing.table.replaceAll('_', ' ');
  const tag = 'access';
  api.route({
    method: 'GET',
    url,
    operation: `list${thing.noun}s`,
    summary: `The ${words}s of a facility, in the order in which they were made.`,
    tag,
    access: thing.reading,
    query: pageQuery,
    answers: { 200: pageOf(item) },
    handle: async ({ transaction, facility, query }) => {
      const list = `${thing.path} ${facility}`;
      const after = cursors.read(list, query.cursor) ?? '';
      const found = await listThings(transaction, thing, facility, { after, limit: query.limit });
      return ok(cutPage(found, query.limit, ({ id }) => cursors.write(list, id)));
    },
  });
  api.route({
    method: 'GET',
    url: `${url}/:id`,
    operation: `read${thing.noun}`,
    summary: `One ${words}.`,
    tag,
    access: thing.reading,
    params,
    answers: { 200: item },
    handle: async ({ transaction, facility, params: { id } }) => {
      const found = await readThing(transaction, thing, { facility, id });
      return found === undefined ? refusal('NOT_FOUND') : ok(found);
    },
  });
  writeRoutes(api, thing, { item, url, words, tag });
}

interface Described {
  readonly item: z.ZodObject;
  readonly url: string;
  readonly words: string;
  readonly tag: string;
}

function writeRoutes(api: Api, thing: Thing, { item, url, words, tag }: Described): void {
  api.route({
    method: 'POST',
    url,
    operation: `create${thing.noun}`,
    summary: `Makes a ${words}.`,
    tag,
    access: 'manage_access',
    body: thing.body.safeExtend({ id: ownId }),
    answers: { 201: item },
    refusals,
    handle: async ({ transaction, facility, body }) => {
      const written = await createThing(transaction, thing, facility, body);
      return writtenAnswer(written, (id = '') => readThing(transaction, thing, { facility, id }), true);
    },
  });
  api.route({
    method: 'PUT',
    url: `${url}/:id`,
    operation: `replace${thing.noun}`,
    summary: `Writes a ${words} anew: what is left out has its default.`,
    tag,
    access: 'manage_access',
    params,
    body: thing.body.safeExtend({ version }),
    answers: { 200: item },
    refusals: [...refusals, 'VERSION_STALE'],
    handle: async ({ transaction, facility, params: { id }, body }) => {
      const written = await updateThing(transaction, thing, { facility, id }, body as { version: number });
      return writtenAnswer(written, () => readThing(transaction, thing, { facility, id }));
    },
  });
  if (thing.isUsed === undefined) return;
  api.route({
    method: 'DELETE',
    url: `${url}/:id`,
    operation: `delete${thing.noun}`,
    summary: `Takes a ${words} away, unless something still depends on it.`,
    tag,
    access: 'manage_access',
    params,
    query: z.strictObject({ version: z.coerce.number().pipe(version) }),
    answers: { 200: z.object({ id: z.string() }) },
    refusals: ['STILL_REFERENCED', 'VERSION_STALE'],
    handle: async ({ transaction, facility, params: { id }, query }) => {
      const written = await deleteThing(transaction, thing, { facility, id }, query.version);
      return writtenAnswer(written, async (gone) =>
        gone === undefined ? readThing(transaction, thing, { facility, id }) : { id: gone },
      );
    },
  });
}
