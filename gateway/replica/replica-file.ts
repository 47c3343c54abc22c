/**
 * One replica file, open to read on the main thread: its verified head, its small tables, its credentials.
 *
 * One read transaction stays open from `refresh` to `refresh`: rows, sums and small tables are of one commit, and a
 * decision costs no lock. What the replica thread commits shows after the next `refresh`, which must therefore follow
 * each commit, or the write-ahead log grows.
 */

import type { LargeKind } from '#shared/replica-digest.ts';
import { readMigrations, requireMigrated } from '../store/migrate.ts';
import { openDatabase, type Store } from '../store/open-database.ts';
import { BucketCheck, type Sums } from './bucket-check.ts';
import { CredentialReader } from './credential-reader.ts';
import { readHead } from './read-head.ts';
import { replicaPath } from './replica-folder.ts';
import { compareHeads, type ReplicaHead } from './replica-head.ts';
import type { RowCodes } from './row-mac.ts';
import { haveSameSmallTables, readSmallTables, type SmallTables } from './small-tables.ts';

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
  readonly buckets: BucketCheck;
  readonly #store: Store;
  readonly #codes: RowCodes;
  readonly #credentials: CredentialReader;
  #verified: Verified;

  /** @throws ReplicaNotOurs, StoreFault. */
  constructor(folder: string, epoch: number, codes: RowCodes) {
    this.#codes = codes;
    this.#store = openDatabase({ path: replicaPath(folder, epoch), mode: 'read' });
    try {
      this.#store.pragma(`cache_size = -${readCacheKib}`);
      requireMigrated(this.#store, readMigrations('replica'));
      this.#verified = this.#readVerified(undefined);
      if (this.#verified.head.epoch !== epoch) throw new ReplicaNotOurs('the file is of another epoch than its name');
      this.buckets = new BucketCheck(this.#store, codes);
      this.#credentials = new CredentialReader(this.#store, codes, (kind, bucket) => this.#ensure(kind, bucket));
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
    if (this.#store.inTransaction) this.#store.exec('COMMIT');
    const verified = this.#readVerified(this.#verified);
    if (compareHeads(verified.head, this.#verified.head) === 'behind')
      throw new ReplicaNotOurs('the file is older than it was');
    this.#verified = verified;
  }

  /** To be used at once, and not kept. */
  get credentials(): CredentialReader {
    // A fault of the disk ends the transaction; what is read next would be of another commit than the sums.
    if (!this.#store.inTransaction) this.refresh();
    return this.#credentials;
  }

  close(): void {
    this.#store.close();
  }

  /** @param former whose small tables are taken over where nothing was applied to them since. */
  #readVerified(former: Verified | undefined): Verified {
    this.#store.exec('BEGIN');
    const read = readHead(this.#store, this.#codes);
    if (read.kind === 'none') throw new ReplicaNotOurs('the file was never completed');
    if (read.kind === 'tampered') throw new ReplicaNotOurs(read.what);
    if (former !== undefined && haveSameSmallTables(former.sums, read.sums))
      return { head: read.head, sums: read.sums, tables: former.tables };
    const small = readSmallTables(this.#store, this.#codes, read.sums);
    if (small.kind === 'wrong-set') throw new ReplicaNotOurs(`rows of ${small.table} are missing, added or old`);
    return { head: read.head, sums: read.sums, tables: small.tables };
  }

  #ensure(kind: LargeKind, bucket: number): boolean {
    return this.buckets.isKnownRight(kind, bucket) || this.buckets.check(kind, bucket, this.#verified.sums);
  }
}
