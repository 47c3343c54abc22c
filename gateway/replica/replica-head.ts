/** Where a replica stands: its place in the feed, and one code over all its sums. */

import type { ColumnValue } from '#shared/replica-columns.ts';
import { slotCount } from '#shared/replica-digest.ts';

/** What the root is computed over. @param sums by slot; empty buckets are left out. */
export function rootText(sums: ReadonlyMap<number, string>): string {
  const parts: string[] = [];
  for (let slot = 0; slot < slotCount; slot += 1) {
    const sum = sums.get(slot);
    if (sum !== undefined) parts.push(`${slot}:${sum}`);
  }
  return parts.join(';');
}

/** Where one replica file stands; every applied one is journalled. */
export interface ReplicaHead {
  /** Of the file: each snapshot or import begins a new one. */
  readonly epoch: number;
  /** In the feed; 0 without a cloud. */
  readonly cursor: number;
  /** Counts applied transactions within the epoch, from 1. */
  readonly change: number;
  readonly digest: string;
  readonly root: string;
}

export function headColumns(head: ReplicaHead): readonly ColumnValue[] {
  return [head.epoch, head.cursor, head.change, head.digest, head.root];
}

/**
 * Whether a replica is the one last journalled. `ahead` is a crash between the apply and its entry, and harmless;
 * `behind` is an old file put back, or another file altogether.
 */
export function compareHeads(found: ReplicaHead, journalled: ReplicaHead | undefined): 'same' | 'ahead' | 'behind' {
  if (journalled === undefined) return 'ahead';
  if (found.epoch !== journalled.epoch) return found.epoch > journalled.epoch ? 'ahead' : 'behind';
  if (found.change !== journalled.change) return found.change > journalled.change ? 'ahead' : 'behind';
  return found.root === journalled.root && found.digest === journalled.digest ? 'same' : 'behind';
}
