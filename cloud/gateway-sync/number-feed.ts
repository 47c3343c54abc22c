/**
 * Gives committed changes their place in a gateway's feed, and keeps the sums of what the gateway should then hold.
 *
 * Groups are numbered whole, in the order of their ids, as they are seen committed: a group that commits later gets a later
 * place, whatever its id, so that the feed never grows behind somebody's cursor.
 * The caller holds the gateway's lock, passes only groups that have no number yet, and writes all of the result in one
 * transaction. Guarantee: places have no gaps, and a change that is not newer than the mirror changes neither side.
 */
import type { FeedChange, FeedPut } from '#shared/contract/sync/feed.ts';
import { isEffective, keyOfChange } from '#shared/feed-rule.ts';
import { invariant } from '#shared/invariant.ts';
import { plainHashOf, type RowOf } from '#shared/replica-columns.ts';
import { addHash, digestOf, type KindSums, type RowKind, subtractHash } from '#shared/replica-digest.ts';

export interface FeedHead {
  /** The last place given; 0 before the first. */
  readonly seq: number;
  readonly sums: KindSums;
}

export interface CommittedGroup {
  /** In the order in which they were made; no two are the same. */
  readonly id: bigint;
  readonly changes: readonly FeedChange[];
}

/** What the mirror holds under `kind` and `key`; removed rows are `undefined` here. */
export interface MirrorRow {
  readonly version: number;
  /** By `plainHashOf`, 64 lower-case hexadecimal digits. */
  readonly hash: string;
}

export interface NumberedChange {
  readonly group: bigint;
  readonly seq: number;
  readonly kind: RowKind;
  readonly key: string;
  readonly change: FeedChange;
  /** Whether the mirror's row becomes this one (or goes); otherwise only the number is used up. */
  readonly isEffective: boolean;
}

export interface Numbering {
  readonly changes: readonly NumberedChange[];
  /** The last place of each group with the digest there, in order: what an ack on its way is compared with. */
  readonly ends: readonly { readonly group: bigint; readonly seq: number; readonly digest: string }[];
  readonly head: FeedHead;
  /** The mirror's rows after it, for those that changed; `undefined` = removed. By `mirrorKey`. */
  readonly mirror: ReadonlyMap<string, MirrorRow | undefined>;
}

export const mirrorKey = (kind: RowKind, key: string): string => `${kind} ${key}`;

/** @param mirror the rows that any of the changes names, by `mirrorKey`, as of `head`. */
export function numberFeed(
  head: FeedHead,
  groups: readonly CommittedGroup[],
  mirror: ReadonlyMap<string, MirrorRow>,
): Numbering {
  const ordered = [...groups].sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const [index, group] of ordered.entries())
    invariant(group.id !== ordered[index - 1]?.id, `group ${group.id} is numbered once`);
  const sheet: Sheet = { mirror, after: new Map(), sums: { ...head.sums } };
  const changes: NumberedChange[] = [];
  const ends = ordered.map((group) => {
    for (const change of group.changes) {
      const { kind, key } = keyOfChange(change);
      const isEffective = fold(sheet, kind, key, change);
      changes.push({ group: group.id, seq: head.seq + 1 + changes.length, kind, key, change, isEffective });
    }
    return { group: group.id, seq: head.seq + changes.length, digest: digestOf(sheet.sums) };
  });
  return { changes, ends, head: { seq: head.seq + changes.length, sums: sheet.sums }, mirror: sheet.after };
}

/** The mirror while it is being written upon. */
interface Sheet {
  readonly mirror: ReadonlyMap<string, MirrorRow>;
  readonly after: Map<string, MirrorRow | undefined>;
  readonly sums: Record<RowKind, bigint>;
}

/** @returns whether the change made a difference. */
function fold({ mirror, after, sums }: Sheet, kind: RowKind, key: string, change: FeedChange): boolean {
  const place = mirrorKey(kind, key);
  const held = after.has(place) ? after.get(place) : mirror.get(place);
  if (!isEffective(held?.version, change)) return false;
  const next = change.op === 'put' ? mirrorRowOf(change) : undefined;
  if (held !== undefined) sums[kind] = subtractHash(sums[kind], held.hash);
  if (next !== undefined) sums[kind] = addHash(sums[kind], next.hash);
  after.set(place, next);
  return true;
}

function mirrorRowOf(put: FeedPut): MirrorRow {
  const hashOf = plainHashOf as (kind: RowKind, row: RowOf[RowKind]) => string;
  return { version: put.row.version, hash: hashOf(put.kind, put.row as RowOf[RowKind]) };
}
