/** What the room's calls are made of; compose.ts puts it together once. */
import type { Counter } from 'prom-client';
import type { Database } from '#cloud/database/pool.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { FeedKeys } from './feed-keys.ts';
import type { Standing } from './standing.ts';
import type { Waiters } from './waiters.ts';

export interface SyncParts {
  /** As the gateway's role. */
  readonly database: Database;
  readonly standing: Standing;
  /** In force now. */
  readonly keys: () => FeedKeys;
  readonly waiters: Waiters;
  /** Wall time, ms. */
  readonly now: () => number;
  /** The key by which a facility's credentials are found, 32 bytes. */
  readonly lookupKeyOf: (transaction: TenantTransaction, facilityId: string) => Promise<Uint8Array>;
  /** Messages that changed nothing, by `call` and `reason`. */
  readonly ignored: Counter<'call' | 'reason'>;
  /** From one address. A code has five tries; who has no code guesses slowly too. */
  readonly enrolmentsPerMinute: number;
  /** There is something to give places to. */
  readonly nudge: () => void;
}
