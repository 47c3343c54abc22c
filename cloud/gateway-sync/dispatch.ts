/**
 * Gives places to what verbs have queued, on every node at once, and tells whoever waits; so too where a command waits.
 *
 * Guarantees: only committed groups are seen; of two nodes one numbers a gateway at a time; the hint follows the commit.
 * A node that dies in between leaves either an unnumbered group, which the next look finds, or a numbered one without a
 * hint, which the poll finds at the end of its wait.
 */
import { sql } from 'kysely';
import type { Database } from '#cloud/database/pool.ts';
import { prepared } from '#cloud/database/prepared.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { FeedHints } from './feed-hints.ts';
import { numberQueue } from './number-queue.ts';
import type { QueueOwner } from './queue-owner.ts';

export interface DispatcherParts {
  /** As the worker's role. */
  readonly database: Database;
  readonly hints: Pick<FeedHints, 'publish'>;
  readonly onFault: (error: unknown) => void;
  /** Between two looks without a nudge, ms. */
  readonly lookMs?: number;
}

export interface Dispatcher {
  /** There is probably something: look now. */
  readonly nudge: () => void;
  /** Until the signal; faults are reported, waited out and tried again. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** One look. @returns how many gateways' feeds grew. */
  readonly dispatchOnce: () => Promise<number>;
}

const actor = 'worker:dispatch';
/** Gateways at a time. */
const lanes = 4;
const ownersAtOnce = 500;
const lookMsDefault = 200;
const afterFaultMs = 1_000;

export function createDispatcher({ database, hints, onFault, lookMs = lookMsDefault }: DispatcherParts): Dispatcher {
  let wake: (() => void) | undefined;
  let isNudged = false;

  async function dispatchOnce(): Promise<number> {
    const owners = [...(await findOwners(database))];
    let grown = 0;
    async function lane(): Promise<void> {
      for (let owner = owners.pop(); owner !== undefined; owner = owners.pop()) {
        if (await dispatchOwner(database, hints, owner)) grown += 1;
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane));
    const ordered = await findOrdered(database);
    if (ordered.length > 0) await hints.publish(ordered);
    return grown;
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      isNudged = false;
      const pauseMs = await dispatchOnce().then(
        (grown) => (grown > 0 ? 0 : lookMs),
        (error: unknown) => {
          onFault(error);
          return afterFaultMs;
        },
      );
      if (pauseMs > 0 && !isNudged) await pause(pauseMs, signal);
    }
  }

  function pause(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        wake = undefined;
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener('abort', end, { once: true });
      wake = end;
    });
  }

  return {
    dispatchOnce,
    run,
    nudge: () => {
      isNudged = true;
      wake?.();
    },
  };
}

async function findOwners(database: Database): Promise<readonly QueueOwner[]> {
  return tenantTransaction(database, { actor, facilityIds: [] }, async (transaction) => {
    const found =
      await sql<QueueOwner>`${prepared}select facility_id as "facilityId", gateway_id as "gatewayId" from feed_group
      where last_seq is null group by facility_id, gateway_id order by min(id) desc limit ${ownersAtOnce}`.execute(
        transaction,
      );
    return found.rows;
  });
}

/** Gateways for which a command waits: hinted at every look until it was taken. */
async function findOrdered(database: Database): Promise<readonly string[]> {
  return tenantTransaction(database, { actor, facilityIds: [] }, async (transaction) => {
    const found = await sql<{ gateway_id: string }>`${prepared}select distinct gateway_id from gateway_command
      where status = 'queued' and requested_at > now() - interval '1 minute' limit ${ownersAtOnce}`.execute(
      transaction,
    );
    return found.rows.map(({ gateway_id }) => gateway_id);
  });
}

/** Hints after each commit: what is numbered first need not wait for the rest. @returns whether its feed grew. */
async function dispatchOwner(database: Database, hints: DispatcherParts['hints'], owner: QueueOwner): Promise<boolean> {
  const claims = { actor, facilityIds: [owner.facilityId], gatewayId: owner.gatewayId };
  let isGrown = false;
  for (;;) {
    const numbered = await tenantTransaction(database, claims, (transaction) => numberQueue(transaction, owner));
    if (numbered !== 'numbered') return isGrown;
    isGrown = true;
    await hints.publish([owner.gatewayId]);
  }
}
