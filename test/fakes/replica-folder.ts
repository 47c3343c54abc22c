/** A replica in a folder of its own that goes when the test ends. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';
import { buildSnapshot, streamOf } from '#gateway/replica/build-snapshot.ts';
import { replicaPath, switchPointer } from '#gateway/replica/replica-folder.ts';
import type { ReplicaHead } from '#gateway/replica/replica-head.ts';
import { ReplicaReader } from '#gateway/replica/replica-reader.ts';
import { createRowCodes } from '#gateway/replica/row-mac.ts';
import type { FacilityRows } from '#shared/contract/replica-row.ts';
import { wallMs } from '#shared/instant.ts';
import { testRowKey } from './sample-facility.ts';

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-replica-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Builds an epoch and makes it the live one. */
export async function putInForce(folder: string, epoch: number, rows: FacilityRows): Promise<ReplicaHead> {
  const head = await buildSnapshot({
    folder,
    epoch,
    cursor: 0,
    rows: streamOf(rows),
    codes: createRowCodes(testRowKey),
  });
  switchPointer(folder, epoch);
  return head;
}

export function openReader(folder: string, journalled?: ReplicaHead): ReplicaReader {
  const reader = new ReplicaReader({ folder, rowKey: testRowKey });
  onTestFinished(() => reader.close());
  reader.reopen(journalled, wallMs(0));
  return reader;
}

/** Changes the file as somebody with the disk in hand would, past everything that guards it. */
export function tamper(folder: string, epoch: number, act: (file: Database.Database) => void): void {
  const file = new Database(replicaPath(folder, epoch));
  try {
    act(file);
    file.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    file.close();
  }
}
