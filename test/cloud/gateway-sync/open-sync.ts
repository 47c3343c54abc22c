/**
 * The room as it runs: a real database, a real server on 127.0.0.1, its dispatcher at work, one facility with an owner.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { newId } from '#cloud/database/new-id.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { bindDoor } from '#cloud/gateway-sync/bind-door.ts';
import { commandRoutes } from '#cloud/gateway-sync/command-routes.ts';
import { createSync, type Sync } from '#cloud/gateway-sync/create-sync.ts';
import { emitFeed } from '#cloud/gateway-sync/emit-feed.ts';
import type { FeedDraft } from '#cloud/gateway-sync/feed-draft.ts';
import { createLocalHints, type FeedHints } from '#cloud/gateway-sync/feed-hints.ts';
import { type FeedKeys, openOrCreateKeys } from '#cloud/gateway-sync/feed-keys.ts';
import { gatewayRoutes } from '#cloud/gateway-sync/gateway-routes.ts';
import { historyRoutes } from '#cloud/gateway-sync/history-routes.ts';
import type { Caller } from '#cloud/http/caller.ts';
import { createApi } from '#cloud/http/create-api.ts';
import { createCursors } from '#cloud/http/page.ts';
import { createServer } from '#cloud/http/server.ts';
import { createSealer } from '#cloud/identity/sealed-value.ts';
import { identifier } from '#shared/identifier.ts';
import type { RoleKey } from '#shared/role.ts';
import { openTestDatabase, type TestDatabase } from '../../database/open-database.ts';
import { type Answer, TestGateway } from './test-gateway.ts';

export interface SyncRoom {
  readonly database: TestDatabase;
  readonly url: string;
  readonly facility: string;
  readonly sync: Sync;
  readonly metrics: Registry;
  readonly lookupKey: Uint8Array;
  /** Of the cloud's keys. */
  readonly folder: string;
  /** Of another organization; its people come in as `role@facility`. */
  addFacility(): Promise<string>;
  useKeys(keys: FeedKeys): void;
  call(method: string, path: string, body?: unknown, role?: RoleKey): Promise<Answer>;
  /** As a verb of another room would. */
  emit(changes: readonly FeedDraft[]): Promise<void>;
  bind(door: string, gateway: string | null): Promise<void>;
  code(name?: string, replaces?: string): Promise<string>;
  /** A gateway that came in and was confirmed. */
  gateway(options?: { readonly replaces?: string }): Promise<TestGateway>;
  asApp<Result>(work: (transaction: TenantTransaction) => Promise<Result>): Promise<Result>;
  ignored(call: string, reason: string): Promise<number>;
  close(): Promise<void>;
}

export async function openSync(
  options: { readonly hints?: FeedHints; readonly isIdle?: boolean } = {},
): Promise<SyncRoom> {
  const database = await openTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-sync-'));
  let { keys } = await openOrCreateKeys(folder, Date.now());
  const lookupKey = new Uint8Array(randomBytes(32));
  const facility = await addFacility(database);
  const metrics = new Registry();
  const faults: unknown[] = [];
  const sync = createSync({
    pools: database,
    hints: options.hints ?? createLocalHints(),
    metrics,
    keys: () => keys,
    lookupKeyOf: async () => lookupKey,
    now: () => Date.now(),
    enrolmentsPerMinute: 1e9,
    onFault: (error) => faults.push(error),
  });
  const app = await createServer({
    logger: pino({ level: 'silent' }),
    version: '0',
    perAddress: 1e9,
    trustedProxies: [],
  });
  const cursors = createCursors(randomBytes(32));
  const api = createApi(app, {
    database: database.app,
    sealer: createSealer(randomBytes(32)),
    authenticate: async (authorization) => callerOf(facility, authorization),
    countCaller: () => undefined,
  });
  gatewayRoutes(api, { cursors, keys: () => keys });
  commandRoutes(api);
  historyRoutes(api, cursors);
  await sync.addTo(app);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const stop = new AbortController();
  const running = options.isIdle ? Promise.resolve() : sync.dispatcher.run(stop.signal);

  const asApp: SyncRoom['asApp'] = (work) =>
    tenantTransaction(database.app, { actor: 'user:usr_test', facilityIds: [facility] }, work);

  const room: SyncRoom = {
    ...{ database, url, facility, sync, metrics, lookupKey, folder, asApp },
    addFacility: () => addFacility(database),
    useKeys: (next) => {
      keys = next;
    },
    async call(method, path, body, role = 'owner') {
      const response = await fetch(`${url}/v1/facilities/${facility}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${role}`,
          'idempotency-key': randomUUID(),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await response.json() };
    },
    async emit(changes) {
      await asApp((transaction) => emitFeed(transaction, facility, changes));
      sync.dispatcher.nudge();
    },
    async bind(doorId, gatewayId) {
      const outcome = await asApp((transaction) => bindDoor(transaction, { facilityId: facility, doorId, gatewayId }));
      if (outcome.status !== 'applied') throw new Error(JSON.stringify(outcome));
      sync.dispatcher.nudge();
    },
    async code(name = 'Front', replaces) {
      const { status, body } = await room.call('POST', '/enrolment-codes', { name, ...(replaces ? { replaces } : {}) });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body.code;
    },
    async gateway({ replaces } = {}) {
      const gateway = new TestGateway(url);
      const code = await room.code('Front', replaces);
      await gateway.enrol(code);
      const { body } = await room.call('GET', `/gateways/${gateway.id}`);
      const confirmed = await room.call('POST', `/gateways/${gateway.id}/confirm`, { fingerprint: body.fingerprint });
      if (confirmed.status !== 200) throw new Error(JSON.stringify(confirmed));
      await gateway.enrol(code);
      return gateway;
    },
    async ignored(call, reason) {
      const { values } = (await metrics.getSingleMetric('kannuki_sync_ignored_total')?.get()) ?? { values: [] };
      return (
        values.find(({ labels }) => labels['call'] === `/gateway/v1${call}` && labels['reason'] === reason)?.value ?? 0
      );
    },
    async close() {
      stop.abort();
      sync.close();
      await running;
      await app.close();
      await database.close();
      rmSync(folder, { recursive: true, force: true });
      if (faults.length > 0) throw new AggregateError(faults, 'faults of the background');
    },
  };
  return room;
}

