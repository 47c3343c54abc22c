/**
 * Codes that tell our rows from anybody else's, and a sum that tells when one is missing.
 *
 * Guarantees: a row that was changed, made up, or moved to another key or table does not carry its code; a set of
 * rows that lost or gained one does not add up to its sum. The key is not in the file.
 * Not promised: a whole file put back as it once was. That is for those who hold something newer.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { type CanonicalValue, canonicalText } from '#shared/canonical.ts';

const codeBytes = 16;
export const emptySum: Uint8Array = new Uint8Array(codeBytes);

/** A key for one purpose, 32 bytes, from the master key (HKDF-SHA-256, RFC 5869). */
export function deriveKey(masterKey: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', masterKey, 'kannuki', purpose, 32));
}

/** @returns 16 bytes: HMAC-SHA-256 over the canonical text, cut. */
export function rowCode(key: Uint8Array, table: string, columns: readonly CanonicalValue[]): Uint8Array {
  return createHmac('sha256', key)
    .update(canonicalText([table, ...columns]))
    .digest()
    .subarray(0, codeBytes);
}

export function isSameCode(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}

/** The sum with one code put in, or, if it was in, taken out. */
export function toggleCode(sum: Uint8Array, code: Uint8Array): Uint8Array {
  return sum.map((byte, index) => byte ^ (code[index] ?? 0));
}
