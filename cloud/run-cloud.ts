/**
 * The running cloud: opens everything in order, serves, and goes down gracefully.
 *
 * Going down: no longer ready, long waits answer, requests in flight are finished, then connections are closed and
 * the database last.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { composeCloud } from './compose.ts';
import type { Config } from './config.ts';
import type { FeedHints } from './gateway-sync/feed-hints.ts';
import { openOrCreateKeys } from './gateway-sync/feed-keys.ts';
import { createPostgresHints } from './gateway-sync/postgres-hints.ts';
import { drain } from './http/drain.ts';
import { createOperationsServer } from './http/operations.ts';
import { checkSeals } from './identity/check-seals.ts';
import { createSealer } from './identity/sealed-value.ts';
import { type OpenedDatabase, openDatabase } from './open-database.ts';
import { openKey } from './open-key.ts';
import { version } from './version.ts';
import { runSchedule } from './worker/schedule.ts';

/** Connections that nobody took yet: after an outage all gateways come at once, and a pause must turn none away. */
const backlog = 4_096;

export interface RunningCloud {
  /** Where it listens, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly operationsUrl: string;
  close(): Promise<void>;
}

export async function runCloud(config: Config, databaseUrl: string | undefined): Promise<RunningCloud> {
  const logger = createLogger();
  const cloudKey = openKey({ config, databaseUrl });
  const database = await openDatabase({ config, cloudKey, databaseUrl });
  const closing = new AbortController();
  const { keys, created } = await openOrCreateKeys(join(config.dataDir, 'keys'), Date.now());
  if (created.length > 0) logger.warn({ created }, 'keys were made; take the root key away from this machine');
  const onFault = (error: unknown) => logger.warn({ err: error }, 'hints are interrupted');
  const hints = await createPostgresHints(database.pools.worker, { url: database.url('worker'), onFault });
  const opened: Opened = { database, hints, closing };
  try {
    await checkSeals(database.pools, createSealer(cloudKey));
    const { app, metrics, dispatcher, sweeps } = await composeCloud({
      pools: database.pools,
      cloudKey,
      feedKeys: () => keys,
      hints,
      logger,
      version,
      sessions: config.sessions,
      limits: config.limits,
      trustedProxies: config.trustedProxies,
      oidc: oidcSettings(config),
      now: () => performance.now(),
      wallNow: Date.now,
      closing: closing.signal,
    });
    const operations = createOperationsServer(metrics, { database: database.pools.app, closing: closing.signal });
    const url = await app.listen({ ...config.listen, backlog });
    const operationsUrl = await operations.listen({ ...config.operations });
    const onFault = (sweep: string, error: unknown) => logger.warn({ err: error, sweep }, 'a sweep failed');
    const working = Promise.all([
      dispatcher.run(closing.signal),
      runSchedule({ database: database.pools.worker, sweeps, onFault }, closing.signal),
    ]);
    logger.info({ url, operationsUrl, migrated: database.migrated.applied }, 'serving');
    return { url, operationsUrl, close: () => goDown(opened, { app, operations, working }) };
  } catch (error) {
    await closeOpened(opened);
    throw error;
  }
}

/** One JSON object a line on standard error. Never logged: bodies, queries, tokens, keys. */
function createLogger(): Logger {
  return pino(
    { level: 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}

function oidcSettings({ oidc }: Config) {
  if (!oidc) return undefined;
  const { clientSecretFile, ...settings } = oidc;
  if (clientSecretFile === undefined) return settings;
  return { ...settings, clientSecret: readFileSync(clientSecretFile, 'utf8').trim() };
}

interface Opened {
  readonly database: OpenedDatabase;
  readonly hints: FeedHints;
  readonly closing: AbortController;
}

interface Serving {
  readonly app: FastifyInstance;
  readonly operations: FastifyInstance;
  /** Ends after the signal. */
  readonly working: Promise<unknown>;
}

async function goDown(opened: Opened, { app, operations, working }: Serving): Promise<void> {
  opened.closing.abort();
  await drain(app);
  await working;
  await operations.close();
  await closeOpened(opened);
}

async function closeOpened({ database, hints, closing }: Opened): Promise<void> {
  closing.abort();
  await hints.close();
  await database.close();
}
