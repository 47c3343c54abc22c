/**
 * One replica file, open to read on the main thread: its verified head, its small tables, its credentials.
 *
 * The file does not change under a decision: what the replica thread commits shows after `refresh`, or at the first
 * bucket that has to be checked.
 */

import { readMigrations, requireMigrated } from '../store/migrate.ts';
import { openDatabase, type Store } from '../store/open-database.ts';
import { BucketCheck, type Sums } from './bucket-check.ts';
import { CredentialReader } from './credential-reader.ts';
import { compareHeads, type LargeKind, type ReplicaHead } from './digest.ts';
import { readHead } from './read-head.ts';
import { replicaPath } from './replica-folder.ts';
import type { RowCodes } from './row-mac.ts';
import { headSql } from './row-sql.ts';
import { readSmallTables, type SmallTables } from './small-tables.ts';

/** The file is not what this gateway applied. */
export class ReplicaNotOurs extends Error {
  override readonly name = 'ReplicaNotOurs';
  readonly code = 'REPLICA_QUARANTINED';
}

interface Verified {
  readonly head: ReplicaHead;
  readonly sums: Sums;
  readonly tables: SmallTables;
}

/** Pages kept, KiB: the upper levels of the trees of 240 000 credentials and their grants. */
const readCacheKib = 6_144;

export class ReplicaFile {
  readonly credentials: CredentialReader;
  readonly buckets: BucketCheck;
  readonly #store: Store;
  readonly #codes: RowCodes;
  readonly #readHeadNumbers;
  #verified: Verified;

  /** @throws ReplicaNotOurs, StoreFault. */
  constructor(folder: string, epoch: number, codes: RowCodes) {
    this.#codes = codes;
    this.#store = openDatabase({ path: replicaPath(folder, epoch), mode: 'read' });
    try {
      this.#store.pragma(`cache_size = -${readCacheKib}`);
      requireMigrated(this.#store, readMigrations('replica'));
      this.#verified = this.#store.transaction(() => this.#readVerified())();
      if (this.#verified.head.epoch !== epoch) throw new ReplicaNotOurs('the file is of another epoch than its name');
      this.#readHeadNumbers = this.#store.prepare<[], [number, number]>(headSql.numbers).raw();
      this.buckets = new BucketCheck(this.#store, codes);
      this.credentials = new CredentialReader(this.#store, codes, (kind, bucket) => this.#ensure(kind, bucket));
    } catch (error) {
      this.#store.close();
      throw error;
    }
  }

  get head(): ReplicaHead {
    return this.#verified.head;
  }

  get tables(): SmallTables {
    return this.#verified.tables;
  }

  /** Takes in what was applied since. @throws ReplicaNotOurs where the file went back. */
  refresh(): void {
    this.#adopt(this.#store.transaction(() => this.#readVerified())());
  }

  close(): void {
    this.#store.close();
  }

  #adopt(verified: Verified): void {
    if (compareHeads(verified.head, this.#verified.head) === 'behind')
      throw new ReplicaNotOurs('the file is older than it was');
    this.#verified = verified;
  }

  #readVerified(): Verified {
    const read = readHead(this.#store, this.#codes);
    if (read.kind === 'none') throw new ReplicaNotOurs('the file was never completed');
    if (read.kind === 'tampered') throw new ReplicaNotOurs(read.what);
    const small = readSmallTables(this.#store, this.#codes, read.sums);
    if (small.kind === 'wrong-set') throw new ReplicaNotOurs(`rows of ${small.table} are missing, added or old`);
    return { head: read.head, sums: read.sums, tables: small.tables };
  }

  #ensure(kind: LargeKind, bucket: number): boolean {
    if (this.buckets.isKnownRight(kind, bucket)) return true;
    const [epoch, change] = this.#readHeadNumbers.get() ?? [];
    const isSame = epoch === this.head.epoch && change === this.head.change;
    if (!isSame) this.#adopt(this.#readVerified());
    return this.buckets.check(kind, bucket, this.#verified.sums);
  }
}
