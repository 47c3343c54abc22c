/**
 * The replica as the gateway holds it: one reader on the main thread, one writer in a thread of its own.
 *
 * Guarantees: after `import` or `apply` resolves, decisions are made on the new state, and listeners have its head, to be
 * journalled; the former file is deleted only then. What the thread could not do is a `ReplicaFault` with the code of its cause,
 * and changes nothing.
 * Not promised: that an import survives the end of the process half-way; then nothing of it is in force.
 */

import { Worker } from 'node:worker_threads';
import type { WallMs } from '#shared/instant.ts';
import type { RowKind } from '#shared/replica-digest.ts';
import type { Verified } from '#shared/signed-statement.ts';
import type { ImportFindings } from '../import/import-facility.ts';
import type { Batch, BatchOutcome } from './apply-batch.ts';
import type { BuildOutcome, FedKind, FollowOutcome, Trust } from './feed-keeper.ts';
import { judgeUrgent } from './follow-feed.ts';
import { followFrom } from './follow-state.ts';
import { nextEpoch } from './replica-folder.ts';
import type { ReplicaHead } from './replica-head.ts';
import type { ImportResult, KeeperPlace } from './replica-keeper.ts';
import { ReplicaReader } from './replica-reader.ts';
import type { ReplicaAnswer, ReplicaCall, ReplicaOrder } from './replica-thread.ts';
import type { StatementKind, StatementOf } from './verify-feed.ts';

export class ReplicaFault extends Error {
  override readonly name = 'ReplicaFault';
  /** A StoreFaultCode, ROW_TAMPERED, REPLICA_QUARANTINED, THREAD_FAILED, IMPORT_GIVEN_UP or BUSY. */
  readonly code: string;

  constructor(code: string, detail: string, cause?: unknown) {
    super(detail, { cause });
    this.code = code;
  }
}

export interface ReplicaPlan extends KeeperPlace {
  /** Where `replica-thread` is: a source file, or an entry of the bundle. */
  readonly thread: URL;
  /** The last head in the journal, if there is one. */
  readonly journalled: ReplicaHead | undefined;
  /** Wall time, for the name of a file that is set aside. */
  readonly wallNow: () => WallMs;
  /** Told of each head as decisions begin to use it; to be journalled. */
  readonly onHead: (head: ReplicaHead) => void;
  /** Told of what the check in the background found changed. */
  readonly onTampered: (row: { readonly table: string; readonly key: string }) => void;
}

export interface ImportFiles {
  /** Handed over: their bytes are gone here afterwards. */
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  readonly isDryRun: boolean;
  readonly onProgress: (text: string) => void;
  /** Devices of the configuration; rows that name others are warned of. */
  readonly devices?: readonly string[];
  /** Gives the import up: unless it is complete by then it ends in IMPORT_GIVEN_UP and nothing of it is left. */
  readonly signal?: AbortSignal;
}

/** Whose word of the feed is taken. */
export interface FeedSource extends Pick<Trust, 'gateway' | 'feedKey' | 'floor'> {
  /** What was in force up to this epoch is somebody else's: nothing is built upon it, and its positions count nothing. */
  readonly sinceEpoch: number;
}

interface Waiting {
  readonly onProgress: (text: string) => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (fault: ReplicaFault) => void;
}

/** Orders that may wait for the thread. */
const ordersMax = 16;

export class Replica {
  readonly reader: ReplicaReader;
  readonly #plan: ReplicaPlan;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #journalled: ReplicaHead | undefined;
  #source: FeedSource | undefined;

  /** Opens what the pointer names; see `reader.state`. The thread starts with its first order. */
  constructor(plan: ReplicaPlan) {
    this.#plan = plan;
    this.#journalled = plan.journalled;
    this.reader = new ReplicaReader(plan);
    this.reader.reopen(plan.journalled, plan.wallNow());
    this.#tellHead();
  }

