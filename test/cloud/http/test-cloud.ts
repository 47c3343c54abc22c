/**
 * A cloud for one test file: the composed server over a migrated database, without a port, and people to talk to it.
 *
 * `cloud.owner('a')` makes an organization, a facility and its owner as the command line would; `call` sends a request as
 * somebody and gives back status and body.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Cloud, type CloudParts, composeCloud } from '#cloud/compose.ts';
import { createLocalHints } from '#cloud/gateway-sync/feed-hints.ts';
import { openOrCreateKeys } from '#cloud/gateway-sync/feed-keys.ts';
import { createOwner } from '#cloud/identity/create-owner.ts';
import { createSealer } from '#cloud/identity/sealed-value.ts';
import { openTestDatabase, type TestDatabase } from '../../database/open-database.ts';

export const password = 'correct horse battery';

export interface Person {
  readonly email: string;
  readonly user: string;
  readonly facility: string;
  readonly organization: string;
  token: string;
  refreshToken: string;
}

export interface Answered {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks at whatever came.
  readonly body: any;
  readonly headers: Readonly<Record<string, unknown>>;
}

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly body?: unknown;
  /** The access token, if any. */
  readonly as?: string | undefined;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface TestCloud {
  readonly cloud: Cloud;
  readonly database: TestDatabase;
  readonly cloudKey: Uint8Array;
  readonly closing: AbortController;
  call(asked: Asked): Promise<Answered>;
  /** An organization with one facility and its owner, signed in. */
  owner(name: string): Promise<Person>;
  /** Somebody invited into a facility in a role, signed in. */
  member(of: Person, name: string, role: string): Promise<Person>;
  logIn(email: string): Promise<{ readonly token: string; readonly refreshToken: string; readonly user: string }>;
  refresh(person: Person): Promise<void>;
  close(): Promise<void>;
}

export async function openTestCloud(changes: Partial<CloudParts> = {}): Promise<TestCloud> {
  const database = await openTestDatabase();
  const cloudKey = randomBytes(32);
  const closing = new AbortController();
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-cloud-'));
  const { keys } = await openOrCreateKeys(folder, Date.now());
  const cloud = await composeCloud({
    pools: { app: database.app, worker: database.worker, gateway: database.gateway },
    cloudKey,
    logger: pino({ level: 'silent' }),
    version: 'test',
    sessions: { accessSeconds: 600, idleMinutes: 60, absoluteHours: 24 },
    limits: { perAddress: 1_000_000, perCaller: 1_000_000 },
    trustedProxies: [],
    now: () => performance.now(),
    wallNow: Date.now,
    feedKeys: () => keys,
    hints: createLocalHints(),
    closing: closing.signal,
    ...changes,
  });
  await cloud.app.ready();
  const call = async (asked: Asked): Promise<Answered> => {
    const method = asked.method ?? (asked.body === undefined ? 'GET' : 'POST');
    const response = await cloud.app.inject({
      method,
      url: asked.url,
      headers: {
        ...(asked.as === undefined ? {} : { authorization: `Bearer ${asked.as}` }),
        ...(method === 'GET' ? {} : { 'idempotency-key': asked.key ?? randomBytes(12).toString('hex') }),
        ...asked.headers,
      },
      ...(asked.body === undefined ? {} : { payload: asked.body as object }),
    });
    const isJson = String(response.headers['content-type']).includes('json');
    return {
      status: response.statusCode,
      body: isJson ? response.json() : response.body,
      headers: response.headers,
    };
  };
  const logIn = async (email: string) => {
    const { status, body } = await call({ url: '/v1/sessions', body: { email, password } });
    if (status !== 201) throw new Error(`${email} does not come in: ${JSON.stringify(body)}`);
    return { token: body.accessToken as string, refreshToken: body.refreshToken as string, user: body.user as string };
  };
  const owner = async (name: string): Promise<Person> => {
    const email = `${name}@example.test`;
    const made = await createOwner(database.app, createSealer(cloudKey), {
      email,
      password,
      name,
      organization: `${name} Ltd`,
      facility: { name: `${name} house`, zone: 'Asia/Tokyo', language: 'ja' },
    });
    return { email, facility: made.facility, organization: made.organization, ...(await logIn(email)) };
  };
  const member = async (of: Person, name: string, role: string): Promise<Person> => {
    const email = `${name}@example.test`;
    const url = `/v1/facilities/${of.facility}/invitations`;
    const invited = await call({ as: of.token, url, body: { email, role } });
    const token: string = invited.body.token;
    const { status, body } = await call({ url: '/v1/invitations/register', body: { token, name, password } });
    if (status !== 201) throw new Error(`${name} does not join: ${JSON.stringify(body)}`);
    return { ...of, email, ...(await logIn(email)) };
  };
  return {
    cloud,
    database,
    cloudKey,
    closing,
    call,
    owner,
    member,
    logIn,
    async refresh(person) {
      const { body } = await call({ url: '/v1/sessions/refresh', body: { refreshToken: person.refreshToken } });
      person.token = body.accessToken;
      person.refreshToken = body.refreshToken;
    },
    async close() {
      await cloud.app.close();
      await database.close();
      rmSync(folder, { recursive: true });
    },
  };
}
