/**
 * The main thread's side of the journal: hands over, waits for durability with a deadline, and never syncs.
 *
 * Guarantees: those of `journal.ts`. A hand-over that was given up is not written; one that became durable after its
 * deadline is followed by `lock.not-executed`, since whoever waited has refused. Notes survive a disk that fails for a
 * while, up to a limit, and what was dropped is counted in the history.
 * Not promised: that a bug in the thread is survived. It ends the process.
 */
import { invariant } from '#shared/invariant.ts';
import { unreachable } from '#shared/unreachable.ts';
import { claimsMax, giveUp, offer } from './claims.ts';
import type { JournalCondition } from './condition.ts';
import type { Entry, EntryDraft, StateWrite } from './entry.ts';
import type { AppendResult, Journal, JournalState } from './journal.ts';
import type { JournalLink, News } from './journal-link.ts';
import { notExecuted } from './late-entries.ts';
import { NoteBacklog, type Notes } from './note-backlog.ts';
import type { StoresReport } from './open-stores.ts';
import { ownDraft, prepareDraft, prepareState } from './prepared-entry.ts';
import type { Operation } from './thread-message.ts';

export interface WriterOptions {
  /** How long `append` waits for the disk, ms. */
  readonly deadlineMs: number;
  /** How long a note waits for company, ms. */
  readonly noteMs: number;
  /** Told when the disk fills, fails or recovers, and when a lost journal was begun anew. */
  readonly onChange?: (change: JournalChange) => void;
}

export type JournalChange =
  | { readonly kind: 'condition'; readonly condition: JournalCondition }
  | { readonly kind: 'reopened'; readonly report: StoresReport };

/** Entries handed over and not yet settled; beyond it the journal is unavailable. */
const draftsMax = 8_192;

type Pending = { readonly operation: Operation; readonly givenUpAt: number } & (
  | { readonly kind: 'append'; readonly settle: (result: AppendResult) => void }
  | { readonly kind: 'note' }
  /** Its waiter has been told no. */
  | { readonly kind: 'late' }
);

export class JournalWriter implements Journal {
  readonly #link: JournalLink;
  readonly #options: WriterOptions;
  readonly #backlog = new NoteBacklog();
  /** In the order handed over. */
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<(entries: readonly Entry[]) => void>();
  #outbox: Operation[] = [];
  #draftsInFlight = 0;
  #nextOp = 1;
  #condition: JournalCondition;
  #isStalled = false;
  #noteTimer: NodeJS.Timeout | undefined;
  #deadlineTimer: NodeJS.Timeout | undefined;

