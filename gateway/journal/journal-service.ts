/**
 * The journal and the site as one service over two files: takes hand-overs, survives a disk that fills or fails.
 *
 * Guarantees: what is reported durable is on the disk; what is refused was not written, or, if a failing disk kept it
 * after all, is followed by `lock.not-executed` when the disk is back. A full disk frees the reserve once, so that this
 * can be said; a failed one is opened anew until it is well. Synchronous; the thread around it owns messages and time.
 */
import { invariant } from '#shared/invariant.ts';
import { seqOf } from '#shared/journal-chain.ts';
import type { SiteChange } from '../site/site-rows.ts';
import { StoreFault, storeFault } from '../store/store-fault.ts';
import { readStorageHealth } from '../system/storage-health.ts';
import { conditionOf, type JournalCondition } from './condition.ts';
import type { EntryRow } from './journal-tables.ts';
import type { JournalTransaction, Position } from './journal-transaction.ts';
import { settleLate } from './late-entries.ts';
import { journalPath, openStores, type Stores, type StoresReport } from './open-stores.ts';
import { type ClockStamp, ownDraft, type PreparedDraft } from './prepared-entry.ts';
import { deleteRetired, retireOldest, usedBytes } from './prune.ts';
import { openReserve, type ReserveFile } from './reserve-file.ts';
import type { CommittedOperation, JournalThreadOptions, Operation } from './thread-message.ts';

/**
 * A head is signed after so many entries, or so much text of theirs, bytes: an upload ends at a head, holds at most 500 entries
 * and 512 KiB, and can be made as small as what is under one head, where whatever lies on the way takes no more.
 */
const entriesPerHead = 64;
const bytesPerHead = 64 * 1024;
/** Around an entry's own texts. */
const entryFrameBytes = 400;
/** The log is carried over into the database after so many commits: about a megabyte of it. */
const commitsPerCheckpoint = 300;
const commitsPerBudgetCheck = 64;

export interface ServiceListener {
  onCommitted(rows: readonly EntryRow[]): void;
  onCondition(condition: JournalCondition): void;
  onReopened(report: StoresReport): void;
}

export class JournalService {
  readonly #options: JournalThreadOptions;
  readonly #listener: ServiceListener;
  readonly #reserve: ReserveFile;
  #stores: Stores | undefined;
  /** What was durable when the files had to be closed. */
  #lastPosition: Position | undefined;
  #condition: JournalCondition = conditionOf('ok');
  #stamp: ClockStamp;
  #commits = 0;
  #isDeleting = true;
  /** What was written since the head at `place`; before the first entry of this run nobody counted. */
  #span: { readonly place: number; readonly bytes: number } | undefined;
  #fault: StoreFault;

