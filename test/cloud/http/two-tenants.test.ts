/**
 * Every route that the API describes, asked by one tenant with the ids of another: no foreign row is seen or touched, and no
 * foreign id or word leaves, neither in an answer nor in an error. Routes that are added are walked without a change here.
 */
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { seededRandom } from '../../fakes/seeded-random.ts';
import { furnish } from './furnish.ts';
import { type JsonSchema, sampleJson } from './sample-json.ts';
import { openTestCloud, type Person } from './test-cloud.ts';

const cloud = await openTestCloud();
afterAll(() => cloud.close());
const { call, database } = cloud;

const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 1_000_000);
const random = seededRandom(seed);
const rounds = process.env['KANNUKI_FULL'] === '1' ? 30 : 1;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: JsonSchema;
}

interface Operation {
  readonly operationId: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: JsonSchema }> };
  readonly 'x-access': string;
}

async function readOperations(): Promise<readonly Operation[]> {
  const { body } = await call({ url: '/v1/openapi.json' });
  return Object.entries<Record<string, object>>(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => ({ ...operation, path, method: method.toUpperCase() }) as Operation,
    ),
  );
}

/** What ends the caller's own session would end the walk. */
const ending = new Set(['logOut', 'logOutEverywhere', 'leave', 'changePassword']);

interface Ground {
  readonly facility: string;
  readonly organization: string;
  readonly ids: readonly string[];
}

function ask(operation: Operation, as: string, ground: Ground, word: string) {
  const chance = random;
  const id = () => ground.ids[Math.floor(chance() * ground.ids.length)] ?? 'none';
  const sampler = { chance, id, text: (name: string) => `${word} ${name} ${Math.floor(chance() * 1e6)}` };
  const fixed: Record<string, string> = { facility: ground.facility, organization: ground.organization };
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => fixed[name] ?? id());
  const query = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query' && parameter.name !== 'cursor')
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(sampleJson(schema, sampler, name)))}`)
    .join('&');
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = operation.method === 'GET' || schema === undefined ? undefined : sampleJson(schema, sampler);
  return call({
    as,
    method: operation.method,
    url: query === '' ? path : `${path}?${query}`,
    ...(body === undefined || body === null ? {} : { body }),
  });
}

/** All tables with tenants' rows. */
async function tenantTables(): Promise<readonly string[]> {
  const found = await sql<{ name: string }>`select c.table_name as name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = 'public' and c.column_name = 'facility_id' and t.table_type = 'BASE TABLE'
    order by 1`.execute(database.admin);
  return found.rows.map(({ name }) => name);
}

async function rowsOf(facility: string): Promise<ReadonlyMap<string, readonly Record<string, unknown>[]>> {
  const rows = new Map<string, readonly Record<string, unknown>[]>();
  for (const table of await tenantTables()) {
    const found = await sql<{ row: Record<string, unknown> }>`select to_jsonb(t) as row from ${sql.table(table)} t
      where facility_id = ${facility} order by to_jsonb(t)::text`.execute(database.admin);
    rows.set(
      table,
      found.rows.map(({ row }) => row),
    );
  }
  return rows;
}

/** Everything that names something of a tenant: its ids, and the words that only it uses. */
async function groundOf(person: Person): Promise<Ground> {
  const { facility, organization, user } = person;
  const rows = [...(await rowsOf(facility)).values()].flat();
  const ids = rows.map((row) => row['id']).filter((id): id is string => typeof id === 'string');
  return { facility, organization, ids: [...new Set([facility, user, ...ids])] };
}

async function populate(person: Person, operations: readonly Operation[], word: string): Promise<void> {
  await furnish(cloud, person, word);
  const ground = await groundOf(person);
  for (const operation of operations.filter(({ method }) => method === 'POST' || method === 'PUT')) {
    if (!operation.path.includes('{facility}') || operation.path.includes('revoke')) continue;
    await ask(operation, person.token, ground, word);
  }
}

/** Tables that a walk must not find empty at the other tenant. */
const furnished = [
  'credential',
  'credential_grant',
  'door',
  'door_group',
  'gateway',
  'gateway_alarm',
  'gateway_command',
]
  .concat(['holder', 'holiday', 'invitation', 'journal_entry', 'reader', 'role_assignment', 'schedule'])
  .concat(['service_token', 'enrolment_code', 'audit_event', 'feed_source']);

it(`lets no tenant see or touch what is another's, whatever it asks (seed ${seed})`, {
  timeout: 1_200_000,
}, async () => {
  const operations = (await readOperations()).filter(({ operationId }) => !ending.has(operationId));
  const [mine, theirs] = [await cloud.owner('mine'), await cloud.owner('theirs')];
  await populate(theirs, operations, 'foreignword');
  await populate(mine, operations, 'ownword');
  const token = await call({
    as: mine.token,
    url: `/v1/facilities/${mine.facility}/tokens`,
    body: { name: 'walker', actions: ['manage_access', 'issue_credential', 'view_journal', 'release_door'] },
  });
  const foreign = await groundOf(theirs);
  const own = await groundOf(mine);
  const before = await rowsOf(theirs.facility);
  expect(furnished.filter((table) => before.get(table)?.length === 0)).toEqual([]);
  // Half of their ids were guessed, and may come to name things of one's own; the other half only a leak can tell.
  const guessed = foreign.ids.filter((_, index) => index % 2 === 0);
  const unknown = foreign.ids.filter((id, index) => index % 2 === 1 && !guessed.includes(id) && !own.ids.includes(id));
  const marks = [...unknown, theirs.email, 'foreignword', 'theirs Ltd', 'theirs house'];
  const grounds: readonly Ground[] = [
    { ...foreign, ids: guessed },
    { ...own, ids: guessed },
    { ...own, organization: foreign.organization, ids: [...own.ids, ...guessed] },
  ];
  let asked = 0;
  const unexpected: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const operation of operations) {
      for (const ground of grounds) {
        for (const as of [mine.token, token.body.token as string]) {
          const answer = await ask(operation, as, ground, 'ownword');
          asked += 1;
          const text = JSON.stringify(answer.body);
          const seen = marks.filter((mark) => text.includes(mark));
          const isElsewhere = ground.facility === theirs.facility && operation.path.includes('{facility}');
          const isWrong = seen.length > 0 || answer.status >= 500 || (isElsewhere && answer.status !== 404);
          if (isWrong) unexpected.push(`${operation.operationId} ${answer.status} ${seen} ${text.slice(0, 200)}`);
        }
      }
    }
  }
  expect(unexpected).toEqual([]);
  expect(asked).toBe(operations.length * rounds * 6);
  expect(Object.fromEntries(await rowsOf(theirs.facility))).toEqual(Object.fromEntries(before));
});
