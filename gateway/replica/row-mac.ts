/**
 * The keyed code over one row: changed anywhere, moved to another key or another table, it does not fit any more.
 *
 * It covers the kind of row and every column, each with its type and length before it, so that no two rows share a text.
 * The key is born on this box and stays in the door process.
 * Not promised: that a row is the newest; an older row carries a code that fits. That is for the digest.
 */
import { createKeyedHash, deriveHashKey, type KeyedHash } from '#shared/keyed-hash.ts';

export type ColumnValue = string | number | null;

export interface RowCodes {
  /** Stored beside the row. All codes are 32 bytes in lower-case hexadecimal. */
  readonly mac: KeyedHash;
  /** What a row adds to its bucket, from its `mac`; under another key, since the macs can be read in the file. */
  readonly element: KeyedHash;
  readonly root: KeyedHash;
  readonly head: KeyedHash;
}

export function createRowCodes(rowKey: Uint8Array): RowCodes {
  const keyed = (purpose: string) => createKeyedHash(deriveHashKey(rowKey, purpose));
  return { mac: keyed('row'), element: keyed('bucket element'), root: keyed('root'), head: keyed('head') };
}

/**
 * One text for one row. `columns` are all of them, primary key and version included, in the order of the table.
 * What is none of the three types comes from a damaged file (bytes where there was text: `revoked` in bytes would not equal
 * `revoked`), and has a text that no written row has.
 */
export function rowText(kind: string, columns: readonly ColumnValue[]): string {
  let text = kind;
  for (const value of columns) {
    if (value === null) text += '|n';
    else if (typeof value === 'number') text += `|i${value}`;
    else if (typeof value === 'string') text += `|s${value.length}:${value}`;
    else text += '|x';
  }
  return text;
}