  constructor(link: JournalLink, condition: JournalCondition, options: WriterOptions) {
    this.#link = link;
    this.#options = options;
    this.#condition = condition;
    link.listen((news) => this.#hear(news));
  }

  condition(): JournalCondition {
    return { ...this.#condition, state: this.state() };
  }

  state(): JournalState {
    return this.#isStalled && this.#condition.state.kind === 'available' ? stalled : this.#condition.state;
  }

  append(entries: readonly EntryDraft[], state: readonly StateWrite[] = []): Promise<AppendResult> {
    const [drafts, writes] = [entries.map(prepareDraft), state.map(prepareState)];
    const obstacle = this.#obstacle(drafts.length);
    if (obstacle) return Promise.resolve({ kind: 'unavailable', state: obstacle });
    this.#sendNotes();
    return new Promise((settle) => {
      const operation = { op: this.#takeOp(), drafts, state: writes };
      this.#send({ kind: 'append', operation, settle, givenUpAt: performance.now() + this.#options.deadlineMs });
    });
  }

  note(entries: readonly EntryDraft[], state: readonly StateWrite[] = []): void {
    invariant(this.#condition.state.kind !== 'closed', 'nothing is noted in a closed journal');
    this.#backlog.add({ drafts: entries.map(prepareDraft), state: state.map(prepareState) });
    this.#noteTimer ??= setTimeout(() => this.#sendNotes(), this.#options.noteMs);
  }

  async loadState(): Promise<readonly StateWrite[]> {
    const rows = await this.#link.ask({ kind: 'load-state' });
    return rows.map(({ kind, key, value }) => ({ kind, key, value: value === null ? null : JSON.parse(value) }));
  }

  read(query: Parameters<Journal['read']>[0]): Promise<readonly Entry[]> {
    this.#sendNotes();
    this.#flush();
    if ('newest' in query) return this.#link.ask({ kind: 'read-newest', count: query.newest });
    return this.#link.ask({ kind: 'read', ...query });
  }

  follow(listener: (entries: readonly Entry[]) => void): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#link.post({ kind: 'follow', isOn: true });
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0)
        this.#link.post({ kind: 'follow', isOn: false });
    };
  }

  /** Everything handed over is settled first. */
  async close(): Promise<void> {
    this.#sendNotes();
    this.#flush();
    await this.#link.close();
    clearTimeout(this.#noteTimer);
    clearTimeout(this.#deadlineTimer);
    this.#condition = { ...this.#condition, state: { kind: 'closed', detail: 'closed' } };
  }

  #obstacle(count: number): JournalState | undefined {
    const state = this.state();
    if (state.kind !== 'available') return state;
    const isFull = this.#draftsInFlight + count > draftsMax || this.#pending.size >= claimsMax - 1;
    return isFull ? { kind: 'failed', detail: 'too many entries wait for the disk' } : undefined;
  }

  #sendNotes(): void {
    clearTimeout(this.#noteTimer);
    this.#noteTimer = undefined;
    if (this.#backlog.isEmpty || this.#obstacle(0)) return;
    const { drafts, state } = this.#backlog.takeAll();
    const operation = { op: this.#takeOp(), drafts: [...this.#droppedNotice(drafts), ...drafts], state };
    this.#send({ kind: 'note', operation, givenUpAt: Number.POSITIVE_INFINITY });
  }

  #droppedNotice(drafts: Notes['drafts']): Notes['drafts'] {
    const droppedEntries = this.#backlog.takeDropped();
    const first = drafts[0];
    return droppedEntries > 0 && first ? [ownDraft('storage.changed', { droppedEntries }, stampOf(first))] : [];
  }

  #takeOp(): number {
    this.#nextOp += 1;
    return this.#nextOp - 1;
  }

  #send(pending: Pending): void {
    const { operation } = pending;
    this.#pending.set(operation.op, pending);
    this.#draftsInFlight += operation.drafts.length;
    offer(this.#link.claims, operation.op);
    if (this.#outbox.push(operation) === 1) queueMicrotask(() => this.#flush());
    if (pending.kind === 'append') this.#watchDeadline();
  }

  /** What was handed over in one turn travels in one message. */
  #flush(): void {
    if (this.#outbox.length === 0) return;
    this.#link.post({ kind: 'commit', operations: this.#outbox });
    this.#outbox = [];
  }

  #hear(news: News): void {
    switch (news.kind) {
      case 'committed':
        if (this.#isStalled) this.#setStalled(false);
        for (const { op, firstSeq, lastSeq } of news.done) this.#settle(op, { kind: 'durable', firstSeq, lastSeq });
        for (const op of news.skipped) this.#forget(op);
        return;
      case 'refused':
        for (const op of news.ops) this.#settle(op, { kind: 'unavailable', state: news.state });
        return;
      case 'condition':
        this.#setCondition(news.condition);
        return;
      case 'entries':
        for (const listener of this.#listeners) listener(news.entries);
        return;
      case 'reopened':
        this.#options.onChange?.(news);
        return;
      default:
        unreachable(news);
    }
  }

  #settle(op: number, result: AppendResult): void {
    const pending = this.#forget(op);
    if (pending.kind === 'append') pending.settle(result);
    if (pending.kind === 'note' && result.kind === 'unavailable') this.#backlog.putBack(pending.operation);
    if (pending.kind === 'late' && result.kind === 'durable') this.#contradict(pending.operation);
  }

  #forget(op: number): Pending {
    const pending = this.#pending.get(op);
    invariant(pending, 'the thread settles what was handed over, once');
    this.#pending.delete(op);
    this.#draftsInFlight -= pending.operation.drafts.length;
    return pending;
  }

  /** Durable too late: the request was refused in the meantime, and the history has to say so. */
  #contradict({ drafts }: Operation): void {
    const grants = drafts.filter(({ kind }) => kind === 'access.granted' || kind === 'command.received');
    this.#backlog.add({
      drafts: grants.map((grant) => notExecuted(grant.door, grant.requestId, stampOf(grant))),
      state: [],
    });
    this.#sendNotes();
  }

  #watchDeadline(): void {
    this.#deadlineTimer ??= setTimeout(() => {
      this.#deadlineTimer = undefined;
      this.#giveUpLate(performance.now());
      const isWaiting = [...this.#pending.values()].some(({ kind }) => kind === 'append');
      if (isWaiting) this.#watchDeadline();
    }, this.#options.deadlineMs / 4);
  }

  #giveUpLate(now: number): void {
    for (const [op, pending] of this.#pending) {
      if (pending.kind !== 'append' || pending.givenUpAt > now) continue;
      giveUp(this.#link.claims, op);
      this.#pending.set(op, { ...pending, kind: 'late' });
      pending.settle({ kind: 'unavailable', state: stalled });
      if (!this.#isStalled) this.#setStalled(true);
    }
  }

  #setCondition(condition: JournalCondition): void {
    this.#condition = condition;
    this.#options.onChange?.({ kind: 'condition', condition: this.condition() });
    this.#sendNotes();
  }

  /** While a commit hangs, nothing new is handed over; the first that ends lifts it. */
  #setStalled(isStalled: boolean): void {
    this.#isStalled = isStalled;
    this.#setCondition(this.#condition);
  }
}

const stalled: JournalState = { kind: 'failed', detail: 'the disk does not answer in time' };
const stampOf = ({ at, clockState }: Notes['drafts'][number]) => ({ at: at as EntryDraft['at'], clockState });
