/**
 * Processes what has come in, each event once, however often it is told and however many nodes look.
 *
 * Guarantees: an event is claimed by one node at a time, under a lease; its effect and `processed_at` commit together, so
 * that a node that dies in between has done nothing; a transient failure is tried again with growing pauses, and after
 * the last try, or at once where its handler refuses it, the event is set aside as failed for an operator to see.
 * Not promised: order. Who needs it compares versions or places in the effect.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from './pool.ts';
import { type Claims, type TenantTransaction, tenantTransaction } from './tenant-transaction.ts';

export interface InboxEvent {
  readonly facility_id: string;
  readonly source: string;
  readonly event_id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly received_at: Date;
  /** Tries before this one. */
  readonly attempts: number;
}

/** Thrown by a handler: this event can never be processed. */
export class InboxRefusal extends Error {
  override readonly name = 'InboxRefusal';
}

export interface InboxParts {
  /** As the worker's role. */
  readonly database: Database;
  /** Only events whose source begins so. */
  readonly sourcePrefix: string;
  /** The effect; it commits together with the mark that the event is done. */
  readonly handle: (transaction: TenantTransaction, event: InboxEvent) => Promise<void>;
  /** Of one event; the others go on. */
  readonly onFault: (error: unknown, event: InboxEvent) => void;
}

const leaseSeconds = 60;
const eventsAtOnce = 100;
const attemptLimit = 12;
/** Events at a time; each takes a connection. */
const lanes = 4;
/** So that a flood does not keep the caller for good. */
const turnLimit = 100;

/** Looks until nothing is left that can be done now. @returns how many events were processed here. */
export async function processInbox(parts: InboxParts): Promise<number> {
  let total = 0;
  for (let turn = 0; turn < turnLimit; turn += 1) {
    const found = [...(await findOpen(parts))];
    const isLast = found.length < eventsAtOnce;
    const done = await Promise.all(Array.from({ length: lanes }, () => processLane(parts, found)));
    total += done.reduce((sum, count) => sum + count, 0);
    if (isLast) break;
  }
  return total;
}

async function processLane(parts: InboxParts, queue: Key[]): Promise<number> {
  let done = 0;
  for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
    if (await processOne(parts, key)) done += 1;
  }
  return done;
}

type Key = Pick<InboxEvent, 'facility_id' | 'source' | 'event_id'>;

async function findOpen({ database, sourcePrefix }: InboxParts): Promise<readonly Key[]> {
  return tenantTransaction(database, { actor: 'worker:inbox', facilityIds: [] }, async (transaction) => {
    const found = await sql<Key>`select facility_id, source, event_id from inbox_event
      where processed_at is null and failed_at is null and retry_at <= now()
        and (lease_until is null or lease_until < now()) and starts_with(source, ${sourcePrefix})
      order by retry_at limit ${eventsAtOnce}`.execute(transaction);
    return found.rows;
  });
}

async function processOne({ database, handle, onFault }: InboxParts, key: Key): Promise<boolean> {
  const claims: Claims = { actor: 'worker:inbox', facilityIds: [key.facility_id] };
  const token = randomUUID();
  const event = await tenantTransaction(database, claims, (transaction) => claim(transaction, key, token));
  if (!event) return false;
  try {
    await tenantTransaction(database, claims, async (transaction) => {
      await handle(transaction, event);
      const marked = await settle(transaction, event, token, sql`processed_at = now()`);
      // The lease ran out and another node has it: what was done here is undone, what it does counts.
      if (!marked) throw new Error(`the lease of ${event.source} ${event.event_id} ran out`);
    });
    return true;
  } catch (error) {
    onFault(error, event);
    const isLast = error instanceof InboxRefusal || event.attempts + 1 >= attemptLimit;
    const pauseSeconds = Math.min(2 ** event.attempts, 3600);
    const outcome = isLast ? sql`failed_at = now()` : sql`retry_at = now() + make_interval(secs => ${pauseSeconds})`;
    const words = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    await tenantTransaction(database, claims, (transaction) =>
      settle(transaction, event, token, sql`attempts = attempts + 1, last_error = ${words}, ${outcome}`),
    );
    return false;
  }
}

async function claim(transaction: TenantTransaction, key: Key, token: string): Promise<InboxEvent | undefined> {
  const claimed = await sql<InboxEvent>`update inbox_event
    set claim_token = ${token}, lease_until = now() + make_interval(secs => ${leaseSeconds})
    where facility_id = ${key.facility_id} and source = ${key.source} and event_id = ${key.event_id}
      and processed_at is null and failed_at is null and (lease_until is null or lease_until < now())
    returning facility_id, source, event_id, type, payload, received_at, attempts`.execute(transaction);
  return claimed.rows[0];
}

/** Gives the claim back with an outcome, if it is still ours. */
async function settle(
  transaction: TenantTransaction,
  event: Key,
  ...[token, outcome]: [string, ReturnType<typeof sql>]
): Promise<boolean> {
  const settled = await sql`update inbox_event set claim_token = null, lease_until = null, ${outcome}
    where facility_id = ${event.facility_id} and source = ${event.source} and event_id = ${event.event_id}
      and claim_token = ${token}`.execute(transaction);
  return settled.numAffectedRows === 1n;
}
