/**
 * The thread that writes replicas, so that neither a parse nor a sync ever happens between a card and its door.
 *
 * Orders are carried out one after another; the check of everything runs between them, bucket by bucket.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { invariant } from '#shared/invariant.ts';
import type { RowKind } from '#shared/replica-digest.ts';
import { decodeSource } from '../import/decode-source.ts';
import { storeFault } from '../store/store-fault.ts';
import { tidyAfterStart } from '../system/after-start.ts';
import type { Batch } from './apply-batch.ts';
import { type FedKind, FeedKeeper, prove, type Trust } from './feed-keeper.ts';
import { type ImportOrder, type ImportResult, type KeeperPlace, ReplicaKeeper } from './replica-keeper.ts';
import { ReplicaTampered } from './replica-writer.ts';
import type { StatementKind } from './verify-feed.ts';

/** Files pass as bytes, handed over without copying, and become text here. */
export type ReplicaOrder =
  | {
      readonly kind: 'import';
      readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
      readonly isDryRun: boolean;
      readonly epochFloor: number;
      readonly devices?: readonly string[];
    }
  /** For the import whose id it carries, running or waiting; it has no answer of its own. */
  | { readonly kind: 'give-up' }
  | { readonly kind: 'apply'; readonly batch: Batch }
  /** Whose word is taken from now on; the answer is what a former run has staged. */
  | { readonly kind: 'trust'; readonly trust: Trust | undefined }
  | { readonly kind: 'follow'; readonly fed: FedKind; readonly jws: string }
  /** Makes the staged snapshot the epoch in force. */
  | { readonly kind: 'build'; readonly epoch: number }
  | { readonly kind: 'plain-sums'; readonly of: RowKind }
  /** Proves a small statement at once, whatever else is under way. */
  | { readonly kind: 'prove'; readonly statement: StatementKind; readonly jws: string; readonly key: string }
  | { readonly kind: 'settle' }
  | { readonly kind: 'forget-others' }
  | { readonly kind: 'check-all' };

export interface ReplicaCall {
  readonly id: number;
  readonly order: ReplicaOrder;
}

export type ReplicaAnswer = { readonly id: number } & (
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'right'; readonly epoch: number; readonly slots: readonly number[] }
  | { readonly kind: 'wrong'; readonly epoch: number; readonly table: string; readonly key: string }
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'fault'; readonly code: string; readonly detail: string }
);

invariant(parentPort !== null, 'the replica thread runs as a worker');
tidyAfterStart();
const port = parentPort;
const place = workerData as KeeperPlace;
const keeper = new ReplicaKeeper(place);
const feed = new FeedKeeper(place, keeper);
const answer = (message: ReplicaAnswer) => port.postMessage(message);
const slotsPerMessage = 64;
let turn: Promise<void> = Promise.resolve();
const imports = new Map<number, AbortController>();

class GivenUp extends Error {
  readonly code = 'IMPORT_GIVEN_UP';
}

port.on('message', ({ id, order }: ReplicaCall) => {
  if (order.kind === 'give-up') {
    imports.get(id)?.abort(new GivenUp('the import was given up; nothing of it is in force'));
    return;
  }
  if (order.kind === 'import') imports.set(id, new AbortController());
  // A check of everything takes many seconds and must hold up nothing; a command must be held up by nothing.
  if (order.kind === 'check-all') void carryOut(id, () => checkAll(id));
  else if (order.kind === 'prove') void carryOut(id, () => prove(order.statement, order.jws, order.key));
  else turn = turn.then(() => carryOut(id, () => follow(id, order)));
});

async function carryOut(id: number, act: () => unknown): Promise<void> {
  try {
    answer({ id, kind: 'done', value: await act() });
  } catch (error) {
    const isOurs = error instanceof ReplicaTampered || error instanceof GivenUp;
    const fault = isOurs ? error : storeFault(error, place.folder);
    // Anything else is a bug: it ends the thread, and whoever waits is told so.
    if (fault === undefined) throw error;
    answer({ id, kind: 'fault', code: fault.code, detail: fault.message });
  } finally {
    imports.delete(id);
  }
}

function follow(id: number, order: Exclude<ReplicaOrder, { kind: 'check-all' | 'give-up' | 'prove' }>): unknown {
  switch (order.kind) {
    case 'import':
      return importFiles(id, order);
    case 'apply':
      return keeper.apply(order.batch);
    case 'trust':
      return feed.trust(order.trust);
    case 'follow':
      return feed.follow(order.fed, order.jws);
    case 'build':
      return feed.build(order.epoch);
    case 'plain-sums':
      return keeper.plainSums(order.of);
    case 'settle':
      return keeper.settle();
    case 'forget-others':
      return keeper.forgetOthers();
  }
}

async function importFiles(id: number, order: Extract<ReplicaOrder, { kind: 'import' }>): Promise<ImportResult> {
  const signal = imports.get(id)?.signal;
  signal?.throwIfAborted();
  const { kind: _kind, files, ...rest } = order;
  const plan: ImportOrder = { ...rest, files: files.map(decodeSource) };
  return await keeper.import(plan, (text) => answer({ id, kind: 'progress', text }), signal);
}

async function checkAll(id: number): Promise<void> {
  let slots: number[] = [];
  let lastEpoch = 0;
  const flush = () => {
    if (slots.length > 0) answer({ id, kind: 'right', epoch: lastEpoch, slots });
    slots = [];
  };
  await keeper.checkAll((epoch, check) => {
    lastEpoch = epoch;
    if (check.kind === 'right') slots.push(check.slot);
    else answer({ id, kind: 'wrong', epoch, table: check.table, key: check.key });
    if (slots.length >= slotsPerMessage) flush();
  }, new AbortController().signal);
  flush();
}