  /** Checks a facility from files and puts it in force as a new epoch. */
  async import(plan: ImportFiles): Promise<ImportFindings & { epoch: number | undefined }> {
    const { onProgress, signal, ...order } = plan;
    const epochFloor = this.#journalled?.epoch ?? 0;
    const answered = this.#call({ kind: 'import', ...order, epochFloor }, onProgress);
    const id = this.#lastId;
    const giveUp = () => this.#worker?.postMessage({ id, order: { kind: 'give-up' } } satisfies ReplicaCall);
    if (signal?.aborted) giveUp();
    signal?.addEventListener('abort', giveUp, { once: true });
    const result = (await answered.finally(() => signal?.removeEventListener('abort', giveUp))) as ImportResult;
    if (result.head !== undefined) {
      this.reader.reopen(result.head, this.#plan.wallNow());
      this.#tellHead();
      await this.#call({ kind: 'forget-others' });
    }
    return { ...result.findings, epoch: result.head?.epoch };
  }

  /** Applies single changes, or a batch of the feed, to the epoch in force. */
  async apply(batch: Batch): Promise<BatchOutcome> {
    // Built upon, an old file would in time pass for a new one.
    const { state } = this.reader;
    if (state.kind === 'quarantined') throw new ReplicaFault('REPLICA_QUARANTINED', state.reason);
    if (state.kind === 'empty') throw new ReplicaFault('STORE_MISSING', 'no epoch is in force; import first');
    const outcome = (await this.#call({ kind: 'apply', batch })) as BatchOutcome;
    if (outcome.status === 'applied') await this.#moved();
    return outcome;
  }

  async #moved(): Promise<void> {
    this.reader.refresh();
    this.#tellHead();
    if (await this.#call({ kind: 'settle' })) this.reader.refresh();
  }

  /** What may be built upon: nothing, where the replica in force cannot be believed. */
  #trusted(): Trust | undefined {
    if (this.#source === undefined) return undefined;
    const { sinceEpoch, ...source } = this.#source;
    const { state } = this.reader;
    const isTheirs = (epoch: number | undefined): boolean => epoch !== undefined && epoch > sinceEpoch;
    const journalled = isTheirs(this.#journalled?.epoch) ? this.#journalled?.cursor : undefined;
    const isLive = state.kind === 'live' && isTheirs(state.head.epoch);
    const head = isLive ? state.head : { epoch: 0, cursor: 0, digest: '' };
    return { ...source, head, floor: Math.max(source.floor, journalled ?? 0) };
  }

  /** The furthest place of the feed that was ever applied or looked ahead to; 0 while nobody's word is taken. */
  get floor(): number {
    return this.#trusted()?.floor ?? 0;
  }

  /** Whether urgent rows would be taken, and look further ahead than the replica stands. */
  isAhead(urgent: StatementOf<'urgent'>): boolean {
    const trust = this.#trusted();
    return (
      trust !== undefined &&
      judgeUrgent(followFrom({ ...trust, certificateSerial: 0, executed: [] }), urgent).kind === 'apply'
    );
  }

  /**
   * From now on the thread takes this word of the feed, and stays ready for it.
   * @returns a snapshot that a former run has staged, as `follow` would.
   */
  async trust(source: FeedSource | undefined): Promise<FollowOutcome | undefined> {
    this.#source = source;
    return (await this.#call({ kind: 'trust', trust: this.#trusted() })) as FollowOutcome | undefined;
  }

  /** What the cloud signed, verified and applied; when it resolves as `applied`, decisions are made on it. */
  async follow(fed: FedKind, jws: string): Promise<FollowOutcome> {
    const { state } = this.reader;
    if (fed !== 'chunk' && state.kind !== 'live') return { kind: 'refused', reason: 'other-epoch' };
    const outcome = (await this.#call({ kind: 'follow', fed, jws })) as FollowOutcome;
    if (outcome.kind === 'applied') {
      if (this.#source) this.#source = { ...this.#source, floor: outcome.floor };
      await this.#moved();
    }
    return outcome;
  }

  /** The staged snapshot becomes the epoch in force; `onHead` hears of it in the turn in which decisions move to it. */
  async build(epoch: number): Promise<BuildOutcome> {
    const outcome = (await this.#call({ kind: 'build', epoch })) as BuildOutcome;
    if (outcome.kind === 'refused') return outcome;
    this.reader.reopen(outcome.head, this.#plan.wallNow());
    this.#tellHead();
    await this.#call({ kind: 'forget-others' });
    return outcome;
  }

  /** An epoch that nothing has used. */
  freshEpoch(): number {
    return nextEpoch(this.#plan.folder, this.#journalled?.epoch ?? 0);
  }

  async plainSums(kind: RowKind): Promise<Readonly<Record<string, string>>> {
    return (await this.#call({ kind: 'plain-sums', of: kind })) as Readonly<Record<string, string>>;
  }

  /** @param key raw Ed25519 public key, base64url, of whoever must have said it. */
  async prove<Kind extends StatementKind>(
    statement: Kind,
    jws: string,
    key: string,
  ): Promise<Verified<StatementOf<Kind>>> {
    return (await this.#call({ kind: 'prove', statement, jws, key })) as Verified<StatementOf<Kind>>;
  }

  /** Reads the whole file once, slowly; what is wrong goes to `onTampered`. Also deletes what a crash left behind. */
  async checkAll(): Promise<void> {
    if (this.reader.state.kind === 'empty') return;
    await this.#call({ kind: 'forget-others' });
    await this.#call({ kind: 'check-all' });
    await this.#rest();
  }

  async close(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#failAll(new ReplicaFault('THREAD_FAILED', 'closing'));
    await worker?.terminate();
    this.reader.close();
  }

  /** Ends the thread if nothing waits for it: it holds as much memory as all the rest, and begins again with its next order. */
  async #rest(): Promise<void> {
    if (this.#waiting.size > 0 || this.#source !== undefined) return;
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
  }

  #tellHead(): void {
    const { state } = this.reader;
    if (state.kind !== 'live') return;
    if (this.#journalled?.root === state.head.root && this.#journalled.epoch === state.head.epoch) return;
    this.#journalled = state.head;
    this.#plan.onHead(state.head);
  }

  #call(order: ReplicaOrder, onProgress: (text: string) => void = () => {}): Promise<unknown> {
    if (this.#waiting.size >= ordersMax) return Promise.reject(new ReplicaFault('BUSY', 'too many orders wait'));
    this.#worker ??= this.#start();
    this.#lastId += 1;
    const call: ReplicaCall = { id: this.#lastId, order };
    const buffers = order.kind === 'import' ? order.files.map(({ bytes }) => bytes.buffer) : [];
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#waiting.set(call.id, { onProgress, resolve, reject });
    });
    this.#worker.postMessage(call, [...new Set(buffers)] as ArrayBuffer[]);
    return answered;
  }

  #start(): Worker {
    const { folder, rowKey, lookupKey, thread } = this.#plan;
    const workerData: KeeperPlace = { folder, rowKey, lookupKey };
    const worker = new Worker(thread, { workerData });
    worker.unref();
    worker.on('message', (message: ReplicaAnswer) => this.#take(message));
    const end = (cause?: unknown) => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#failAll(new ReplicaFault('THREAD_FAILED', 'the replica thread ended', cause));
    };
    worker.on('error', end);
    // A thread that ended knows nothing any more; its answer to this is waited for by nobody.
    const trust = this.#trusted();
    if (trust !== undefined) worker.postMessage({ id: 0, order: { kind: 'trust', trust } } satisfies ReplicaCall);
    worker.on('exit', () => end());
    return worker;
  }

  #take(message: ReplicaAnswer): void {
    const waiting = this.#waiting.get(message.id);
    switch (message.kind) {
      case 'right':
        this.reader.acceptRight(message.epoch, message.slots);
        break;
      case 'wrong':
        this.#plan.onTampered({ table: message.table, key: message.key });
        break;
      case 'progress':
        waiting?.onProgress(message.text);
        break;
      case 'done':
        this.#waiting.delete(message.id);
        waiting?.resolve(message.value);
        break;
      case 'fault':
        this.#waiting.delete(message.id);
        waiting?.reject(new ReplicaFault(message.code, message.detail));
    }
  }

  #failAll(fault: ReplicaFault): void {
    for (const { reject } of this.#waiting.values()) reject(fault);
    this.#waiting.clear();
  }
}
