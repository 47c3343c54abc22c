/**
 * What one change of the feed does to the row that is there: the same rule in the cloud's mirror and in the door process.
 *
 * A put counts only with a higher version, a removal unless the row is newer than it. Changes come in order, so this only
 * matters for rows that came before their turn (urgent ones): what is older never takes the place of what is newer.
 * Guarantee: both sides, fed the same changes from the same rows, hold the same rows, whatever urgent rows came between,
 * once the position is reached as of which those were current.
 */
import type { FeedChange, FeedPut } from './contract/sync/feed.ts';

/** Names one row of one gateway's replica. */
export interface FeedKey {
  readonly kind: FeedPut['kind'];
  /** An id; of a grant `credential door grant`. */
  readonly key: string;
}

export function keyOfChange(change: FeedChange): FeedKey {
  if (change.op === 'put') return keyOfRow(change);
  if (change.kind === 'grant') return grantKey(change);
  return { kind: change.kind, key: change.id };
}

function keyOfRow(put: FeedPut): FeedKey {
  return put.kind === 'grant' ? grantKey(put.row) : { kind: put.kind, key: put.row.id };
}

const grantKey = (grant: { readonly credential: string; readonly door: string; readonly grant: string }): FeedKey => ({
  kind: 'grant',
  key: `${grant.credential} ${grant.door} ${grant.grant}`,
});

/** @param held version of the row that is there; `undefined` where there is none. */
export function isEffective(held: number | undefined, change: FeedChange): boolean {
  if (change.op === 'put') return held === undefined || change.row.version > held;
  return held !== undefined && change.version >= held;
}

/**
 * In its order the feed never holds two credentials of one lookup value; an urgent row can bring the later one before the
 * earlier left. Then the newer stays and the other is taken out, or not put: it leaves anyway before the cursor is there.
 * @param other version of another credential with the same lookup value.
 */
export const takesLookupFrom = (other: number, put: { readonly version: number }): boolean => put.version > other;
