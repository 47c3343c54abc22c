/**
 * The running cloud: opens everything in order, serves, and goes down gracefully.
 *
 * Going down: no longer ready, long waits answer, requests in flight are finished within `drainMs`, then connections are
 * closed and the database last.
 */
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { composeCloud } from './compose.ts';
import type { Config } from './config.ts';
import { createOperationsServer } from './http/operations.ts';
import { checkSeals } from './identity/check-seals.ts';
import { createSealer } from './identity/sealed-value.ts';
import { sweepIdentity } from './identity/sweep.ts';
import { type OpenedDatabase, openDatabase } from './open-database.ts';
import { openKey } from './open-key.ts';
import { repeat } from './repeat.ts';
import { version } from './version.ts';

export interface RunningCloud {
  /** Where it listens, e.g. `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly operationsUrl: string;
  close(): Promise<void>;
}

const drainMs = 20_000;
const sweepMs = 60_000;

export async function runCloud(config: Config, databaseUrl: string | undefined): Promise<RunningCloud> {
  const logger = createLogger();
  const cloudKey = openKey({ config, databaseUrl });
  const database = await openDatabase({ config, cloudKey, databaseUrl });
  const closing = new AbortController();
  try {
    await checkSeals(database.pools, createSealer(cloudKey));
    const { app, metrics } = await composeCloud({
      pools: database.pools,
      cloudKey,
      logger,
      version,
      sessions: config.sessions,
      limits: config.limits,
      trustedProxies: config.trustedProxies,
      oidc: oidcSettings(config),
      now: () => performance.now(),
      closing: closing.signal,
    });
    const operations = createOperationsServer(metrics, { database: database.pools.app, closing: closing.signal });
    const sweeps = repeat(
      () => sweepIdentity(database.pools.worker),
      sweepMs,
      (error) => logger.warn({ err: error }, 'sweep failed'),
    );
    const url = await app.listen({ ...config.listen });
    const operationsUrl = await operations.listen({ ...config.operations });
    logger.info({ url, operationsUrl, migrated: database.migrated.applied }, 'serving');
    return {
      url,
      operationsUrl,
      close: () => goDown({ app, operations, sweeps, database, closing }),
    };
  } catch (error) {
    await database.close();
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

interface Running {
  readonly app: FastifyInstance;
  readonly operations: FastifyInstance;
  readonly sweeps: { readonly stop: () => Promise<void> };
  readonly database: OpenedDatabase;
  readonly closing: AbortController;
}

async function goDown({ app, operations, sweeps, database, closing }: Running): Promise<void> {
  closing.abort();
  const deadline = setTimeout(() => app.server.closeAllConnections(), drainMs);
  app.server.closeIdleConnections();
  await app.close();
  clearTimeout(deadline);
  await sweeps.stop();
  await operations.close();
  await database.close();
}
