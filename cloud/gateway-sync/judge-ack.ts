/**
 * What a door process's signed ack proves, and what it takes back.
 *
 * Guarantees: "effective since" comes only from here; the same ack twice counts once; an ack that says less than one before
 * it withdraws what is no longer so (an old disk was put back) and never claims more; sums are compared only where both
 * sides speak of the same position.
 * Not promised: that the ack is recent: whoever carries it can hold it back.
 */
import type { FeedAck } from '#shared/contract/sync/feed.ts';

export interface AckFacts {
  readonly gateway: string;
  /** The last ack that counted; `undefined` before the first. */
  readonly last: { readonly epoch: number; readonly cursor: number } | undefined;
  /** The highest count that was heard of this ack's boot; 0 for a boot that is new. */
  readonly heardOfBoot: number;
  readonly head: { readonly seq: number; readonly digest: string };
  /**
   * Of the ack's cursor, if that lies before the head: the digest there, or that no group is known to end there (none does, or it
   * is no longer kept). `undefined` where nobody looked; then an older database that was put back is noticed later.
   */
  readonly placed?: string | 'no-end' | undefined;
}

export type AckJudgement =
  | {
      readonly kind: 'count';
      /** Rows up to here are effective, if they were not: since the ack's `at`, else since it arrived. */
      readonly effectiveTo: number;
      /** Rows after here are not, whatever was said before; only where the ack says less than the last. */
      readonly withdrawAfter?: number;
      /**
       * `same`: it stands at the head with the head's sum, and its nonce may be answered with contact. `differs`: at the head
       * with another sum, a repair is due. `behind`: on its way. `strayed`: on its way through a feed that is not this one (an
       * older database was put back here, and its places were given anew): it goes on from a snapshot or is repaired at the head.
       */
      readonly compared: Compared;
      /**
       * Raise an alarm: `regressed`, an older replica was put back there; `ahead`, an older database was put back here.
       */
      readonly alarm?: 'regressed' | 'ahead';
      /**
       * The feed goes on above this place, never again in places that the gateway has seen; changes up to it count as no longer
       * kept. With that the ack stands at the head.
       */
      readonly raiseHeadTo?: number;
    }
  | { readonly kind: 'noop' }
  | { readonly kind: 'refused'; readonly reason: 'other-gateway' };

type Compared = 'same' | 'differs' | 'behind' | 'strayed';

export function judgeAck(facts: AckFacts, ack: FeedAck): AckJudgement {
  const { gateway, last, heardOfBoot, head } = facts;
  if (ack.gateway !== gateway) return { kind: 'refused', reason: 'other-gateway' };
  if (ack.count <= heardOfBoot) return { kind: 'noop' };
  const compared = compare(ack, facts);
  // With another sum it may lack any row: nothing new is said to be effective until it was repaired.
  const effectiveTo = compared === 'differs' || compared === 'strayed' ? 0 : ack.cursor;
  const seen = Math.max(ack.cursor, ack.floor ?? 0);
  if (seen > head.seq) return { kind: 'count', effectiveTo, compared, alarm: 'ahead', raiseHeadTo: seen };
  if (last === undefined || ack.cursor >= last.cursor) return { kind: 'count', effectiveTo, compared };
  return { kind: 'count', effectiveTo, withdrawAfter: ack.cursor, compared, alarm: 'regressed' };
}

/**
 * Beyond the head it is compared, too: the head is raised to where it stands, with the sums as they are. Not where it looks
 * further ahead than any feed that there is: then only a snapshot tells.
 */
function compare(ack: FeedAck, { head, placed }: AckFacts): Compared {
  // It holds nothing: a snapshot is on its way.
  if (ack.epoch === 0) return 'behind';
  if (ack.floor !== undefined && ack.floor > Math.max(ack.cursor, head.seq)) return 'strayed';
  if (ack.cursor >= head.seq) return ack.digest === head.digest ? 'same' : 'differs';
  if (placed === undefined) return 'behind';
  if (placed === 'no-end') return 'strayed';
  return ack.floor === ack.cursor && ack.digest !== placed ? 'strayed' : 'behind';
}
