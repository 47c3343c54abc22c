/** What is done to a replica: a row put in the place of its older self, or taken out. */

import type { Identifier } from '#shared/identifier.ts';
import { type Columns, columnsOf, type RowOf } from '#shared/replica-columns.ts';
import { bucketOfId, bucketOfLookup, type RowKind } from '#shared/replica-digest.ts';

export type RowUpsert = { readonly [Kind in RowKind]: { readonly kind: Kind; readonly row: RowOf[Kind] } }[RowKind];

export type RowKey =
  | { readonly kind: Exclude<RowKind, 'grant'>; readonly id: Identifier<string> }
  | {
      readonly kind: 'grant';
      readonly credential: RowOf['grant']['credential'];
      readonly door: RowOf['grant']['door'];
      readonly grant: RowOf['grant']['grant'];
    };

export type RowChange =
  | { readonly op: 'upsert'; readonly upsert: RowUpsert }
  /** Of a row that is not there, or that is newer than `version`: nothing to do. Without a version, whatever is there. */
  | { readonly op: 'remove'; readonly key: RowKey; readonly version?: number };

export function keyOf(upsert: RowUpsert): RowKey {
  if (upsert.kind !== 'grant') return { kind: upsert.kind, id: upsert.row.id };
  const { credential, door, grant } = upsert.row;
  return { kind: 'grant', credential, door, grant };
}

/** The values by which a row is found in its table. */
export function keyColumns(key: RowKey): readonly (string | number)[] {
  if (key.kind === 'grant') return [bucketOfId(key.credential), key.credential, key.door, key.grant];
  return key.kind === 'holder' ? [bucketOfId(key.id), key.id] : [key.id];
}

/** How a row is named to people. */
export function keyText(key: RowKey): string {
  return key.kind === 'grant' ? `${key.grant} ${key.credential} ${key.door}` : key.id;
}

export function columnsOfUpsert(upsert: RowUpsert): Columns {
  const columns = columnsOf[upsert.kind] as (row: RowUpsert['row']) => Columns;
  return columns(upsert.row);
}

/** For a holder, its id decides; for a grant, its credential; for a credential, its lookup: each is the first column. */
export function bucketOfColumns(kind: RowKind, columns: Columns): number {
  const first = String(columns[0]);
  if (kind === 'credential') return bucketOfLookup(first);
  return kind === 'holder' || kind === 'grant' ? bucketOfId(first) : 0;
}
