/** Wires the rooms of the cloud: the only file that knows all of them. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { deriveHashKey } from '#shared/keyed-hash.ts';
import { createPinHasher } from './credential/pin-hasher.ts';
import { reconcileFeed } from './credential/reconcile-feed.ts';
import { credentialRoutes } from './credential/routes.ts';
import { sweepKeys } from './credential/sweep-keys.ts';
import type { Database } from './database/pool.ts';
import { commandRoutes } from './gateway-sync/command-routes.ts';
import { createSync } from './gateway-sync/create-sync.ts';
import type { Dispatcher } from './gateway-sync/dispatch.ts';
import type { FeedHints } from './gateway-sync/feed-hints.ts';
import type { FeedKeys } from './gateway-sync/feed-keys.ts';
import { gatewayRoutes } from './gateway-sync/gateway-routes.ts';
import { historyRoutes } from './gateway-sync/history-routes.ts';
import { createCallerLimit } from './http/caller-limit.ts';
import { createApi } from './http/create-api.ts';
import { closeAfterAnswer } from './http/drain.ts';
import { countRequests } from './http/metrics.ts';
import { addHealth } from './http/operations.ts';
import { createCursors } from './http/page.ts';
import { createServer } from './http/server.ts';
import { createAccessTokens } from './identity/access-token.ts';
import { createAuthenticate } from './identity/authenticate-caller.ts';
import { lookupKeyName } from './identity/create-facility.ts';
import { createOidc, type OidcSettings } from './identity/oidc.ts';
import { identityRoutes } from './identity/routes.ts';
import { createSealer } from './identity/sealed-value.ts';
import type { SessionLimits } from './identity/session.ts';
import { sweepIdentity } from './identity/sweep.ts';
import type { Sweep } from './worker/schedule.ts';

const sweepMs = 60_000;
const reconcileMs = 24 * 3_600_000;

export interface CloudParts {
  /** One pool for each role. */
  readonly pools: { readonly app: Database; readonly worker: Database; readonly gateway: Database };
  readonly cloudKey: Uint8Array;
  /** In force now. */
  readonly feedKeys: () => FeedKeys;
  readonly hints: FeedHints;
  readonly logger: Logger;
  readonly version: string;
  readonly sessions: SessionLimits;
  readonly limits: { readonly perAddress: number; readonly perCaller: number };
  readonly trustedProxies: readonly string[];
  readonly oidc?: OidcSettings | undefined;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  /** Aborted when the server begins to go down: whatever waits long answers now. */
  readonly closing: AbortSignal;
}

export interface Cloud {
  readonly app: FastifyInstance;
  readonly metrics: Registry;
  /** Gives places in the feeds; to be run beside. */
  readonly dispatcher: Dispatcher;
  /** What time alone does, for the schedule. */
  readonly sweeps: readonly Sweep[];
}

export async function composeCloud(parts: CloudParts): Promise<Cloud> {
  const { pools, cloudKey, logger, version, limits, trustedProxies, closing, now } = parts;
  const { perAddress, perCaller } = limits;
  const app = await createServer({ logger, version, perAddress, trustedProxies });
  const metrics = countRequests(app);
  const sealer = createSealer(cloudKey);
  const accessTokens = createAccessTokens(cloudKey, parts.sessions.accessSeconds);
  const api = createApi(app, {
    database: pools.app,
    sealer,
    authenticate: createAuthenticate(pools.app, accessTokens),
    countCaller: createCallerLimit(perCaller, now),
  });
  const cursors = createCursors(deriveHashKey(cloudKey, 'kannuki cloud cursor'));
  closeAfterAnswer(app, closing);
  addHealth(app, { database: pools.app, closing });
  const { oidc: settings, feedKeys } = parts;
  identityRoutes(api, {
    sealer,
    cursors,
    sessions: { database: pools.app, accessTokens, limits: parts.sessions },
    oidc: settings && createOidc({ database: pools.app, sealer, settings, now }),
  });
  credentialRoutes(api, { cursors, sealer, pins: createPinHasher(), feedKeys });
  gatewayRoutes(api, { cursors, keys: feedKeys });
  historyRoutes(api, cursors);
  commandRoutes(api);
  const sync = createSync({
    pools,
    hints: parts.hints,
    keys: feedKeys,
    now: parts.wallNow,
    metrics,
    onFault: (error) => logger.warn({ err: error }, 'the feeds wait'),
    lookupKeyOf: async (transaction, facilityId) => {
      const { lookup_key_sealed: sealed } = await transaction
        .selectFrom('facility')
        .select('lookup_key_sealed')
        .where('id', '=', facilityId)
        .executeTakeFirstOrThrow();
      return sealer.open(lookupKeyName(facilityId), sealed);
    },
  });
  await sync.addTo(app);
  closing.addEventListener('abort', sync.close, { once: true });
  const sweeps = [
    ...sync.sweeps,
    { name: 'keys', everyMs: sweepMs, run: () => sweepKeys(pools.worker) },
    { name: 'feed source', everyMs: reconcileMs, run: () => reconcileFeed(pools.worker) },
    { name: 'identity', everyMs: sweepMs, run: () => sweepIdentity(pools.worker) },
  ];
  return { app, metrics, dispatcher: sync.dispatcher, sweeps };
}
