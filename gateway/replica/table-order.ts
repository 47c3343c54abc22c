/** Rows in the order in which their tables lie on the disk: written so, pages are filled one after another. */
import type { Columns } from '#shared/replica-columns.ts';
import { bucketOfId, type RowKind } from '#shared/replica-digest.ts';

/** A row as it stands in its table: every column but the bucket and the code. */
export interface PlacedRow {
  readonly kind: RowKind;
  readonly columns: Columns;
}

/** As wide as every bucket's number. */
const bucketDigits = 4;

/** @returns the same rows, all of one kind, by their primary key. */
export function inTableOrder(kind: RowKind, rows: readonly Columns[]): readonly Columns[] {
  const keyOf = sortKeyOf[kind];
  return rows
    .map((columns) => ({ columns, key: keyOf(columns) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ columns }) => columns);
}

const first = (columns: Columns): string => String(columns[0]);
const bucketText = (columns: Columns): string => String(bucketOfId(first(columns))).padStart(bucketDigits, '0');

/** Texts that compare as the primary keys do; ids are ASCII, and nothing in them is below the mark between them. */
const sortKeyOf: Readonly<Record<RowKind, (columns: Columns) => string>> = {
  facility: first,
  schedule: first,
  holiday: first,
  door: first,
  reader: first,
  holder: (columns) => bucketText(columns) + first(columns),
  credential: first,
  grant: (columns) => `${bucketText(columns)}${columns.slice(0, 3).join('\0')}`,
};