  /** @param at the machine's wall clock, ms. @throws StoreFault if a file must be left alone. */
  constructor(options: JournalThreadOptions, listener: ServiceListener, at: number) {
    this.#options = options;
    this.#fault = new StoreFault('STORE_FAILED', journalPath(options.directory), 'the journal is closed');
    this.#listener = listener;
    this.#stamp = { at: at as ClockStamp['at'], clockState: 'untrusted' };
    this.#stores = openStores({ ...options, onCommitted: listener.onCommitted }, at);
    this.#reserve = openReserve(`${options.directory}/journal.reserve`, options.reserveBytes);
    if (options.reserveBytes > 0 && !this.#reserve.hold()) this.#setCondition(conditionOf('reserve-spent'));
  }

  get condition(): JournalCondition {
    return this.#condition;
  }

  /** The clock of the last entry that was handed over. */
  get stamp(): ClockStamp {
    return this.#stamp;
  }

  /** @throws StoreFault while the files are closed. */
  get stores(): Stores {
    if (this.#stores) return this.#stores;
    throw this.#fault;
  }

  /** @returns what became durable; `undefined` if nothing did, and then `condition` says why. */
  commit(operations: readonly Operation[]): readonly CommittedOperation[] | undefined {
    if (this.#condition.state.kind !== 'available' || !this.#stores) return undefined;
    if (!this.#isWithinBudget(this.#stores)) return undefined;
    return this.guard(() => this.#write(this.stores, operations));
  }

  /** Site changes share the disk, and so its faults. @throws StoreFault */
  changeSite(change: SiteChange): void {
    const isDone = this.guard(() => {
      this.stores.site.change(change);
      return true;
    });
    if (!isDone) throw this.#fault;
  }

  /** Signs what is new. */
  signHead(): void {
    if (this.#condition.state.kind !== 'available') return;
    this.guard(() => this.stores.journal.transact((transaction) => transaction.signHead()));
  }

  /** Does one piece of what can wait. @returns whether there is more. */
  rest(): boolean {
    const journal = this.#stores?.journal;
    if (!journal || this.#condition.state.kind === 'full') return false;
    if (this.#isDeleting) {
      this.#isDeleting = this.guard(() => deleteRetired(journal)) ?? false;
      return this.#isDeleting;
    }
    if (this.#commits < commitsPerCheckpoint) return false;
    this.#commits = 0;
    this.guard(() => journal.store.pragma('wal_checkpoint(PASSIVE)'));
    return false;
  }

  /** Something below the boundary is to be deleted, and room may have come. */
  retired(): void {
    this.#isDeleting = true;
    if (this.#condition.state.kind === 'budget') this.#setCondition(conditionOf('ok'));
  }

  /** Tries whether what was wrong is well again; called about once a second while it is not. */
  probe(at: number): void {
    if (this.#condition.state.kind === 'failed' && !this.#reopened(at)) return;
    if (this.#condition.storage === 'ok') return;
    const isHeld = this.#options.reserveBytes === 0 || this.#reserve.hold();
    // Where there is no room for the reserve, the next entry may fit and the one after it not: full stays full.
    if (!isHeld && this.#condition.storage === 'full') return;
    const next = conditionOf(isHeld ? 'ok' : 'reserve-spent');
    if (next.storage === this.#condition.storage) return;
    try {
      this.#tell(next.storage);
    } catch (error) {
      if (storeFault(error, this.#options.directory)?.code !== 'STORE_FULL') this.#fail(error);
      return;
    }
    this.#setCondition(next);
  }

  close(): void {
    const stores = this.#stores;
    if (!stores) return;
    this.signHead();
    stores.journal.close();
    stores.site.close();
    this.#stores = undefined;
    this.#setCondition({ state: { kind: 'closed', detail: 'closed' }, storage: this.#condition.storage });
  }

  #write(stores: Stores, operations: readonly Operation[]): readonly CommittedOperation[] {
    const { journal } = stores;
    const done = journal.transact((transaction) => {
      const committed = operations.map(({ op, drafts, state }) => {
        const firstSeq = seqOf(transaction.position.tip) + 1;
        for (const draft of drafts) this.#append(transaction, draft);
        for (const write of state) transaction.putState(write);
        return { op, firstSeq, lastSeq: seqOf(transaction.position.tip) };
      });
      return committed;
    });
    this.#commits += 1;
    const last = operations.at(-1)?.drafts.at(-1);
    if (last) this.#stamp = { at: last.at as ClockStamp['at'], clockState: last.clockState };
    return done;
  }

  #append(transaction: JournalTransaction, draft: PreparedDraft): void {
    const { tip, headPlace } = transaction.position;
    const isUncounted = this.#span === undefined && seqOf(tip) > 0 && tip !== headPlace;
    const before = this.#span?.place === headPlace ? this.#span.bytes : 0;
    const bytes = before + bytesOf(draft);
    this.#span = { place: headPlace, bytes };
    transaction.append(draft);
    const entries = seqOf(transaction.position.tip) - seqOf(headPlace);
    if (isUncounted || entries >= entriesPerHead || bytes >= bytesPerHead) transaction.signHead();
  }

  #isWithinBudget({ journal }: Stores): boolean {
    const isChecked = this.#commits % commitsPerBudgetCheck === 0 && !this.#isDeleting;
    const { budgetBytes, atBudget } = this.#options;
    if (!isChecked || usedBytes(journal) <= budgetBytes) return true;
    if (atBudget === 'overwrite') {
      if (this.guard(() => retireOldest(journal, budgetBytes, this.#stamp))) this.#isDeleting = true;
      return this.#stores !== undefined;
    }
    const detail = `the journal holds ${budgetBytes} bytes that the cloud has not answered for`;
    this.#setCondition({ state: { kind: 'budget', detail }, storage: this.#condition.storage });
    return false;
  }

  /** Runs work on the disk; if the disk is full, once more with the reserve freed. @returns `undefined` if it failed. */
  guard<Result>(work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      const isFull = storeFault(error, this.#options.directory)?.code === 'STORE_FULL';
      if (!isFull || !this.#reserve.release()) return this.#fail(error);
    }
    this.#setCondition(conditionOf('reserve-spent'));
    try {
      this.#tell('reserve-spent');
      return work();
    } catch (error) {
      return this.#fail(error);
    }
  }

  #tell(storage: JournalCondition['storage']): void {
    // That the reserve is held again says nothing of the room beside it.
    const said = storage === 'ok' ? readStorageHealth(this.#options.directory).state : storage;
    const draft = ownDraft('storage.changed', { storage: said }, this.#stamp);
    this.stores.journal.transact((transaction) => transaction.append(draft));
  }

  /** A full disk keeps its files open; after any other fault nobody knows what the file holds, so it is closed. */
  #fail(error: unknown): undefined {
    const fault = storeFault(error, journalPath(this.#options.directory));
    if (!fault) throw error;
    this.#fault = fault;
    if (fault.code !== 'STORE_FULL' && this.#stores) {
      this.#lastPosition = this.#stores.journal.position();
      this.#stores.journal.close();
      this.#stores.site.close();
      this.#stores = undefined;
    }
    this.#setCondition(conditionOf(fault));
    return undefined;
  }

  #reopened(at: number): boolean {
    try {
      const condemned = this.#fault.code === 'STORE_DAMAGED' ? this.#fault : undefined;
      const stores = openStores({ ...this.#options, condemned, onCommitted: this.#listener.onCommitted }, at);
      this.#stores = stores;
      invariant(this.#lastPosition, 'files that were closed by a fault had a position');
      if (stores.report.journal.kind === 'opened') settleLate(stores, this.#lastPosition, this.#stamp);
      this.#isDeleting = true;
      this.#listener.onReopened(stores.report);
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    }
  }

  #setCondition(condition: JournalCondition): void {
    const isSame = condition.state.kind === this.#condition.state.kind && condition.storage === this.#condition.storage;
    this.#condition = condition;
    if (!isSame) this.#listener.onCondition(condition);
  }
}

const bytesOf = ({ body, personal }: PreparedDraft): number =>
  Buffer.byteLength(body) + Buffer.byteLength(personal ?? '') + entryFrameBytes;
