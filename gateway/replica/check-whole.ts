/** One bucket read in full: whether each row fits its code, and all of them their sum. */
import { type ColumnValue, rowText } from '#shared/replica-columns.ts';
import { bucketCount, type RowKind, rowKinds, slotOf } from '#shared/replica-digest.ts';
import type { Store } from '../store/open-database.ts';
import { bucketRange, sumOfCodes } from './bucket-check.ts';
import type { RowCodes } from './row-mac.ts';
import { rowSql } from './row-sql.ts';

export interface WholeBucket {
  readonly kind: RowKind;
  readonly bucket: number;
}

export type WholeCheck =
  | { readonly kind: 'right'; readonly slot: number }
  | { readonly kind: 'wrong'; readonly slot: number; readonly table: RowKind; readonly key: string };

/** Where the right sums are known. */
export interface SumSource {
  /** @returns 64 hexadecimal digits. */
  sumOf(slot: number): string;
}

interface CheckedFile {
  readonly store: Store;
  readonly codes: RowCodes;
  readonly sums: SumSource;
}

/** All buckets of all kinds, small kinds first. */
export function* wholeBuckets(): Generator<WholeBucket> {
  for (const kind of rowKinds) {
    const isSpread = kind === 'holder' || kind === 'credential' || kind === 'grant';
    for (let bucket = 0; bucket < (isSpread ? bucketCount : 1); bucket += 1) yield { kind, bucket };
  }
}

export function checkWholeBucket({ kind, bucket }: WholeBucket, { store, codes, sums }: CheckedFile): WholeCheck {
  const slot = slotOf(kind, bucket);
  const rows = store
    .prepare<unknown[], ColumnValue[]>(rowSql[kind].all)
    .raw()
    .all(...bucketRange(kind, bucket));
  const macs: string[] = [];
  for (const columns of rows) {
    const mac = String(columns.pop());
    if (codes.mac(rowText(kind, columns)) !== mac)
      return { kind: 'wrong', slot, table: kind, key: nameOf(kind, columns) };
    macs.push(mac);
  }
  if (sumOfCodes(macs, codes) === sums.sumOf(slot)) return { kind: 'right', slot };
  return { kind: 'wrong', slot, table: kind, key: `bucket ${bucket}` };
}

/** The id of a row; of a credential, whose first column is its lookup value, the second. */
function nameOf(kind: RowKind, columns: readonly ColumnValue[]): string {
  return String(kind === 'credential' ? columns[1] : columns[0]);
}
