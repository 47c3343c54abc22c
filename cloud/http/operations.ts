/**
 * What those who run the server ask: is it alive, may it be sent requests, what does it count.
 *
 * `/health` and `/ready` also answer on the public port, for the balancer; metrics only on the operators' own.
 */

import fastify, { type FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import type { Registry } from 'prom-client';
import type { Database } from '#cloud/database/pool.ts';

export interface Readiness {
  readonly database: Database;
  /** Aborted when the server begins to go down. */
  readonly closing: AbortSignal;
}

export function addHealth(app: FastifyInstance, { database, closing }: Readiness): void {
  app.get('/health', { config: { rateLimit: false } }, async () => ({ status: 'alive' }));
  app.get('/ready', { config: { rateLimit: false } }, async (_, reply) => {
    const why = closing.aborted ? 'closing' : await databaseTrouble(database);
    if (why === undefined) return { status: 'ready' };
    return reply.code(503).header('retry-after', '5').send({ status: 'not ready', why });
  });
}

async function databaseTrouble(database: Database): Promise<'database' | undefined> {
  try {
    await sql`select 1`.execute(database);
    return undefined;
  } catch {
    return 'database'; // Which trouble it is stands in the log of the requests that met it.
  }
}

/** A server of its own, on an address of its own. */
export function createOperationsServer(metrics: Registry, readiness: Readiness): FastifyInstance {
  const app: FastifyInstance = fastify({ logger: false, forceCloseConnections: true });
  addHealth(app, readiness);
  app.get('/metrics', async (_, reply) => reply.type(metrics.contentType).send(await metrics.metrics()));
  return app;
}