async function addFacility({ admin }: TestDatabase): Promise<string> {
  const [organization, facility] = [newId('org'), newId('fac')];
  await sql`insert into organization (id, name) values (${organization}, 'Seaside')`.execute(admin);
  await sql`insert into facility (id, organization_id, name, zone, pin_salt, lookup_key_sealed, created_by)
    values (${facility}, ${organization}, 'Seaside', 'Asia/Tokyo', ${Buffer.alloc(16)}, ${Buffer.alloc(48)}, 'usr_test')`.execute(
    admin,
  );
  return facility;
}

/** @param authorization `Bearer role`, or `Bearer role@facility` for another. */
function callerOf(own: string, authorization = ''): Caller | undefined {
  const [role = '', facility = own] = authorization.slice('Bearer '.length).split('@');
  return {
    kind: 'person',
    userId: `usr_${role}`,
    sessionId: 'ses_test',
    roles: new Map([[facility, role as RoleKey]]),
    organizations: new Map([[facility, 'org_test']]),
  };
}

/** Rows as another room would say them. */
export const said = {
  facility: (facility: string): FeedDraft => ({
    op: 'put',
    kind: 'facility',
    row: { id: identifier(facility), name: 'Seaside', zone: 'Asia/Tokyo', pinSalt: '00'.repeat(16) },
  }),
  holder: (id: string, name = 'Hana'): FeedDraft => ({ op: 'put', kind: 'holder', row: { id: identifier(id), name } }),
  door: (id: string): FeedDraft => ({
    op: 'put',
    kind: 'door',
    row: {
      id: identifier(id),
      name: `Door ${id}`,
      lock: { device: identifier('dev1'), output: 0, release: 'energise' },
      contact: null,
      rex: null,
      fire: null,
      strikeMs: 5_000,
      extendedStrikeMs: 15_000,
      heldMs: 30_000,
      extendedHeldMs: 60_000,
      heldWarningMs: 10_000,
      relockOnOpen: true,
      debounceMs: 50,
      rexReleases: false,
      secondFactor: 'never',
      escort: 'never',
      antiPassback: { mode: 'off', when: 'always' },
      firstPerson: 'never',
      freeSchedule: null,
      interlockGroup: null,
    },
  }),
  credential: (
    id: string,
    changes: { readonly status?: 'issued' | 'suspended' | 'revoked'; readonly lookup?: string } = {},
  ): FeedDraft => ({
    op: 'put',
    kind: 'credential',
    row: {
      id: identifier(id),
      holder: identifier('hol1'),
      kind: 'card',
      lookup: changes.lookup ?? Buffer.from(id.padStart(32, '.')).toString('hex').slice(0, 64),
      status: changes.status ?? 'issued',
      validFrom: null,
      validUntil: null,
      leaseMs: 'unlimited',
      usesMax: null,
      isDuress: false,
      overridesLockdown: false,
      needsExtendedTime: false,
      isFirstPerson: false,
    },
  }),
  grant: (credential: string, door: string): FeedDraft => ({
    op: 'put',
    kind: 'grant',
    row: {
      grant: identifier(`grt_${credential}`),
      credential: identifier(credential),
      door: identifier(door),
      schedule: null,
      validFrom: null,
      validUntil: null,
    },
  }),
} as const;
