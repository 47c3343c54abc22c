/**
 * What the cloud's signed word on our history means: it has it up to there, or it knows more than we do.
 *
 * Guarantee: a word about an entry that is not ours, or not as we have it, never lets anything be pruned; it says that this
 * file is not the one that was uploaded from, and a new epoch must begin.
 */
import { epochOf, placeOf } from '#shared/journal-chain.ts';

export interface JournalStand {
  /** The last entry. */
  readonly tip: number;
  /** Acknowledged so far. */
  readonly acked: number;
}

export interface AckWord {
  readonly gateway: string;
  readonly epoch: number;
  readonly seq: number;
  readonly hash: string;
}

export type AckJudgement =
  /** Mark `place` as acknowledged. */
  | { readonly kind: 'advance'; readonly place: number }
  | { readonly kind: 'duplicate' }
  /** Begin `nextEpoch`: entries up to (`knownEpoch`, `knownSeq`) were once here, and are not, or are others. */
  | { readonly kind: 'lost'; readonly knownEpoch: number; readonly knownSeq: number; readonly nextEpoch: number }
  | { readonly kind: 'refused'; readonly reason: 'other-gateway' };

/**
 * A word on an epoch before ours is no news: that one is over.
 * @param ours.hashAt of our entry at the place the word names, in lower-case hexadecimal; `undefined` where it was pruned (then it
 * was acknowledged before) or never was.
 */
export function judgeJournalAck(
  stand: JournalStand,
  word: AckWord,
  ours: { readonly gateway: string; readonly hashAt: string | undefined },
): AckJudgement {
  if (word.gateway !== ours.gateway) return { kind: 'refused', reason: 'other-gateway' };
  const place = placeOf(word.epoch, word.seq);
  if (word.epoch < epochOf(stand.tip) || place <= stand.acked) return { kind: 'duplicate' };
  if (place <= stand.tip && ours.hashAt === word.hash) return { kind: 'advance', place };
  return { kind: 'lost', knownEpoch: word.epoch, knownSeq: word.seq, nextEpoch: word.epoch + 1 };
}
