/**
 * What the replica thread does: imports into a new epoch, applies batches to the live one, checks it in the background.
 *
 * Guarantees: the pointer moves only to a complete, synced file; until then the former epoch is in force, and after it the
 * former file stays until `forgetOthers`, since readers may still be on it. A crash anywhere leaves one or the other.
 */

import { statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { RowKind } from '#shared/replica-digest.ts';
import { type ImportFindings, importFacility } from '../import/import-facility.ts';
import type { SourceFile } from '../import/source-record.ts';
import { readMigrations, requireMigrated } from '../store/migrate.ts';
import { openDatabase, type Store } from '../store/open-database.ts';
import { applyBatch, type Batch, type BatchOutcome, type BucketRows, replaceBuckets } from './apply-batch.ts';
import { buildSnapshot, countRows, streamOf } from './build-snapshot.ts';
import { checkWholeBucket, type WholeCheck, wholeBuckets } from './check-whole.ts';
import { plainSums } from './plain-sums.ts';
import { nextEpoch, readPointer, removeLeftovers, replicaPath, switchPointer } from './replica-folder.ts';
import type { ReplicaHead } from './replica-head.ts';
import { ReplicaTampered, ReplicaWriter } from './replica-writer.ts';
import { createRowCodes, type RowCodes } from './row-mac.ts';

export interface KeeperPlace {
  readonly folder: string;
  readonly rowKey: Uint8Array;
  readonly lookupKey: Uint8Array;
}

export interface ImportOrder {
  readonly files: readonly SourceFile[];
  readonly isDryRun: boolean;
  /** The highest epoch the journal knows. */
  readonly epochFloor: number;
  /** Devices of the configuration. */
  readonly devices?: readonly string[];
}

export interface ImportResult {
  readonly findings: ImportFindings;
  /** Of the new epoch, which the pointer names from now on; absent after a dry run or a refusal. */
  readonly head: ReplicaHead | undefined;
}

interface Live {
  readonly epoch: number;
  readonly store: Store;
  readonly writer: ReplicaWriter;
}

/** A log that is longer is moved into its file. */
export const settleBytes = 2 * 1024 * 1024;
/** A check of everything works and rests in turns of this length, so that it takes half of a core. */
const checkTurnMs = 4;
const rowsPerProgress = 20_000;
/** Another process of ours may be reading the file at this moment, ms. */
const busyTimeoutMs = 5_000;

export class ReplicaKeeper {
  readonly #folder: string;
  readonly #codes: RowCodes;
  readonly #lookupKey: Uint8Array;
  #live: Live | undefined;

  constructor({ folder, rowKey, lookupKey }: KeeperPlace) {
    this.#folder = folder;
    this.#codes = createRowCodes(rowKey);
    this.#lookupKey = lookupKey;
  }

  /** @throws the reason of `signal` when it is aborted before the pointer moves; nothing of the import is left then. */
  async import(
    order: ImportOrder,
    onProgress: (text: string) => void,
    signal = new AbortController().signal,
  ): Promise<ImportResult> {
    const { epochFloor: _floor, ...plan } = order;
    const outcome = await importFacility({ ...plan, onProgress, signal, lookupKey: this.#lookupKey });
    if (outcome.kind !== 'ready') return { findings: outcome.findings, head: undefined };
    const total = countRows(outcome.rows);
    const head = await buildSnapshot({
      folder: this.#folder,
      epoch: nextEpoch(this.#folder, order.epochFloor),
      cursor: 0,
      rows: streamOf(outcome.rows),
      codes: this.#codes,
      signal,
      onProgress: (written) => {
        if (written % rowsPerProgress === 0 || written === total) onProgress(`rows: ${written} of ${total}`);
      },
    });
    switchPointer(this.#folder, head.epoch);
    return { findings: outcome.findings, head };
  }

  apply(batch: Batch): BatchOutcome {
    const { store, writer } = this.#openLive();
    return applyBatch(store, writer, batch);
  }

  /** Puts rows in the place of whatever stands in their buckets. */
  replace(rows: BucketRows): BatchOutcome {
    const { store, writer } = this.#openLive();
    return replaceBuckets(store, writer, rows);
  }

  plainSums(kind: RowKind): Promise<Readonly<Record<string, string>>> {
    return plainSums(this.#openLive().store, kind);
  }

  /**
   * Moves what was committed from the write-ahead log into the file, once it is worth it: readers hold a snapshot, so that
   * SQLite alone would never get to begin the log anew. They must have moved to the last commit before.
   * @returns whether it did; readers then move once more, off the log.
   */
  settle(): boolean {
    const { store, epoch } = this.#openLive();
    const log = statSync(`${replicaPath(this.#folder, epoch)}-wal`, { throwIfNoEntry: false });
    if (log === undefined || log.size < settleBytes) return false;
    store.pragma('wal_checkpoint(PASSIVE)');
    return true;
  }

  /** Deletes every epoch but the live one; called once the readers have moved. */
  forgetOthers(): void {
    const pointer = readPointer(this.#folder);
    if (this.#live !== undefined && pointer.kind === 'live' && pointer.epoch !== this.#live.epoch) this.close();
    removeLeftovers(this.#folder);
  }

  /**
   * Reads all of the live file once: each row against its code, each bucket against its sum.
   * @param onBucket told of each, in the order in which they are done. Ends early when the epoch changes or `signal` aborts.
   */
  async checkAll(onBucket: (epoch: number, check: WholeCheck) => void, signal: AbortSignal): Promise<void> {
    const { epoch } = this.#openLive();
    let turnBegan = performance.now();
    for (const bucket of wholeBuckets()) {
      const live = this.#live;
      if (signal.aborted || live === undefined || live.epoch !== epoch) return;
      onBucket(epoch, checkWholeBucket(bucket, { store: live.store, codes: this.#codes, sums: live.writer }));
      if (performance.now() - turnBegan < checkTurnMs) continue;
      await setTimeout(checkTurnMs);
      turnBegan = performance.now();
    }
  }

  close(): void {
    this.#live?.store.close();
    this.#live = undefined;
  }

  #openLive(): Live {
    const pointer = readPointer(this.#folder);
    if (pointer.kind !== 'live') throw new ReplicaTampered('no epoch is in force');
    if (this.#live?.epoch === pointer.epoch) return this.#live;
    this.close();
    const path = replicaPath(this.#folder, pointer.epoch);
    const store = openDatabase({ path, mode: 'existing', busyTimeoutMs });
    try {
      requireMigrated(store, readMigrations('replica'));
      this.#live = { epoch: pointer.epoch, store, writer: new ReplicaWriter(store, this.#codes) };
      return this.#live;
    } catch (error) {
      store.close();
      throw error;
    }
  }
}
