/** The room as one thing: its calls for gateways, its dispatcher, its sweeps. */
import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, type Registry } from 'prom-client';
import { processInbox } from '#cloud/database/inbox.ts';
import type { Database } from '#cloud/database/pool.ts';
import type { Sweep } from '#cloud/worker/schedule.ts';
import { createDispatcher, type Dispatcher } from './dispatch.ts';
import type { FeedHints } from './feed-hints.ts';
import { gatewayCalls } from './gateway-calls.ts';
import { gatewaySourcePrefix, handleEntry } from './handle-entry.ts';
import { createStanding } from './standing.ts';
import { sweepCommands, sweepFeed } from './sweep-sync.ts';
import type { SyncParts } from './sync-parts.ts';
import { createWaiters, type Waiters } from './waiters.ts';

export interface SyncOptions extends Pick<SyncParts, 'keys' | 'lookupKeyOf' | 'now'> {
  readonly pools: { readonly gateway: Database; readonly worker: Database };
  readonly hints: FeedHints;
  readonly metrics: Registry;
  /** Default 30. */
  readonly enrolmentsPerMinute?: number;
  readonly onFault: (error: unknown) => void;
}

export interface Sync {
  /** Routes of gateways; and after each change that somebody made, a look at what waits for a place. */
  readonly addTo: (app: FastifyInstance) => Promise<void>;
  readonly dispatcher: Dispatcher;
  readonly sweeps: readonly Sweep[];
  readonly waiters: Waiters;
  /** Ends every wait: polls answer at once. Call it when the server begins to go down. */
  readonly close: () => void;
}

export function createSync(options: SyncOptions): Sync {
  const { pools, hints, metrics, onFault } = options;
  const waiters = createWaiters();
  const unsubscribe = hints.subscribe((gatewayId) => waiters.wake(gatewayId));
  const dispatcher = createDispatcher({ database: pools.worker, hints, onFault });
  const { ignored } = countIn(metrics, waiters);
  const { enrolmentsPerMinute = 30, keys, lookupKeyOf, now } = options;
  const base = { keys, lookupKeyOf, now, enrolmentsPerMinute };
  const standing = createStanding(pools.gateway);
  const parts: SyncParts = { ...base, database: pools.gateway, standing, waiters, ignored, nudge: dispatcher.nudge };
  return {
    dispatcher,
    waiters,
    sweeps: sweepsOf(pools.worker, onFault),
    async addTo(app) {
      await app.register((calls) => gatewayCalls(calls, parts));
      app.addHook('onResponse', async (request, reply) => {
        if (request.method !== 'GET' && reply.statusCode < 300) dispatcher.nudge();
      });
    },
    close() {
      unsubscribe();
      waiters.close();
    },
  };
}

function countIn(metrics: Registry, waiters: Waiters): Pick<SyncParts, 'ignored'> {
  const ignored = new Counter({
    name: 'kannuki_sync_ignored_total',
    help: 'Messages of gateways that changed nothing, by call and reason.',
    labelNames: ['call', 'reason'],
    registers: [metrics],
  });
  new Gauge({
    name: 'kannuki_sync_waiting',
    help: 'Polls that wait for news.',
    registers: [metrics],
    collect() {
      this.set(waiters.count());
    },
  });
  return { ignored };
}

function sweepsOf(database: Database, onFault: SyncOptions['onFault']): readonly Sweep[] {
  const inbox = { database, sourcePrefix: gatewaySourcePrefix, handle: handleEntry, onFault };
  return [
    { name: 'gateway inbox', everyMs: 500, run: () => processInbox(inbox) },
    { name: 'gateway commands', everyMs: 2_000, run: () => sweepCommands(database) },
    { name: 'feed', everyMs: 60_000, run: () => sweepFeed(database) },
  ];
}
