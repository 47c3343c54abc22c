/**
 * Processes what has come in, each event once, however often it is told and however many nodes look.
 *
 * Guarantees: an event is claimed by one node at a time, under a lease; its effect and `processed_at` commit together, so
 * that a node that dies in between has done nothing; a transient failure is tried again with growing pauses, and after
 * the last try, or at once where its handler refuses it, the event is set aside as failed for an operator to see.
 * Events share a transaction while all goes well, each under its own facility's claims; where one of them fails, each is
 * tried alone.
 * Claims and effects do not wait for the disk. The event did, before its sender was answered: so a crash of the server
 * loses no event, and of the last moments' effects only such whose mark went with them, and they happen anew. Whatever
 * commits later and waits for the disk, e.g. what a person did upon seeing an effect, takes the effect there with it.
 * A handler therefore changes nothing outside the database.
 * Not promised: order. Who needs it compares versions or places in the effect.
 */
import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from './pool.ts';
import {
  facilitySetting,
  type Settings,
  setLocal,
  type TenantTransaction,
  tenantTransaction,
} from './tenant-transaction.ts';

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
  /** The effect; it commits together with the mark that the event is done. Called again where that did not commit. */
  readonly handle: (transaction: TenantTransaction, event: InboxEvent) => Promise<void>;
  /** Of one event; the others go on. */
  readonly onFault: (error: unknown, event: InboxEvent) => void;
}

const actor = 'worker:inbox';
const leaseSeconds = 60;
const eventsAtOnce = 500;
/** After so long a transaction takes no more events, so that none holds locks for long, ms. */
const shareMs = 100;
const attemptLimit = 12;
/** Transactions at a time. */
const lanes = 4;
/** So that a flood does not keep the caller for good. */
const turnLimit = 20;

/** Looks until nothing is left that can be done now. @returns how many events were processed here. */
export async function processInbox(parts: InboxParts): Promise<number> {
  let total = 0;
  for (let turn = 0; turn < turnLimit; turn += 1) {
    const token = randomUUID();
    const { found, events } = await claimOpen(parts, token);
    const queue = events.toSorted((one, other) => (one.facility_id < other.facility_id ? -1 : 1));
    const done = await Promise.all(Array.from({ length: lanes }, () => processLane(parts, queue, token)));
    total += done.reduce((sum, count) => sum + count, 0);
    if (found < eventsAtOnce) break;
  }
  return total;
}

/** @param queue sorted by facility, so that whoever takes of several takes in one order. */
async function processLane(parts: InboxParts, queue: InboxEvent[], token: string): Promise<number> {
  let done = 0;
  while (queue.length > 0) {
    const taken: InboxEvent[] = [];
    try {
      await takeShare(parts, { queue, taken, token });
      done += taken.length;
    } catch (error) {
      done += await processAlone(parts, taken, { token, error });
    }
  }
  return done;
}

type Key = Pick<InboxEvent, 'facility_id' | 'source' | 'event_id'>;

const isOpen = sql`i.processed_at is null and i.failed_at is null and i.retry_at <= now()
  and (i.lease_until is null or i.lease_until < now())`;

/** @returns how many were open at the look, and those of them that are ours now. */
async function claimOpen(
  { database, sourcePrefix }: InboxParts,
  token: string,
): Promise<{ readonly found: number; readonly events: readonly InboxEvent[] }> {
  return tenantTransaction(database, { actor, facilityIds: [] }, async (transaction) => {
    const open = await sql<Key>`select i.facility_id, i.source, i.event_id from inbox_event i
      where ${isOpen} and starts_with(i.source, ${sourcePrefix})
      order by i.retry_at limit ${eventsAtOnce}`.execute(transaction);
    if (open.rows.length === 0) return { found: 0, events: [] };
    await setLocal(transaction, { ...unhurried, ...facilitySetting(facilitiesOf(open.rows)) });
    const claimed = await sql<InboxEvent>`with free as materialized (
        select i.facility_id, i.source, i.event_id from ${keysOf(open.rows)} join inbox_event i
          using (facility_id, source, event_id) where ${isOpen} for update of i skip locked)
      update inbox_event i set claim_token = ${token}, lease_until = now() + make_interval(secs => ${leaseSeconds})
      from free where (i.facility_id, i.source, i.event_id) = (free.facility_id, free.source, free.event_id)
      returning i.facility_id, i.source, i.event_id, i.type, i.payload, i.received_at, i.attempts`.execute(transaction);
    return { found: open.rows.length, events: claimed.rows };
  });
}

