/**
 * Sums over rows: whether the set of rows is the one that was applied, without reading all of it.
 *
 * Each kind of many rows is spread over 1 024 buckets, each small kind is one. A bucket's sum is the sum, modulo 2^256, of
 * a hash per row, so that it follows every change in constant time and does not depend on order. A row that is missing,
 * added, or older than the one applied makes its bucket's sum differ. Where a gateway keeps its own sums the hashes are
 * keyed; for comparing with the cloud they are plain, and both sides compute the same.
 */
import { hash } from 'node:crypto';

export const rowKinds = ['facility', 'schedule', 'holiday', 'door', 'reader', 'holder', 'credential', 'grant'] as const;
export type RowKind = (typeof rowKinds)[number];
export type LargeKind = 'holder' | 'credential' | 'grant';

export const bucketCount = 1_024;
const firstSlots = {
  facility: 0,
  schedule: 1,
  holiday: 2,
  door: 3,
  reader: 4,
  holder: bucketCount,
  credential: 2 * bucketCount,
  grant: 3 * bucketCount,
} as const satisfies Record<RowKind, number>;

/** One past the last slot. */
export const slotCount = 4 * bucketCount;

/** Bucket of a holder or of a credential's grants: FNV-1a over the id, folded. Only balance depends on it, not safety. */
export function bucketOfId(id: string): number {
  let mixed = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) mixed = Math.imul(mixed ^ id.charCodeAt(at), 0x01000193);
  return (mixed ^ (mixed >>> 10) ^ (mixed >>> 20)) & (bucketCount - 1);
}

/** Bucket of a credential: the first ten bits of its lookup value. @param lookup at least 3 hexadecimal digits. */
export function bucketOfLookup(lookup: string): number {
  return Number.parseInt(lookup.slice(0, 3), 16) >> 2;
}

/** Where the sum of a bucket is kept; 0 is the only bucket of a small kind. */
export function slotOf(kind: RowKind, bucket: number): number {
  return firstSlots[kind] + bucket;
}

const modulus = 1n << 256n;

/** Adds a 32-byte hexadecimal hash to a sum. */
export function addHash(sum: bigint, hex: string): bigint {
  const added = sum + BigInt(`0x${hex}`);
  return added >= modulus ? added - modulus : added;
}

/** Takes it out again. */
export function subtractHash(sum: bigint, hex: string): bigint {
  const left = sum - BigInt(`0x${hex}`);
  return left < 0n ? left + modulus : left;
}

/** @returns 64 lower-case hexadecimal digits. */
export function sumHex(sum: bigint): string {
  return sum.toString(16).padStart(64, '0');
}

/** Hash of a row that needs no key: both sides compute it. @param text as `rowText` makes it. */
export function plainRowHash(text: string): string {
  return hash('sha256', text, 'hex');
}

export type KindSums = Readonly<Record<RowKind, bigint>>;

/** Of nothing. */
export const emptySums = Object.fromEntries(rowKinds.map((kind) => [kind, 0n])) as KindSums;

/** One digest over the sums of all kinds. */
export function digestOf(sums: KindSums): string {
  return hash('sha256', rowKinds.map((kind) => `${kind}:${sumHex(sums[kind])}`).join(';'), 'hex');
}
