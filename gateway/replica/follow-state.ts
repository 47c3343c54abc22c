/** Where the door process stands in what the cloud tells it, and why something it was told changes nothing. */
import type { MonoMs } from '#shared/instant.ts';
import type { LiveNonce } from './live-nonces.ts';

export interface FollowState {
  readonly gateway: string;
  /** Of the live replica file; 0 before the first. */
  readonly epoch: number;
  /** The feed's position that the live replica shows. */
  readonly cursor: number;
  readonly digest: string;
  /**
   * Nothing older is ever taken as a whole: the furthest position that was applied or, by urgent rows, looked ahead to.
   * Journalled, so that a replica that is lost or put back does not lower it.
   */
  readonly floor: number;
  /** Serial of the feed key's certificate in force; 0 before the first. */
  readonly certificateSerial: number;
  readonly snapshot: SnapshotProgress | undefined;
  /** In memory only: a restart voids them. */
  readonly nonces: readonly LiveNonce[];
  /** When the question was asked whose answer last renewed the leases; in this boot. */
  readonly contactAt: MonoMs | undefined;
  /** Durable with the journal entry of each; see `judgeCommand`. */
  readonly executed: readonly ExecutedCommand[];
}

/** A snapshot that is being fetched; what it holds so far lies in a file of its own. */
export interface SnapshotProgress {
  readonly id: string;
  readonly cursor: number;
  readonly digest: string;
  /** Of the chunk that comes next. */
  readonly next: number;
  readonly isWhole: boolean;
}

export interface ExecutedCommand {
  readonly id: string;
  /** When it was taken up; after a restart, when the process started. */
  readonly at: MonoMs;
}

/** Why a verified statement changes nothing. Each is counted under its name. */
export type FollowRefusal =
  | 'other-gateway'
  /** Of another snapshot than the one that is live. */
  | 'other-epoch'
  /** It contradicts itself: a range backwards, more changes than positions, an end beyond the head. */
  | 'inconsistent'
  /** It begins after the cursor: something in between is missing. */
  | 'gap'
  /** It begins before the cursor and ends after it. */
  | 'overlap'
  /** Older than what was applied already. */
  | 'older'
  /** An urgent row that would allow something. */
  | 'not-a-restriction'
  /** Another snapshot's chunk, or one out of order. */
  | 'out-of-order'
  /** What was put together is not what was announced. */
  | 'digest-differs'
  /** Urgent rows are ahead of the cursor: sums cannot be compared until it catches up. */
  | 'urgent-ahead'
  /** No question of ours in this boot, or not one of this purpose, or too long ago. */
  | 'nonce-unknown'
  | 'nonce-spent'
  /** Contact for a position at which the replica does not stand. */
  | 'not-at-head'
  | 'too-late'
  | 'executed-before'
  | 'too-many'
  | 'not-yet-valid'
  | 'no-longer-valid';

export interface Refusal {
  readonly kind: 'refused';
  readonly reason: FollowRefusal;
}

/** What it says is so already. */
export interface Duplicate {
  readonly kind: 'duplicate';
}

export const refuse = (reason: FollowRefusal): Refusal => ({ kind: 'refused', reason });
export const duplicate: Duplicate = { kind: 'duplicate' };

/**
 * At the start of the process: what the replica's head, the journal's state and the site store say, and nothing in flight.
 * @param saved.floor as journalled; an older one is raised to the cursor.
 */
export function followFrom(saved: {
  readonly gateway: string;
  readonly head: { readonly epoch: number; readonly cursor: number; readonly digest: string };
  readonly floor: number;
  readonly certificateSerial: number;
  readonly executed: readonly ExecutedCommand[];
}): FollowState {
  const { gateway, head, certificateSerial, executed } = saved;
  const floor = Math.max(saved.floor, head.cursor);
  const inMemory = { snapshot: undefined, nonces: [], contactAt: undefined } as const;
  return { gateway, ...head, floor, certificateSerial, executed, ...inMemory };
}
