/**
 * Which sweep runs when: each at its own pace, and of all nodes by one at a time, under an advisory lock.
 *
 * Guarantees: a sweep never overlaps itself, on this node or another; one that fails is told, and tried at its next turn.
 * Not promised: that a turn is kept to the second, or that a node gets the lock at all.
 */
import { sql } from 'kysely';
import { withDatabaseFaults } from '#cloud/database/database-fault.ts';
import type { Database } from '#cloud/database/pool.ts';

export interface Sweep {
  /** Also the name of its lock. */
  readonly name: string;
  readonly everyMs: number;
  readonly run: () => Promise<unknown>;
}

export interface ScheduleParts {
  /** As the worker's role; the lock takes one connection while a sweep runs. */
  readonly database: Database;
  readonly sweeps: readonly Sweep[];
  readonly onFault: (sweep: string, error: unknown) => void;
}

/** So many at a time on one node: each takes two connections. */
const lanesMax = 2;

/** Runs all of them until the signal, and what is running to its end. */
export async function runSchedule(parts: ScheduleParts, signal: AbortSignal): Promise<void> {
  const lanes = createLanes();
  await Promise.all(parts.sweeps.map((sweep) => repeatSweep(parts, sweep, { lanes, signal })));
}

async function repeatSweep(
  parts: ScheduleParts,
  sweep: Sweep,
  { lanes, signal }: { readonly lanes: Lanes; readonly signal: AbortSignal },
): Promise<void> {
  while (!signal.aborted) {
    await lanes.enter();
    try {
      await sweepOnce(parts.database, sweep);
    } catch (error) {
      parts.onFault(sweep.name, error);
    } finally {
      lanes.leave();
    }
    await pause(sweep.everyMs, signal);
  }
}

interface Lanes {
  readonly enter: () => Promise<void>;
  readonly leave: () => void;
}

/** First come, first served. */
function createLanes(): Lanes {
  const waiting: (() => void)[] = [];
  let free = lanesMax;
  return {
    enter: () => {
      if (free > 0) {
        free -= 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        waiting.push(resolve);
      });
    },
    leave: () => {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    },
  };
}

/** @returns false where another node is at it. */
export async function sweepOnce(database: Database, { name, run }: Sweep): Promise<boolean> {
  const key = sql`hashtextextended(${`sweep ${name}`}, 0)`;
  return await withDatabaseFaults(() =>
    database.connection().execute(async (connection) => {
      const locked = await sql<{ taken: boolean }>`select pg_try_advisory_lock(${key}) as taken`.execute(connection);
      if (locked.rows[0]?.taken !== true) return false;
      try {
        await run();
        return true;
      } finally {
        // A connection that is gone has let go of it already.
        await sql`select pg_advisory_unlock(${key})`.execute(connection).catch(() => undefined);
      }
    }),
  );
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end, { once: true });
  });
}
