/** Where a replica file stands, checked against its own codes: the head, and the sums that its root stands for. */
import { type ColumnValue, rowText } from '#shared/replica-columns.ts';
import type { Store } from '../store/open-database.ts';
import { headColumns, type ReplicaHead, rootText } from './replica-head.ts';
import type { RowCodes } from './row-mac.ts';
import { headSql } from './row-sql.ts';

export type HeadReading =
  | { readonly kind: 'found'; readonly head: ReplicaHead; readonly sums: ReadonlyMap<number, string> }
  /** A file that is still being built. */
  | { readonly kind: 'none' }
  | { readonly kind: 'tampered'; readonly what: string };

/** Reads in the caller's transaction, if there is one; otherwise head and sums may be of two commits. */
export function readHead(store: Store, codes: RowCodes): HeadReading {
  const row = store.prepare<[], ColumnValue[]>(headSql.read).raw().get();
  if (row === undefined) return { kind: 'none' };
  const [epoch, cursor, change, digest, root, mac] = row;
  const head: ReplicaHead = {
    epoch: Number(epoch),
    cursor: Number(cursor),
    change: Number(change),
    digest: String(digest),
    root: String(root),
  };
  if (codes.head(rowText('head', headColumns(head))) !== mac)
    return { kind: 'tampered', what: 'the head does not carry its code' };
  const sums = new Map(store.prepare<[], [number, string]>(headSql.sums).raw().all());
  if (codes.root(rootText(sums)) !== head.root)
    return { kind: 'tampered', what: 'the bucket list is not the one of the head' };
  return { kind: 'found', head, sums };
}
