/** Sums of the rows that both sides can compute, bucket by bucket: where the cloud and this gateway differ shows here. */
import { setImmediate } from 'node:timers/promises';
import { type ColumnValue, rowText } from '#shared/replica-columns.ts';
import { addHash, bucketCount, plainRowHash, type RowKind, sumHex } from '#shared/replica-digest.ts';
import type { Store } from '../store/open-database.ts';
import { bucketRange } from './bucket-check.ts';
import { rowSql } from './row-sql.ts';

/** As long as it works in one go, ms. */
const turnMs = 4;

/** @returns the sum of each bucket of a kind that is not empty; 64 hexadecimal digits. */
export async function plainSums(store: Store, kind: RowKind): Promise<Readonly<Record<string, string>>> {
  const sums: Record<string, string> = {};
  const rows = store.prepare<unknown[], ColumnValue[]>(rowSql[kind].all).raw();
  const isSpread = kind === 'holder' || kind === 'credential' || kind === 'grant';
  let turnBegan = performance.now();
  for (let bucket = 0; bucket < (isSpread ? bucketCount : 1); bucket += 1) {
    const found = rows.all(...bucketRange(kind, bucket));
    const hashes = found.map((columns) => plainRowHash(rowText(kind, columns.slice(0, -1))));
    if (hashes.length > 0) sums[bucket] = sumHex(hashes.reduce(addHash, 0n));
    if (performance.now() - turnBegan < turnMs) continue;
    await setImmediate();
    turnBegan = performance.now();
  }
  return sums;
}
