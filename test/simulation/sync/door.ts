/** The door process: what it keeps, what it believes, what it uses, and what it says. */
import { contactAgeMs } from '#gateway/door/contact-age.ts';
import type { ClockFact } from '#gateway/door/facts.ts';
import { isAhead } from '#gateway/replica/follow-feed.ts';
import type { FollowState } from '#gateway/replica/follow-state.ts';
import type { DoorNeeds } from '#gateway/sync/sync-machine.ts';
import type { RemoteCommand } from '#shared/contract/sync/command.ts';
import type { FeedAck, FeedChange, FeedPut } from '#shared/contract/sync/feed.ts';
import { keyOfChange } from '#shared/feed-rule.ts';
import { type MonoMs, monoMs, wallMs } from '#shared/instant.ts';
import { epochOf, placeOf, seqOf } from '#shared/journal-chain.ts';
import { type Cloud, digestOfRows, sumsOf } from './cloud.ts';
import {
  append,
  type Disk,
  type EntryText,
  emptyDisk,
  entryAt,
  type Journal,
  keyAfter,
  type Replica,
  signHead,
} from './door-disk.ts';
import type { Ledger } from './ledger.ts';
import { uploadMax } from './options.ts';
import type { Parts } from './parts.ts';
import { bucketOfPut, grantKey, type Held, heldOf, type Kind, kinds, lookupOf, nameOf } from './rows.ts';
import {
  type AckJws,
  type AckReply,
  type ChunkJws,
  gatewayId,
  type JournalAckJws,
  type PollQuery,
  type PollReply,
  proven,
  type RepairAsk,
  type RepairJws,
  type SnapshotAsk,
  sign,
  type TimeJws,
  type Upload,
} from './statement.ts';
import { Process, Signal, type Task, type World } from './world.ts';

const retainedEntries = 20;
const budgetEntries = 30;

export class Door {
  readonly world: World;
  readonly parts: Parts;
  readonly ledger: Ledger;
  readonly process: Process;
  readonly #cloud: Cloud;
  disk: Disk;
  /** Chance that a write fails. */
  diskError = 0;
  hasBudget = false;
  /** After each commit of the journal, for a disk that lies about having written. */
  readonly former: Disk[] = [];
  /** Something to send or to want came up. */
  readonly changed = new Signal();
  /** What decisions use. */
  inUse: Replica | undefined;
  #state: FollowState;
  #boot = '';
  #bootedAt = 0;
  #ackCount = 0;
  #names = 0;
  #clockOffMs: number | undefined;
  #answered: { readonly epoch: number; readonly cursor: number; readonly digest: string } | undefined;
  #needsSnapshot = false;
  #askedBefore = false;
  #repairs: Kind[] = [];
  #resendFrom: number | undefined;
  #isBusy = false;
  readonly #idle = new Signal();

