/**
 * A change as a verb says it: without a version, which it gets with its place in each gateway's feed.
 *
 * A place only ever grows, so a door that moves to another gateway and back needs no memory of versions.
 */
import type { FeedChange, FeedKind } from '#shared/contract/sync/feed.ts';
import { keyOfChange } from '#shared/feed-rule.ts';
import type { RowOf } from '#shared/replica-columns.ts';
import { bucketOfId, bucketOfLookup, type RowKind } from '#shared/replica-digest.ts';

type PutDraft = {
  readonly [Kind in FeedKind]: { readonly op: 'put'; readonly kind: Kind; readonly row: Omit<RowOf[Kind], 'version'> };
}[FeedKind];

type RemoveDraft =
  | { readonly op: 'remove'; readonly kind: Exclude<FeedKind, 'facility' | 'grant'>; readonly id: string }
  | {
      readonly op: 'remove';
      readonly kind: 'grant';
      readonly credential: string;
      readonly door: string;
      readonly grant: string;
    };

export type FeedDraft = PutDraft | RemoveDraft;

/** How a change lies in the tables of the feed. */
export interface StoredChange {
  readonly op: 'put' | 'remove';
  readonly kind: RowKind;
  readonly key: string;
  /** Without `version`; `null` for a removal. */
  readonly row: Readonly<Record<string, unknown>> | null;
}

export function storedChange(draft: FeedDraft): StoredChange {
  const { kind, key } = keyOfChange({ ...draft, version: 1 } as unknown as FeedChange);
  if (draft.op === 'remove') return { op: 'remove', kind, key, row: null };
  const { version: _, ...row } = draft.row as Readonly<Record<string, unknown>>;
  return { op: 'put', kind, key, row };
}

/** The change as it travels. @param seq its place. */
export function numberedChange({ op, kind, key, row }: StoredChange, seq: number): FeedChange {
  if (op === 'put') return { op, kind, row: { ...row, version: seq } } as unknown as FeedChange;
  if (kind !== 'grant') return { op, kind, id: key, version: seq } as unknown as FeedChange;
  const [credential, door, grant] = key.split(' ');
  return { op, kind, credential, door, grant, version: seq } as unknown as FeedChange;
}

/** In which bucket of its kind's sums the row counts. */
export function bucketOf({ kind, key, row }: Omit<StoredChange, 'op'>): number {
  if (kind === 'holder') return bucketOfId(key);
  if (kind === 'grant') return bucketOfId(key.slice(0, key.indexOf(' ')));
  return kind === 'credential' && row !== null ? bucketOfLookup(String(row['lookup'])) : 0;
}

/** The door on which it depends where a change goes; `null` goes to every gateway of the facility. */
export function doorOf({ kind, key, row }: Omit<StoredChange, 'op'>): string | null {
  if (kind === 'door') return key;
  if (kind === 'grant') return key.split(' ')[1] ?? null;
  return kind === 'reader' && row !== null ? String(row['door']) : null;
}

/** The credential whose being effective somewhere depends on it. */
export function credentialOf({ kind, key }: Pick<StoredChange, 'kind' | 'key'>): string | null {
  if (kind === 'credential') return key;
  return kind === 'grant' ? key.slice(0, key.indexOf(' ')) : null;
}
