/**
 * What the cloud's signed word on our history means: it has it up to there, or it knows more than we do.
 *
 * Guarantee: a word about an entry that is not ours, or not as we have it, never lets anything be pruned; it says that this
 * file is not the one that was uploaded from, and a new epoch must begin.
 */
import type { JournalAck } from '#shared/contract/sync/journal.ts';
import { epochOf, placeOf } from '#shared/journal-chain.ts';

export interface JournalStand {
  /** The last entry. */
  readonly tip: number;
  /** Acknowledged so far. */
  readonly acked: number;
}

export type AckJudgement =
  /** Mark `place` as acknowledged. */
  | { readonly kind: 'advance'; readonly place: number }
  | { readonly kind: 'duplicate' }
  /**
   * Begin `nextEpoch`: entries up to (`knownEpoch`, `knownSeq`), or the head that signed for them, were once here, and are
   * not, or are others. What was written here since is never sent: the cloud has other entries in those places.
   */
  | { readonly kind: 'lost'; readonly knownEpoch: number; readonly knownSeq: number; readonly nextEpoch: number }
  | { readonly kind: 'refused'; readonly reason: 'other-gateway' };

export interface OwnEntry {
  readonly gateway: string;
  /** Of our entry at the place the word names, in lower-case hexadecimal; `undefined` where there is none (any more). */
  readonly hashAt: string | undefined;
  /** Named by our last head at or before that place, base64url; `undefined` where there is none (any more). */
  readonly keyAfter: string | undefined;
}

/** A word on an epoch before ours is no news: that one is over. */
export function judgeJournalAck(stand: JournalStand, word: Omit<JournalAck, 'at'>, ours: OwnEntry): AckJudgement {
  if (word.gateway !== ours.gateway) return { kind: 'refused', reason: 'other-gateway' };
  const place = placeOf(word.epoch, word.seq);
  if (word.epoch < epochOf(stand.tip) || place <= stand.acked) return { kind: 'duplicate' };
  const isOurs = place <= stand.tip && ours.hashAt === word.hash;
  if (isOurs && (ours.keyAfter ?? word.nextKey) === word.nextKey) return { kind: 'advance', place };
  return { kind: 'lost', knownEpoch: word.epoch, knownSeq: word.seq, nextEpoch: word.epoch + 1 };
}
