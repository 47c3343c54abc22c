/**
 * What the door process takes of the feed: verified statements in, a judgement out. The shell applies, commits, and only
 * then goes on from the state that `applied` returns.
 *
 * Guarantees: changes are taken in one unbroken order, each batch whole, and none twice; nothing of another gateway or
 * another snapshot; an urgent row only ever restricts, and what is older never follows what is newer.
 * Not promised: that a batch fits in the file (two credentials with one lookup value); its transaction says so.
 */
import type * as z from 'zod';
import type { FeedBatch, repairStatement, urgentStatement } from '#shared/contract/sync/feed.ts';
import { type Duplicate, duplicate, type FollowState, type Refusal, refuse } from './follow-state.ts';

export type UrgentRows = z.infer<typeof urgentStatement>;
export type Repair = z.infer<typeof repairStatement>;

export type BatchJudgement =
  /** Apply all changes by `isEffective` and the cursor `to` in one transaction. */
  { readonly kind: 'apply'; readonly to: number } | Duplicate | Refusal;

export function judgeBatch(state: FollowState, batch: FeedBatch): BatchJudgement {
  const foreign = judgeOrigin(state, batch);
  if (foreign !== undefined) return foreign;
  const { from, to, head, changes } = batch;
  if (to < from || head < to || changes.length > to - from) return refuse('inconsistent');
  if (to <= state.cursor) return duplicate;
  if (from > state.cursor) return refuse('gap');
  return from < state.cursor ? refuse('overlap') : { kind: 'apply', to };
}

export type UrgentJudgement =
  /** Put the rows by `isEffective`; journal `floor` with them. The cursor stays. */
  { readonly kind: 'apply'; readonly floor: number } | Duplicate | Refusal;

/** An older look ahead than the last is refused: it could bring back a row that was taken out in between. */
export function judgeUrgent(state: FollowState, urgent: UrgentRows): UrgentJudgement {
  const foreign = judgeOrigin(state, urgent);
  if (foreign !== undefined) return foreign;
  if (urgent.credentials.some((row) => row.status === 'issued')) return refuse('not-a-restriction');
  if (urgent.head <= state.cursor) return duplicate;
  return urgent.head < state.floor ? refuse('older') : { kind: 'apply', floor: urgent.head };
}

export type RepairJudgement =
  /** Put these rows in the place of all rows of these buckets, whatever their versions; the cursor stays. */
  { readonly kind: 'replace' } | Refusal;

export function judgeRepair(state: FollowState, repair: Repair): RepairJudgement {
  const foreign = judgeOrigin(state, repair);
  if (foreign !== undefined) return foreign;
  if (repair.rows.some((put) => put.kind !== repair.kind)) return refuse('inconsistent');
  if (repair.cursor !== state.cursor) return refuse(repair.cursor < state.cursor ? 'older' : 'gap');
  return isAhead(state) ? refuse('urgent-ahead') : { kind: 'replace' };
}

/** Whether urgent rows of a position that is not reached yet are in: until then sums differ from the cloud's. */
export const isAhead = (state: FollowState): boolean => state.floor > state.cursor;

/** After the commit. @param head as the replica's writer returned it. @param floor of the judgement, if it named one. */
export function applied(
  state: FollowState,
  head: { readonly epoch: number; readonly cursor: number; readonly digest: string },
  floor = 0,
): FollowState {
  const { epoch, cursor, digest } = head;
  return { ...state, epoch, cursor, digest, floor: Math.max(state.floor, cursor, floor) };
}

function judgeOrigin(
  state: FollowState,
  statement: { readonly gateway: string; readonly epoch: number },
): Refusal | undefined {
  if (statement.gateway !== state.gateway) return refuse('other-gateway');
  return statement.epoch === state.epoch ? undefined : refuse('other-epoch');
}