  constructor(world: World, parts: Parts, ledger: Ledger, cloud: Cloud) {
    this.world = world;
    this.parts = parts;
    this.ledger = ledger;
    this.#cloud = cloud;
    this.disk = emptyDisk('k0');
    this.ledger.epochBegun(1, 'k0');
    this.#state = this.#follow();
    this.process = new Process(world, 'door', { start: () => this.#start(), end: () => this.#end() });
  }

  get state(): FollowState {
    return this.#state;
  }

  #mono(): MonoMs {
    return monoMs(this.world.now - this.#bootedAt + 1_000);
  }

  #clock(): ClockFact {
    if (this.#clockOffMs === undefined) return { state: 'untrusted', now: undefined, errorMs: 0 };
    return { state: 'trusted', now: wallMs(Math.floor(this.world.now + this.#clockOffMs)), errorMs: 1_000 };
  }

  #name(of: string): string {
    this.#names += 1;
    return `${of}-${this.#boot}-${this.#names}`;
  }

  #follow(): FollowState {
    const { replica, journal } = this.disk;
    const isOld = replica !== undefined && isBehind(replica, journal.head);
    const head = replica === undefined || isOld ? { epoch: 0, cursor: 0, digest: '' } : replica;
    const { epoch, cursor, digest } = head;
    const executed = journal.executed.map(({ id }) => ({ id, at: this.#mono() }));
    const saved = { gateway: gatewayId, head: { epoch, cursor, digest }, floor: journal.floor, certificateSerial: 0 };
    return this.parts.followFrom({ ...saved, executed });
  }

  #start(): void {
    this.#boot = `b${this.process.boot}`;
    this.#bootedAt = this.world.now;
    this.#ackCount = 0;
    this.#clockOffMs = undefined;
    this.#answered = undefined;
    this.#needsSnapshot = false;
    this.#askedBefore = false;
    this.#repairs = [];
    this.#resendFrom = undefined;
    this.#isBusy = false;
    this.#state = this.#follow();
    this.inUse = this.#state.epoch === 0 ? undefined : this.disk.replica;
    this.#resumeStaged();
    const interrupted = openCommands(this.disk.journal).map(
      (id): EntryText => ({ kind: 'release.interrupted', requestId: id }),
    );
    this.process.spawn(this.#begin([{ kind: 'gateway.started' }, ...interrupted]));
  }

  *#begin(entries: readonly EntryText[]): Task {
    yield 'step';
    while (!this.#write({ entries })) yield 500;
    this.changed.fire();
    if (this.#state.snapshot?.isWhole !== true) return;
    yield* this.#alone();
    yield* this.#build();
    this.#done();
    this.changed.fire();
  }

  #resumeStaged(): void {
    const { staged } = this.disk;
    if (staged === undefined) return;
    if (staged.progress.cursor < this.#state.floor) this.disk = { ...this.disk, staged: undefined };
    else this.#state = { ...this.#state, snapshot: staged.progress };
  }

  #end(): void {
    this.inUse = undefined;
  }

  // The disk

  /** One transaction of the journal. @returns false where the disk failed; nothing is written then. */
  #write(change: {
    readonly entries?: readonly EntryText[];
    readonly state?: Partial<Journal>;
    readonly sign?: boolean;
  }): boolean {
    if (this.world.random.chance(this.diskError)) {
      this.world.note('door disk fails');
      this.ledger.count('disk fault');
      return false;
    }
    const before = this.disk.journal;
    const nextKey = () => this.#name('k');
    const appended = append({ ...before, ...change.state }, this.#boot, change.entries ?? [], nextKey);
    const journal = change.sign === true ? signHead(appended, nextKey()) : appended;
    for (let at = journal.entries.length - 1; at >= 0; at -= 1) {
      const entry = journal.entries[at];
      if (entry === undefined || entry.place <= before.tip) break;
      this.ledger.written(epochOf(entry.place), entry);
    }
    this.disk = { ...this.disk, journal };
    this.former.push(this.disk);
    if (this.former.length > 6) this.former.shift();
    return true;
  }

  #writeReplica(replica: Replica, isAhead: boolean, why: 'batch' | 'urgent' | 'repair' | 'snapshot'): boolean {
    if (this.world.random.chance(this.diskError)) {
      this.world.note('door disk fails');
      this.ledger.count('disk fault');
      return false;
    }
    this.world.note('door commits', why, replica.epoch, replica.cursor);
    this.ledger.replicaCommitted(this.disk.replica, replica, isAhead, why);
    this.disk = { ...this.disk, replica, ...(why === 'snapshot' ? { staged: undefined } : {}) };
    return true;
  }

  /** A fault that nobody planned: the sum goes with the row. */
  loseRow(name: string): void {
    const { replica } = this.disk;
    if (replica === undefined) return;
    const rows = new Map(replica.rows);
    rows.delete(name);
    this.disk = { ...this.disk, replica: { ...replica, rows, digest: digestOfRows(rows.values()) } };
  }

  // What it says

  needs(): DoorNeeds {
    const { journal } = this.disk;
    return {
      ack: !isSame(this.inUse ?? nothing, this.#answered),
      snapshot: this.#needsSnapshot || this.#state.epoch === 0,
      repair: this.#repairs.length > 0,
      journal: journal.tip > journal.acked || this.#resendFrom !== undefined,
      time: this.#clockOffMs === undefined,
      read: false,
    };
  }

  #ask(purpose: 'poll' | 'time'): string {
    const nonce = this.#name('n');
    this.ledger.nonceIssued(nonce, this.#boot);
    this.#state = {
      ...this.#state,
      nonces: this.parts.withNonce(this.#state.nonces, { nonce, purpose }, this.#mono()),
    };
    return nonce;
  }

  sayPoll(): PollQuery {
    const { epoch, cursor } = this.#state;
    return { epoch, after: cursor, nonce: this.#ask('poll'), waitMs: 25_000 };
  }

  sayTime(): string {
    return this.#ask('time');
  }

  /** `useThenAck` broken: it says what is committed, whatever is in use. */
  sayAck(): AckJws {
    const inUse = this.inUse ?? nothing;
    const held = this.parts.order.useThenAck ? inUse : (this.disk.replica ?? nothing);
    this.#ackCount += 1;
    const { epoch, cursor, digest } = held;
    const at = this.#clock().now ?? null;
    const ack: FeedAck = {
      gateway: gatewayId,
      epoch,
      cursor,
      digest,
      floor: this.#state.floor,
      at,
      bootId: this.#boot,
      count: this.#ackCount,
      nonce: this.#ask('poll'),
    };
    this.ledger.ackMade(ack, inUse);
    return sign('door', 'ack', ack);
  }

  saySnapshot(): SnapshotAsk {
    const { snapshot } = this.#state;
    if (snapshot === undefined) return { index: 0 };
    return { index: snapshot.next, snapshot: snapshot.id };
  }

  sayRepair(): RepairAsk | undefined {
    const [kind] = this.#repairs;
    const { replica } = this.disk;
    if (kind === undefined || replica === undefined) return undefined;
    const rows = [...replica.rows.values()].map(({ put }) => put).filter((put) => put.kind === kind);
    return { epoch: replica.epoch, cursor: replica.cursor, kind, sums: sumsOf(rows) };
  }

  /** A piece of history that ends under a head. @returns `undefined` where there is nothing, or the disk failed. */
  sayHistory(most: number): Upload | undefined {
    if (!this.#write({ sign: true })) return undefined;
    const { journal } = this.disk;
    const epoch = epochOf(journal.tip);
    const start = placeOf(epoch, 0);
    const first = this.#resendFrom ?? Math.max(journal.acked, start) + 1;
    const from = Math.max(first, journal.boundary + 1);
    const heads = journal.heads.filter(({ place }) => place >= from);
    const limit = from + Math.min(most, uploadMax) - 1;
    const end = heads.findLast(({ place }) => place <= limit) ?? heads[0];
    if (end === undefined) return undefined;
    const isGap = from > first && journal.boundary > start;
    const { beginning } = journal;
    return {
      epoch,
      firstSeq: seqOf(from),
      prevHash:
        from - 1 === journal.boundary
          ? journal.boundaryHash
          : (entryAt(journal, from - 1)?.hash ?? beginning?.prevHash ?? '0'.repeat(64)),
      entries: journal.entries.filter(({ place }) => place >= from && place <= end.place).map(uploaded),
      heads: heads.filter(({ place }) => place <= end.place).map(({ place: _, ...head }) => head),
      ...(beginning !== undefined && (epochOf(journal.acked) < epoch || first === start + 1)
        ? { begins: sign('door', 'begins', beginning) }
        : {}),
      ...(isGap ? { gap: this.#gap(journal, first) } : {}),
    };
  }

  #gap(journal: Journal, first: number) {
    const nextKey = keyAfter(journal, journal.boundary) ?? journal.key;
    const claim = {
      gateway: gatewayId,
      epoch: epochOf(journal.tip),
      fromSeq: seqOf(first),
      toSeq: seqOf(journal.boundary),
    };
    return sign('door', 'gap', { ...claim, lastHash: journal.boundaryHash, nextKey });
  }

  // What it hears

  *#alone(): Task {
    while (this.#isBusy) yield { signal: this.#idle, timeoutMs: 60_000 };
    this.#isBusy = true;
  }

  #done(): DoorNeeds {
    this.#isBusy = false;
    this.#idle.fire();
    return this.needs();
  }

  *hearPoll(reply: PollReply): Task<DoorNeeds> {
    yield* this.#alone();
    const urgent = proven(reply.urgent, 'cloud', 'urgent');
    if (urgent !== undefined) yield* this.#takeUrgent(urgent);
    yield 'step';
    const batch = proven(reply.batch, 'cloud', 'batch');
    if (batch !== undefined) yield* this.#takeBatch(batch);
    yield 'step';
    yield* this.#takeLease(reply.lease);
    for (const jws of reply.commands) {
      const command = proven(jws, 'cloud', 'command');
      if (command !== undefined) yield* this.#takeCommand(command);
    }
    if (reply.snapshotNeeded) this.#hearSnapshotNeeded();
    // Who stands at the head and was heard gets contact with every poll: without it, the cloud has not heard.
    else if (reply.batch === undefined && reply.lease === undefined && reply.commands.length === 0)
      this.#answered = undefined;
    return this.#done();
  }

  /** First the cloud is told once more where we stand: it may have forgotten. */
  #hearSnapshotNeeded(): void {
    if (this.#askedBefore && this.#answered !== undefined) this.#needsSnapshot = true;
    else this.#answered = undefined;
    this.#askedBefore = true;
  }

  *#takeUrgent(urgent: Parameters<Parts['judgeUrgent']>[1]): Task {
    const judged = this.parts.judgeUrgent(this.#state, urgent);
    const { replica } = this.disk;
    if (judged.kind !== 'apply' || replica === undefined) return;
    if (!this.#write({ state: { floor: Math.max(this.disk.journal.floor, judged.floor) } })) return;
    yield 'step';
    const changes = urgent.credentials.map((row): FeedChange => ({ op: 'put', kind: 'credential', row }));
    const plan = { replica, changes, cursor: replica.cursor, floor: judged.floor, why: 'urgent' as const };
    if (yield* this.#apply(plan)) this.ledger.urgentInUse(urgent.credentials);
  }

  *#takeBatch(batch: Parameters<Parts['judgeBatch']>[1]): Task {
    const judged = this.parts.judgeBatch(this.#state, batch);
    const { replica } = this.disk;
    if (judged.kind !== 'apply' || replica === undefined) return;
    yield* this.#apply({ replica, changes: batch.changes, cursor: judged.to, floor: 0, why: 'batch' });
  }

  /** @returns whether doors use it now. */
  *#apply(plan: {
    readonly replica: Replica;
    readonly changes: readonly FeedChange[];
    readonly cursor: number;
    readonly floor: number;
    readonly why: 'batch' | 'urgent';
  }): Task<boolean> {
    yield 'step';
    const rows = new Map(plan.replica.rows);
    for (const change of plan.changes) this.#applyChange(rows, change);
    const after = { epoch: plan.replica.epoch, cursor: plan.cursor, rows, digest: digestOfRows(rows.values()) };
    const next = this.parts.applied(this.#state, after, plan.floor);
    if (!this.#writeReplica(after, isAhead(next), plan.why)) return false;
    yield 'step';
    this.#state = next;
    yield* this.#use();
    return true;
  }

  #applyChange(rows: Map<string, Held>, change: FeedChange): void {
    const name = nameOf(keyOfChange(change));
    if (!this.parts.isEffective(rows.get(name)?.version, change)) return;
    if (change.op === 'remove') {
      rows.delete(name);
      return;
    }
    if (change.kind === 'credential') {
      const { lookup } = change.row;
      for (const [other, { put, version }] of rows) {
        if (other === name || put.kind !== 'credential' || put.row.lookup !== lookup) continue;
        if (!this.parts.takesLookupFrom(version, change.row)) return;
        rows.delete(other);
      }
    }
    rows.set(name, heldOf(change));
  }

  /** Readers move to what is committed; then it is journalled, and can be said. */
  *#use(): Task {
    yield 'step';
    this.inUse = this.disk.replica;
    yield 'step';
    const { replica, journal } = this.disk;
    if (replica === undefined) return;
    const { epoch, cursor } = replica;
    const floor = Math.max(journal.floor, this.#state.floor);
    this.#write({ entries: [{ kind: 'replica.applied' }], state: { head: { epoch, cursor }, floor } });
  }

  *#takeLease(jws: PollReply['lease']): Task {
    const lease = proven(jws, 'cloud', 'lease');
    if (lease === undefined) return;
    const judged = this.parts.judgeLease(this.#state, lease, this.#mono());
    if (judged.kind !== 'renew') {
      if (judged.reason === 'not-at-head') this.world.note('door refuses lease', judged.reason);
      return;
    }
    const asked = Math.round(judged.contactAt - 1_000 + this.#bootedAt);
    const { now } = this.#clock();
    const wall = now === undefined ? undefined : wallMs(now - Math.ceil(this.world.now - asked));
    const contact = { bootId: this.#boot, at: judged.contactAt, wall };
    this.ledger.renewed(lease.nonce, this.#boot, judged.contactAt - 1_000 + this.#bootedAt, this.#state);
    this.#state = judged.state;
    yield 'step';
    this.#write({ state: { contact } });
  }

  *#takeCommand(command: RemoteCommand): Task {
    const judged = this.parts.judgeCommand(this.#state, command, this.#mono());
    if (judged.kind !== 'take-up') return;
    const { id, nonce } = command;
    const { executed } = judged.state;
    const received = () => this.#write({ entries: [{ kind: 'command.received', requestId: id }], state: { executed } });
    if (this.parts.order.journalThenAct && !received()) return;
    this.#state = { ...this.#state, executed };
    yield 'step';
    this.world.note('door acts', id);
    this.ledger.acted(id, nonce);
    yield 'step';
    if (!this.parts.order.journalThenAct) received();
    while (!this.#write({ entries: [{ kind: 'lock.released', requestId: id }] })) yield 200;
    this.changed.fire();
  }

  *hearAck(reply: AckReply, said: AckJws): Task<DoorNeeds> {
    yield* this.#alone();
    const { epoch, cursor, digest } = said.value;
    this.#answered = { epoch, cursor, digest };
    if (reply.status === 'differs' && this.#repairs.length === 0) this.#repairs = [...kinds];
    yield* this.#takeLease(reply.lease);
    return this.#done();
  }

  *hearChunk(jws: ChunkJws | undefined): Task<DoorNeeds> {
    yield* this.#alone();
    const chunk = proven(jws, 'cloud', 'chunk');
    if (chunk === undefined) {
      this.#dropStaged();
      return this.#done();
    }
    const judged = this.parts.judgeChunk(this.#state, chunk);
    this.world.note('door judges chunk', chunk.snapshot, chunk.index, chunk.cursor, judged.kind);
    if (judged.kind === 'begin' || judged.kind === 'add') {
      const before = judged.kind === 'add' ? (this.disk.staged?.rows ?? []) : [];
      // A disk that fails may also keep less than it was given.
      const rows = this.world.random.chance(4 * this.diskError) ? chunk.rows.slice(1) : chunk.rows;
      const { snapshot } = judged.state;
      if (snapshot !== undefined)
        this.disk = { ...this.disk, staged: { progress: snapshot, rows: [...before, ...rows] } };
      yield 'step';
      this.#state = { ...this.#state, snapshot };
      if (snapshot?.isWhole === true) yield* this.#build();
    }
    if (judged.kind === 'refused' && judged.reason === 'older') {
      // The cloud may not know how far we were.
      this.#dropStaged();
      this.#answered = undefined;
    }
    return this.#done();
  }

  #dropStaged(): void {
    this.disk = { ...this.disk, staged: undefined };
    this.#state = { ...this.#state, snapshot: undefined };
  }

  *#build(): Task {
    const { staged, replica } = this.disk;
    if (staged === undefined) return;
    const rows = new Map(staged.rows.map((put) => [nameOf(keyOfRow(put)), heldOf(put)]));
    yield 'step';
    const digest = digestOfRows(rows.values());
    const epoch = Math.max(replica?.epoch ?? 0, this.disk.journal.head.epoch, this.#state.epoch) + 1;
    const judged = this.parts.judgeWhole(this.#state, digest, epoch);
    this.world.note('door judges whole', judged.kind === 'refused' ? judged.reason : epoch);
    if (judged.kind === 'refused') {
      this.#dropStaged();
      return;
    }
    const { cursor } = judged.state;
    while (!this.#write({ state: { floor: Math.max(this.disk.journal.floor, cursor) } })) yield 500;
    yield 'step';
    while (!this.#writeReplica({ epoch, cursor, digest, rows }, false, 'snapshot')) yield 500;
    yield 'step';
    const { nonces, executed, contactAt } = this.#state;
    this.#state = { ...judged.state, nonces, executed, contactAt };
    this.#needsSnapshot = false;
    this.#askedBefore = false;
    this.#answered = undefined;
    this.#repairs = [];
    yield* this.#use();
  }

  *hearRepair(jws: RepairJws | undefined): Task<DoorNeeds> {
    yield* this.#alone();
    const repair = proven(jws, 'cloud', 'repair');
    const { replica } = this.disk;
    if (repair === undefined || replica === undefined) return this.#repaired();
    const judged = this.parts.judgeRepair(this.#state, repair);
    if (judged.kind !== 'replace') return this.#repaired();
    const rows = new Map(
      [...replica.rows].filter(([, { put }]) => put.kind !== repair.kind || !repair.buckets.includes(bucketOfPut(put))),
    );
    for (const put of repair.rows) rows.set(nameOf(keyOfRow(put)), heldOf(put));
    yield 'step';
    const after = { ...replica, rows, digest: digestOfRows(rows.values()) };
    if (this.#writeReplica(after, false, 'repair')) {
      this.#state = this.parts.applied(this.#state, after);
      yield* this.#use();
    }
    return this.#repaired();
  }

  #repaired(): DoorNeeds {
    this.#repairs = this.#repairs.slice(1);
    if (this.#repairs.length === 0) this.#answered = undefined;
    return this.#done();
  }

  *hearHistory(jws: JournalAckJws | undefined, isConflict: boolean): Task<DoorNeeds> {
    yield 'step';
    const word = proven(jws, 'cloud', 'journal-ack');
    if (word === undefined) return this.needs();
    const { journal } = this.disk;
    const { tip, acked } = journal;
    const place = placeOf(word.epoch, word.seq);
    const hashAt = place === journal.boundary ? journal.boundaryHash : entryAt(journal, place)?.hash;
    const ours = { gateway: gatewayId, hashAt, keyAfter: keyAfter(journal, place) };
    const judged = this.parts.judgeJournalAck({ tip, acked }, word, ours);
    this.world.note('door judges word', word.epoch, word.seq, judged.kind, { tip: seqOf(tip), acked: seqOf(acked) });
    switch (judged.kind) {
      case 'advance':
        this.ledger.ackTaken(this.#cloud.data, acked, judged.place, (at) => entryAt(journal, at)?.hash);
        if (this.#write({ state: { acked: judged.place } })) this.#resendFrom = undefined;
        break;
      case 'lost':
        this.#beginEpoch(judged.nextEpoch);
        break;
      case 'duplicate':
        this.#resendFrom = isConflict ? this.#resend(word.epoch, word.seq) : undefined;
        break;
      case 'refused':
        break;
    }
    yield 'step';
    this.#prune();
    return this.needs();
  }

  /** The cloud has less than it answered for: an old database was put back. */
  #resend(epoch: number, seq: number): number {
    const own = epochOf(this.disk.journal.tip);
    return epoch === own ? placeOf(own, seq + 1) : placeOf(own, 1);
  }

  #beginEpoch(epoch: number): void {
    const former = signHead(this.disk.journal, this.#name('k'));
    const { tip, tipHash, key } = former;
    const before = { epoch: epochOf(tip), seq: seqOf(tip) };
    const beginning = { gateway: gatewayId, epoch, firstKey: key, prevHash: tipHash, before };
    // What the old epoch holds unsent is not sent any more: the cloud has others in those places.
    this.ledger.letGo(former.entries.flatMap(({ place }) => (place > former.acked ? [place] : [])));
    if (
      !this.#write({
        entries: [{ kind: 'journal.lost' }],
        state: { ...former, tip: placeOf(epoch, 0), beginning },
        sign: true,
      })
    )
      return;
    this.ledger.epochBegun(epoch, key);
    this.#resendFrom = undefined;
  }

  #prune(): void {
    const { journal } = this.disk;
    const { acked, boundary, heads, entries } = journal;
    const held = entries.length;
    const unsent = entries.filter(({ place }) => place > acked).length;
    const isOver = this.hasBudget && unsent > budgetEntries;
    if (!isOver && held - unsent <= retainedEntries) return;
    const limit = isOver ? (entries[Math.floor(held / 2)]?.place ?? 0) : acked;
    const head = heads.findLast(({ place }) => place <= limit && epochOf(place) === epochOf(journal.tip));
    if (head === undefined || head.place <= boundary) return;
    this.ledger.letGo(entries.flatMap(({ place }) => (place <= head.place ? [place] : [])));
    const state = {
      entries: entries.filter(({ place }) => place > head.place),
      boundary: head.place,
      boundaryHash: head.hash,
    };
    this.#write({ entries: [{ kind: 'journal.gap' }], state });
  }

  *hearTime(jws: TimeJws): Task<DoorNeeds> {
    yield 'step';
    const time = proven(jws, 'cloud', 'time');
    if (time === undefined) return this.needs();
    const judged = this.parts.judgeTime(this.#state, time, this.#mono());
    if (judged.kind === 'believe') {
      this.ledger.timeBelieved(time.nonce);
      this.#clockOffMs = judged.wall - this.world.now;
      this.#state = judged.state;
    }
    return this.needs();
  }

  // What people do

  *swipe(card: number, door: string): Task {
    const rows = this.inUse?.rows;
    const lookup = lookupOf(card);
    const credential =
      rows && [...rows.values()].find(({ put }) => put.kind === 'credential' && put.row.lookup === lookup);
    const row = credential?.put.kind === 'credential' ? credential.put.row : undefined;
    const grant = row && rows?.get(`grant ${grantKey(row.id, door)}`);
    const isGranted =
      credential !== undefined && row?.status === 'issued' && grant !== undefined && this.#isFresh(row.leaseMs);
    if (!isGranted) this.ledger.count('refusal');
    else this.ledger.granted(credential, grant, row.leaseMs);
    yield 'step';
    if (!this.#write({ entries: [{ kind: isGranted ? 'access.granted' : 'access.refused' }] })) return;
    this.#prune();
    this.changed.fire();
  }

  #isFresh(leaseMs: number | 'unlimited'): boolean {
    if (leaseMs === 'unlimited') return true;
    const age = contactAgeMs(this.disk.journal.contact, { bootId: this.#boot, at: this.#mono(), clock: this.#clock() });
    return age !== 'unknown' && age <= leaseMs;
  }
}

/** Where a door stands that has no replica, or none that it believes. */
const nothing: Replica = { epoch: 0, cursor: 0, rows: new Map(), digest: digestOfRows([]) };

const keyOfRow = (put: FeedPut) => keyOfChange(put);
const uploaded = ({ place: _, prevHash: __, ...entry }: Disk['journal']['entries'][number]) => entry;

const isSame = (
  one: { readonly epoch: number; readonly cursor: number; readonly digest: string },
  other: { readonly epoch: number; readonly cursor: number; readonly digest: string } | undefined,
): boolean =>
  other !== undefined && one.epoch === other.epoch && one.cursor === other.cursor && one.digest === other.digest;

const isBehind = (
  found: { readonly epoch: number; readonly cursor: number },
  known: { readonly epoch: number; readonly cursor: number },
): boolean => found.epoch < known.epoch || (found.epoch === known.epoch && found.cursor < known.cursor);

function openCommands({ entries }: Journal): readonly string[] {
  const open = new Set<string>();
  for (const { kind, requestId } of entries) {
    if (requestId === null) continue;
    if (kind === 'command.received') open.add(requestId);
    else open.delete(requestId);
  }
  return [...open];
}