const keysOf = (keys: readonly Key[]): RawBuilder<unknown> => {
  const names = keys.map(({ facility_id, source, event_id }) => ({ facility_id, source, event_id }));
  return sql`jsonb_to_recordset(${JSON.stringify(names)}::jsonb) as key(facility_id text, source text, event_id text)`;
};

const facilitiesOf = (keys: readonly Key[]): readonly string[] => [
  ...new Set(keys.map(({ facility_id }) => facility_id)),
];

/** A transaction's commit does not wait for the disk. */
const unhurried: Settings = { synchronous_commit: 'off' };

interface Share {
  /** Ours by `token`; what is taken leaves it. */
  readonly queue: InboxEvent[];
  readonly taken: InboxEvent[];
  readonly token: string;
}

/** The effects of as many events as fit into its time, in one transaction. */
async function takeShare({ database, handle }: InboxParts, { queue, taken, token }: Share): Promise<void> {
  await tenantTransaction(database, { actor, facilityIds: [] }, async (transaction) => {
    const end = performance.now() + shareMs;
    let facility: string | undefined;
    for (let event = queue.shift(); event !== undefined; event = queue.shift()) {
      taken.push(event);
      if (event.facility_id !== facility) {
        facility = event.facility_id;
        await setLocal(transaction, { ...unhurried, ...facilitySetting([facility]) });
      }
      await handle(transaction, event);
      if (performance.now() > end) break;
    }
    await setLocal(transaction, facilitySetting(facilitiesOf(taken)));
    const settled = await settle(transaction, taken, token, sql`processed_at = now()`);
    // A lease ran out and another node has it: what was done here is undone, what it does counts.
    if (settled !== taken.length) throw new Error(`a lease of ${taken[0]?.source} ran out`);
  });
}

/** @param events whose transaction failed with `error`. @returns how many are done. */
async function processAlone(
  parts: InboxParts,
  events: readonly InboxEvent[],
  { token, error }: { readonly token: string; readonly error: unknown },
): Promise<number> {
  const [first] = events;
  if (first === undefined) throw error;
  if (events.length === 1) {
    await settleFault(parts, first, { token, error });
    return 0;
  }
  let done = 0;
  for (const event of events) done += await processLane(parts, [event], token);
  return done;
}

async function settleFault(
  { database, onFault }: InboxParts,
  event: InboxEvent,
  { token, error }: { readonly token: string; readonly error: unknown },
): Promise<void> {
  onFault(error, event);
  const isLast = error instanceof InboxRefusal || event.attempts + 1 >= attemptLimit;
  const pauseSeconds = Math.min(2 ** event.attempts, 3600);
  const outcome = isLast ? sql`failed_at = now()` : sql`retry_at = now() + make_interval(secs => ${pauseSeconds})`;
  const words = (error instanceof Error ? error.message : String(error)).slice(0, 500);
  await tenantTransaction(database, { actor, facilityIds: [event.facility_id] }, (transaction) =>
    settle(transaction, [event], token, sql`attempts = attempts + 1, last_error = ${words}, ${outcome}`),
  );
}

/** Gives claims back with an outcome, as far as they are still ours. @returns how many were. */
async function settle(
  transaction: TenantTransaction,
  events: readonly Key[],
  ...[token, outcome]: [string, RawBuilder<unknown>]
): Promise<number> {
  const settled = await sql`update inbox_event i set claim_token = null, lease_until = null, ${outcome}
    from ${keysOf(events)}
    where (i.facility_id, i.source, i.event_id) = (key.facility_id, key.source, key.event_id)
      and i.claim_token = ${token}`.execute(transaction);
  return Number(settled.numAffectedRows ?? 0n);
}
