/**
 * The keyed code over one row: changed anywhere, moved to another key or another table, it does not fit any more.
 *
 * It covers the kind of row and every column, each with its type and length before it, so that no two rows share a text.
 * The key is born on this box and stays in the door process.
 * Not promised: that a row is the newest; an older row carries a code that fits. That is for the digest.
 */
import { createKeyedHash, deriveHashKey, type KeyedHash } from '#shared/keyed-hash.ts';

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
