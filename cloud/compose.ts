/** Wires the rooms of the cloud: the only file that knows all of them. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { deriveHashKey } from '#shared/keyed-hash.ts';
import { createPinHasher } from './credential/pin-hasher.ts';
import { credentialRoutes } from './credential/routes.ts';
import type { Database } from './database/pool.ts';
import { createCallerLimit } from './http/caller-limit.ts';
import { createApi } from './http/create-api.ts';
import { countRequests } from './http/metrics.ts';
import { addHealth } from './http/operations.ts';
import { createCursors } from './http/page.ts';
import { createServer } from './http/server.ts';
import { createAccessTokens } from './identity/access-token.ts';
import { createAuthenticate } from './identity/authenticate-caller.ts';
import { createOidc, type OidcSettings } from './identity/oidc.ts';
import { identityRoutes } from './identity/routes.ts';
import { createSealer } from './identity/sealed-value.ts';
import type { SessionLimits } from './identity/session.ts';

export interface CloudParts {
  /** One pool for each role. */
  readonly pools: { readonly app: Database; readonly worker: Database; readonly gateway: Database };
  readonly cloudKey: Uint8Array;
  readonly logger: Logger;
  readonly version: string;
  readonly sessions: SessionLimits;
  readonly limits: { readonly perAddress: number; readonly perCaller: number };
  readonly trustedProxies: readonly string[];
  readonly oidc?: OidcSettings | undefined;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Aborted when the server begins to go down: whatever waits long answers now. */
  readonly closing: AbortSignal;
}

export interface Cloud {
  readonly app: FastifyInstance;
  readonly metrics: Registry;
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
  addHealth(app, { database: pools.app, closing });
  const { oidc: settings } = parts;
  identityRoutes(api, {
    sealer,
    cursors,
    sessions: { database: pools.app, accessTokens, limits: parts.sessions },
    oidc: settings && createOidc({ database: pools.app, sealer, settings, now }),
  });
  credentialRoutes(api, { cursors, sealer, pins: createPinHasher() });
  return { app, metrics };
}
