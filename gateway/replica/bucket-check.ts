/**
 * Whether a bucket of rows adds up to its sum: no row missing, added, or older than the one applied.
 *
 * A bucket is checked once, before its first use (some 240 rows at 240 000), or in the background. What the gateway itself
 * writes afterwards keeps sums and rows in step, so that a bucket once right stays right.
 * Only codes are read here; that a row fits its code is checked where the row is used.
 */
import { addHash, type LargeKind, type RowKind, slotCount, slotOf, sumHex } from '#shared/replica-digest.ts';
import type { Statement, Store } from '../store/open-database.ts';
import type { RowCodes } from './row-mac.ts';
import { rowSql } from './row-sql.ts';

export type Sums = ReadonlyMap<number, string>;

export class BucketCheck {
  readonly #codes: RowCodes;
  readonly #statements: Readonly<Record<LargeKind, Statement<unknown[], string>>>;
  readonly #right = new Uint8Array(slotCount);

  constructor(store: Store, codes: RowCodes) {
    this.#codes = codes;
    const prepare = (kind: LargeKind) => store.prepare<unknown[], string>(rowSql[kind].codes).pluck();
    this.#statements = { holder: prepare('holder'), credential: prepare('credential'), grant: prepare('grant') };
  }

  isKnownRight(kind: LargeKind, bucket: number): boolean {
    return this.#right[slotOf(kind, bucket)] === 1;
  }

  /** A bucket found right elsewhere in this process. */
  acceptRight(slots: readonly number[]): void {
    for (const slot of slots) this.#right[slot] = 1;
  }

  /** Reads the bucket; must run in one transaction with the reading of the sums. */
  check(kind: LargeKind, bucket: number, sums: Sums): boolean {
    const slot = slotOf(kind, bucket);
    const macs = this.#statements[kind].all(...bucketRange(kind, bucket));
    const isRight = sumOfCodes(macs, this.#codes) === (sums.get(slot) ?? sumHex(0n));
    if (isRight) this.#right[slot] = 1;
    return isRight;
  }
}

/** The parameters of a statement over one bucket. */
export function bucketRange(kind: RowKind, bucket: number): readonly (number | string)[] {
  if (kind === 'credential') return [lookupBound(bucket, '0'), lookupBound(bucket, 'f')];
  return kind === 'holder' || kind === 'grant' ? [bucket] : [];
}

export function sumOfCodes(macs: readonly string[], codes: RowCodes): string {
  return sumHex(macs.reduce((sum, mac) => addHash(sum, codes.element(mac)), 0n));
}

/** The first or last lookup value whose first ten bits are `bucket`. */
function lookupBound(bucket: number, fill: '0' | 'f'): string {
  const firstBits = fill === '0' ? bucket << 2 : (bucket << 2) | 3;
  return firstBits.toString(16).padStart(3, '0').padEnd(64, fill);
}
