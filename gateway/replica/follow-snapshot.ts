/**
 * How a whole replica is fetched in pieces: in order, of one snapshot, resumed where it stopped.
 *
 * Guarantees: a snapshot older than anything that was ever applied, or that urgent rows looked ahead to, never becomes the
 * replica; what was put together is checked against what was announced before it does.
 * Not promised: that the pieces are still there after a crash; the shell begins again with chunk 0 where they are not.
 */
import type { SnapshotChunk } from '#shared/contract/sync/feed.ts';
import {
  type Duplicate,
  duplicate,
  type FollowState,
  type Refusal,
  refuse,
  type SnapshotProgress,
} from './follow-state.ts';

export type ChunkJudgement =
  /** Begin a new file (what was fetched of another snapshot is dropped) and add the rows; then go on from `state`. */
  | { readonly kind: 'begin'; readonly state: FollowState }
  | { readonly kind: 'add'; readonly state: FollowState }
  | Duplicate
  | Refusal;

/** `state.snapshot.isWhole` in the answer: it was the last; sum up, then `judgeWhole`. */
export function judgeChunk(state: FollowState, chunk: SnapshotChunk): ChunkJudgement {
  if (chunk.gateway !== state.gateway) return refuse('other-gateway');
  if (chunk.cursor < state.floor) return refuse('older');
  const { snapshot } = state;
  if (snapshot === undefined || snapshot.id !== chunk.snapshot) return beginWith(state, chunk);
  if (chunk.cursor !== snapshot.cursor || chunk.digest !== snapshot.digest) return refuse('inconsistent');
  if (chunk.index < snapshot.next) return duplicate;
  if (chunk.index > snapshot.next || snapshot.isWhole) return refuse('out-of-order');
  return { kind: 'add', state: { ...state, snapshot: progressed(snapshot, chunk) } };
}

function beginWith(state: FollowState, chunk: SnapshotChunk): ChunkJudgement {
  if (chunk.index !== 0) return refuse('out-of-order');
  const { snapshot: id, cursor, digest } = chunk;
  const progress = progressed({ id, cursor, digest, next: 0, isWhole: false }, chunk);
  return { kind: 'begin', state: { ...state, snapshot: progress } };
}

const progressed = (snapshot: SnapshotProgress, chunk: SnapshotChunk): SnapshotProgress => ({
  ...snapshot,
  next: snapshot.next + 1,
  isWhole: chunk.isLast,
});

/** What was fetched is dropped: its file is gone, or it was refused as a whole. */
export const withoutSnapshot = (state: FollowState): FollowState => ({ ...state, snapshot: undefined });

export type WholeJudgement =
  /** Journal the floor, then switch the pointer to the new file, as epoch `epoch`; go on from `state`. */
  { readonly kind: 'switch'; readonly epoch: number; readonly state: FollowState } | Refusal;

/**
 * Once every chunk is in its file. The feed may have gone on in the old replica meanwhile: then the snapshot is too old.
 * @param digest over the rows of the new file. @param epoch the file's; higher than any before it.
 */
export function judgeWhole(state: FollowState, digest: string, epoch: number): WholeJudgement {
  const { snapshot } = state;
  if (snapshot === undefined || !snapshot.isWhole || epoch <= state.epoch) return refuse('out-of-order');
  if (snapshot.digest !== digest) return refuse('digest-differs');
  const { cursor } = snapshot;
  if (cursor < state.floor) return refuse('older');
  return { kind: 'switch', epoch, state: { ...state, epoch, cursor, digest, floor: cursor, snapshot: undefined } };
}
