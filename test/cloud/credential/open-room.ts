/**
 * The room as it runs: a real database, a real server on 127.0.0.1, two facilities of two organizations.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createPinHasher } from '#cloud/credential/pin-hasher.ts';
import { credentialRoutes } from '#cloud/credential/routes.ts';
import { newId } from '#cloud/database/new-id.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { createSync } from '#cloud/gateway-sync/create-sync.ts';
import { createLocalHints } from '#cloud/gateway-sync/feed-hints.ts';
import { type FeedKeys, openOrCreateKeys } from '#cloud/gateway-sync/feed-keys.ts';
import { gatewayRoutes } from '#cloud/gateway-sync/gateway-routes.ts';
import type { Caller } from '#cloud/http/caller.ts';
import { createApi } from '#cloud/http/create-api.ts';
import { createCursors } from '#cloud/http/page.ts';
import { createServer } from '#cloud/http/server.ts';
import { createFacility, lookupKeyName } from '#cloud/identity/create-facility.ts';
import { createSealer, type Sealer } from '#cloud/identity/sealed-value.ts';
import { type RoleKey, roleKeys } from '#shared/role.ts';
import { openTestDatabase, type TestDatabase } from '../../database/open-database.ts';
import { TestGateway } from '../gateway-sync/test-gateway.ts';

export interface Reply<Body = Record<string, unknown>> {
  readonly status: number;
  readonly body: Body;
}

export interface Room {
  readonly database: TestDatabase;
  readonly sealer: Sealer;
  readonly feedKeys: FeedKeys;
  readonly facility: string;
  /** Of another organization. */
  readonly other: string;
  /** The person who has this role in this facility. */
  userOf(role: RoleKey, facility?: string): string;
  call<Body = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    as?: { readonly role?: RoleKey; readonly facility?: string; readonly key?: string },
  ): Promise<Reply<Body>>;
  /** A gateway that came in and was confirmed. */
  gateway(name?: string): Promise<TestGateway>;
  close(): Promise<void>;
}

export async function openRoom(): Promise<Room> {
  const database = await openTestDatabase();
  const sealer = createSealer(randomBytes(32));
  const callers = new Map<string, Caller>();
  const users = new Map<string, string>();
  const faults: unknown[] = [];
  const facilities = [await addFacility('Seaside'), await addFacility('Hillside')] as const;

  async function addFacility(name: string): Promise<string> {
    const organizationId = newId('org');
    await sql`insert into organization (id, name) values (${organizationId}, ${name})`.execute(database.admin);
    const owner = await addUser();
    const facility = await tenantTransaction(
      database.app,
      { actor: `user:${owner}`, userId: owner, facilityIds: [], organizationId },
      (transaction) =>
        createFacility(
          transaction,
          sealer,
          { userId: owner, organizationId },
          { name, zone: 'Asia/Tokyo', language: 'ja' },
        ),
    );
    for (const role of roleKeys) {
      const userId = role === 'owner' ? owner : await addUser();
      if (role !== 'owner') {
        await sql`insert into role_assignment (facility_id, id, user_id, role, assigned_by)
          values (${facility}, ${newId('rol')}, ${userId}, ${role}, ${owner})`.execute(database.admin);
      }
      users.set(`${role}@${facility}`, userId);
      callers.set(`Bearer ${role}@${facility}`, {
        kind: 'person',
        userId,
        sessionId: 'ses_test',
        roles: new Map([[facility, role]]),
        organizations: new Map([[facility, organizationId]]),
      });
    }
    return facility;
  }

  async function addUser(): Promise<string> {
    const id = newId('usr');
    await sql`insert into app_user (id, email, name) values (${id}, ${`${id.toLowerCase()}@example.test`}, 'Somebody')`.execute(
      database.admin,
    );
    return id;
  }

  const app: FastifyInstance = await createServer({
    logger: pino({ level: 'silent' }),
    version: '0',
    perAddress: 1_000_000,
    trustedProxies: [],
  });
  const api = createApi(app, {
    database: database.app,
    sealer,
    authenticate: async (authorization) => callers.get(authorization ?? ''),
    countCaller: () => undefined,
  });
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-room-'));
  const { keys } = await openOrCreateKeys(folder, Date.now());
  credentialRoutes(api, {
    cursors: createCursors(randomBytes(32)),
    sealer,
    pins: createPinHasher(),
    feedKeys: () => keys,
  });
  const metrics = new Registry();
  gatewayRoutes(api, { cursors: createCursors(randomBytes(32)), keys: () => keys });
  const sync = createSync({
    pools: database,
    hints: createLocalHints(),
    metrics,
    keys: () => keys,
    now: () => Date.now(),
    onFault: (error) => faults.push(error),
    lookupKeyOf: async (transaction, facilityId) => {
      const found = await sql<{ lookup_key_sealed: Buffer }>`select lookup_key_sealed from facility
        where id = ${facilityId}`.execute(transaction);
      return sealer.open(lookupKeyName(facilityId), found.rows[0]?.lookup_key_sealed ?? Buffer.alloc(0));
    },
  });
  await sync.addTo(app);
  const stop = new AbortController();
  const dispatching = sync.dispatcher.run(stop.signal);
  const address = await app.listen({ host: '127.0.0.1', port: 0 });

  const room: Room = {
    database,
    sealer,
    feedKeys: keys,
    facility: facilities[0],
    other: facilities[1],
    userOf: (role, facility = facilities[0]) => users.get(`${role}@${facility}`) ?? '',
    async call<Body>(method: string, path: string, body?: unknown, as: Parameters<Room['call']>[3] = {}) {
      const facility = as.facility ?? facilities[0];
      const response = await fetch(`${address}/v1/facilities/${facility}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${as.role ?? 'owner'}@${facility}`,
          ...(method === 'GET' ? {} : { 'idempotency-key': as.key ?? randomUUID() }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Body };
    },
    async gateway(name = 'Front') {
      const code = await room.call<{ code: string }>('POST', '/enrolment-codes', { name });
      const gateway = new TestGateway(address);
      await gateway.enrol(code.body.code);
      const { body } = await room.call<{ fingerprint: string }>('GET', `/gateways/${gateway.id}`);
      const { fingerprint } = body;
      const confirmed = await room.call('POST', `/gateways/${gateway.id}/confirm`, { fingerprint });
      if (confirmed.status !== 200) throw new Error(JSON.stringify(confirmed));
      await gateway.enrol(code.body.code);
      return gateway;
    },
    async close() {
      stop.abort();
      sync.close();
      await dispatching;
      await app.close();
      await database.close();
      rmSync(folder, { recursive: true });
      if (faults.length > 0) throw new AggregateError(faults, 'faults of the background');
    },
  };
  return room;
}
