/** The cloud: one database, two nodes that come and go, and what they answer. Each answer is made of steps. */

import { commandMachine, overdue } from '#cloud/gateway-sync/command-lifecycle.ts';
import type { FeedAck, FeedPut } from '#shared/contract/sync/feed.ts';
import type { UploadedEntry } from '#shared/contract/sync/journal.ts';
import { identifier } from '#shared/identifier.ts';
import { placeOf } from '#shared/journal-chain.ts';
import { step } from '#shared/machine.ts';
import { addHash, digestOf, emptySums, type RowKind, sumHex } from '#shared/replica-digest.ts';
import { type CloudData, type Command, createCloudData } from './cloud-data.ts';
import type { Ledger } from './ledger.ts';
import { cutBatchLimits } from './options.ts';
import type { Parts } from './parts.ts';
import { bucketOfPut, changeOf, type Held, heldOf, nameOf } from './rows.ts';
import {
  type AckJws,
  type AckReply,
  type ChunkJws,
  type CommandJws,
  gatewayId,
  type JournalAckJws,
  type LeaseJws,
  type PollQuery,
  type PollReply,
  proven,
  type RepairAsk,
  type RepairJws,
  type Reply,
  type SnapshotAsk,
  sign,
  type TimeJws,
  type Upload,
  type UploadReply,
  type UrgentJws,
} from './statement.ts';
import { Process, Signal, type Task, type World } from './world.ts';

const pollMaxMs = 25_000;
const snapshotRows = 6;

export class Cloud {
  readonly world: World;
  readonly parts: Parts;
  readonly ledger: Ledger;
  data: CloudData;
  /** How wrong its wall clock is, ms. */
  clockOffMs = 0;
  /** Chance that numbering is slow. */
  lag = 0;
  readonly nodes: readonly Process[];
  /** Something was numbered or asked for. */
  readonly hint = new Signal();
  /** Something waits for a number. */
  readonly queued = new Signal();
  /** Who numbers at the moment; the connection, and with it the lock, ends with its node. */
  #lock: { readonly node: Process; readonly boot: number } | undefined;
  readonly #freed = new Signal();
  #ids = 0;

  constructor(world: World, parts: Parts, ledger: Ledger, firstKey: string) {
    this.world = world;
    this.parts = parts;
    this.ledger = ledger;
    this.data = createCloudData(firstKey);
    this.nodes = ['cloud-a', 'cloud-b'].map((name) => this.#node(name));
  }

  get wall(): number {
    return 1_900_000_000_000 + this.world.now + this.clockOffMs;
  }

  newId(kind: string): string {
    this.#ids += 1;
    return `${kind}${this.#ids}`;
  }

  anyNode(): Process | undefined {
    return this.world.random.pick(this.nodes.filter((node) => node.isUp));
  }

  #node(name: string): Process {
    const node: Process = new Process(this.world, name, {
      start: () => {
        node.spawn(this.#dispatch(node));
        node.spawn(this.#sweep());
      },
      end: () => {
        if (this.#lock?.node === node) this.#unlock();
      },
    });
    return node;
  }

  #unlock(): void {
    this.#lock = undefined;
    this.#freed.fire();
  }

  /** Numbers whole committed groups, under the gateway's lock, in one transaction. */
  *#dispatch(node: Process): Task {
    for (;;) {
      yield { signal: this.queued, timeoutMs: 2_000 };
      if (this.world.random.chance(this.lag)) yield this.world.random.next() * 4_000;
      while (this.#pending().length > 0) {
        while (this.parts.order.lockThenNumber && this.#lock !== undefined)
          yield { signal: this.#freed, timeoutMs: 5_000 };
        this.#lock = { node, boot: node.boot };
        yield 'step';
        const { data } = this;
        const groups = this.#pending().slice(0, 4);
        const { head } = data;
        yield 'step';
        if (groups.length > 0) this.#commitNumbers(groups, head);
        this.#unlock();
        yield 'step';
        this.hint.fire();
      }
    }
  }

  #pending(): CloudData['queue'] {
    const { queue, lastGroup } = this.data;
    return this.parts.order.findUnnumbered ? queue : queue.filter(({ id }) => id > lastGroup);
  }

  #commitNumbers(groups: CloudData['queue'], before: CloudData['head']): void {
    const { data } = this;
    const turn = this.parts.order.oldestFirst ? 1 : -1;
    const byId = [...groups].sort((one, other) => turn * (one.id - other.id));
    let seq = before.seq;
    const numbered = byId.map(({ id, drafts }) => ({
      id: BigInt(turn * id),
      changes: drafts.map((draft) => {
        seq += 1;
        return changeOf(draft, seq);
      }),
    }));
    const numbering = this.parts.numberFeed(before, numbered, data.mirror);
    for (const { seq: at, kind, key, change, isEffective } of numbering.changes) {
      if (!isEffective) continue;
      const name = nameOf({ kind, key });
      if (change.op === 'put') data.mirror.set(name, heldOf(change));
      else data.mirror.delete(name);
      const isRestriction = change.op === 'remove' || (change.kind === 'credential' && change.row.status !== 'issued');
      data.deliveries.set(name, { seq: at, isRestriction, isEffective: false, numberedAt: this.world.now });
    }
    let last = before.seq;
    for (const [index, { id, changes }] of numbered.entries()) {
      const digest = numbering.ends[index]?.digest ?? '';
      data.placed.push({ id: Number(id) * turn, firstSeq: last + 1, lastSeq: last + changes.length, digest, changes });
      last += changes.length;
    }
    data.head = numbering.head;
    data.queue = data.queue.filter((group) => !groups.includes(group));
    data.lastGroup = Math.max(data.lastGroup, ...groups.map(({ id }) => id));
    this.world.note(
      'cloud numbers',
      groups.map(({ id }) => id),
      'to',
      last,
    );
    this.ledger.numbered(data, last);
  }

  /** What time alone does to commands. */
  *#sweep(): Task {
    for (;;) {
      yield 5_000;
      for (const [id, command] of this.data.commands) {
        const event = overdue(command, this.wall);
        if (event !== undefined) this.moveCommand(id, event);
      }
    }
  }

  /** @returns whether it moved. */
  moveCommand(id: string, event: 'deliver' | 'execute' | 'refuse' | 'interrupt' | 'expire' | 'lose'): boolean {
    const command = this.data.commands.get(id);
    if (command === undefined) return false;
    const moved = step(commandMachine, command.state, event, { isTimeOver: true, isSilenceOver: true });
    if (moved.status !== 'applied') return false;
    this.data.commands.set(id, { ...command, state: moved.to });
    return true;
  }

  get digest(): string {
    return digestOf(this.data.head.sums);
  }

  *time(nonce: string): Task<Reply<TimeJws>> {
    yield 'step';
    this.ledger.signed(nonce);
    return { kind: 'ok', value: sign('cloud', 'time', { gateway: null, nonce, at: this.wall }) };
  }

  *feed(query: PollQuery): Task<Reply<PollReply>> {
    const polledAt = this.wall;
    const until = this.world.now + Math.min(query.waitMs, pollMaxMs);
    for (;;) {
      yield 'step';
      const { data } = this;
      const { head, oldestSeq, acked } = data;
      const judged = this.parts.judgePoll({ query, acked, headSeq: head.seq, oldestSeq });
      const offers = this.#offers(query.nonce, polledAt);
      const isOver = this.world.now >= until;
      if (judged.kind === 'snapshot-needed' || offers.length > 0 || judged.behind > 0 || isOver) {
        const reply = this.#answer(judged, query, offers);
        for (const { value } of offers) this.moveCommand(value.id, 'deliver');
        yield 'step';
        return { kind: 'ok', value: reply };
      }
      yield { signal: this.hint, timeoutMs: Math.max(1, until - this.world.now) };
    }
  }

  #answer(judged: ReturnType<Parts['judgePoll']>, query: PollQuery, commands: readonly CommandJws[]): PollReply {
    if (judged.kind === 'snapshot-needed') return { commands, snapshotNeeded: true };
    const { data } = this;
    const { from } = judged;
    const after = data.placed
      .filter(({ firstSeq }) => firstSeq > from)
      .map(({ firstSeq, lastSeq, changes }) => ({ firstSeq, lastSeq, changes: changes.length, bytes: changes.length }));
    const to = this.parts.cutBatch(from, after, cutBatchLimits);
    // Nothing follows from there: its place lies inside a group, or behind a hole.
    if (to === from && judged.behind > 0) return { commands, snapshotNeeded: true };
    const changes = data.placed.flatMap((group) =>
      group.changes.filter((_, index) => group.firstSeq + index > from && group.firstSeq + index <= to),
    );
    const said = { gateway: gatewayId, epoch: query.epoch, head: data.head.seq, issuedAt: this.wall };
    const batch = sign('cloud', 'batch', { ...said, from, to, changes });
    const isFar = to < data.head.seq;
    return {
      commands,
      snapshotNeeded: false,
      ...(to > from ? { batch } : {}),
      ...(isFar ? { urgent: this.#urgent(said) } : {}),
      ...(judged.isAtHead ? { lease: this.#lease(query.nonce, query.epoch) } : {}),
    };
  }

  #urgent(said: { gateway: typeof gatewayId; epoch: number; head: number; issuedAt: number }): UrgentJws {
    const credentials = [...this.data.mirror.values()].flatMap(({ put }) =>
      put.kind === 'credential' && put.row.status !== 'issued' ? [put.row] : [],
    );
    return sign('cloud', 'urgent', { ...said, credentials });
  }

  #lease(nonce: string, epoch: number): LeaseJws {
    const { seq: head } = this.data.head;
    this.ledger.signed(nonce, { seq: head, digest: this.digest });
    return sign('cloud', 'lease', { gateway: gatewayId, nonce, epoch, head, digest: this.digest, issuedAt: this.wall });
  }

  #offers(nonce: string, polledAt: number): readonly CommandJws[] {
    const offers: CommandJws[] = [];
    for (const [id, command] of this.data.commands) {
      const lifetimeMs = this.parts.offeredMs(command, polledAt, this.wall);
      if (lifetimeMs === undefined) continue;
      const said = { gateway: gatewayId, id: identifier<'request'>(id), nonce, lifetimeMs, actor: 'a' };
      offers.push(sign('cloud', 'command', { ...said, issuedAt: this.wall, what: command.what }));
    }
    return offers;
  }

  *ack(jws: AckJws): Task<Reply<AckReply>> {
    yield 'step';
    const ack = proven(jws, 'door', 'ack');
    if (ack === undefined) return { kind: 'gone' };
    let judged = this.#judgeAck(ack);
    // The head moves only under the lock.
    while (judged.kind === 'count' && judged.raiseHeadTo !== undefined && this.#lock !== undefined) {
      yield { signal: this.#freed, timeoutMs: 5_000 };
      judged = this.#judgeAck(ack);
    }
    if (judged.kind === 'refused') return { kind: 'gone' };
    if (judged.kind === 'noop') return { kind: 'ok', value: { status: 'noop' } };
    const { data } = this;
    data.heardOfBoot.set(ack.bootId, ack.count);
    data.acked = { epoch: ack.epoch, cursor: ack.cursor, isSame: judged.compared === 'same' };
    if (judged.raiseHeadTo !== undefined) this.#raiseHead(judged.raiseHeadTo);
    this.#deliver(judged);
    this.ledger.ackCounted(data, ack, judged);
    this.world.note('cloud counts ack', ack.bootId, ack.count, ack.cursor, judged.compared, judged.alarm ?? '');
    yield 'step';
    if (judged.compared === 'differs') return { kind: 'ok', value: { status: 'differs' } };
    const isContact =
      judged.compared === 'same' && data.acked?.cursor === data.head.seq && ack.cursor === data.head.seq;
    return {
      kind: 'ok',
      value: { status: 'applied', ...(isContact ? { lease: this.#lease(ack.nonce, ack.epoch) } : {}) },
    };
  }

  #judgeAck(ack: FeedAck) {
    const { data } = this;
    const heardOfBoot = data.heardOfBoot.get(ack.bootId) ?? 0;
    const head = { seq: data.head.seq, digest: this.digest };
    const placed = this.#placedAt(ack.cursor);
    return this.parts.judgeAck({ gateway: gatewayId, last: data.acked, heardOfBoot, head, placed }, ack);
  }

  /** What the feed says of a place before the head. */
  #placedAt(seq: number): string {
    return this.data.placed.find(({ lastSeq }) => lastSeq === seq)?.digest ?? 'no-end';
  }

  #raiseHead(seq: number): void {
    this.data.head = { ...this.data.head, seq };
    this.data.placed = [];
    this.data.oldestSeq = seq + 1;
    this.ledger.headRaised(seq);
  }

  #deliver({ effectiveTo, withdrawAfter }: { readonly effectiveTo: number; readonly withdrawAfter?: number }): void {
    for (const [name, delivery] of this.data.deliveries) {
      if (withdrawAfter !== undefined && delivery.seq > withdrawAfter && delivery.isEffective)
        this.data.deliveries.set(name, { ...delivery, isEffective: false });
      else if (delivery.seq <= effectiveTo && !delivery.isEffective)
        this.data.deliveries.set(name, { ...delivery, isEffective: true });
    }
  }

  *snapshot({ index, snapshot: wanted }: SnapshotAsk): Task<Reply<ChunkJws>> {
    yield 'step';
    const { data } = this;
    let id = wanted;
    if (id === undefined) {
      id = this.newId('s');
      const rows = [...data.mirror.values()].map(({ put }) => put);
      data.snapshots.set(id, { cursor: data.head.seq, digest: this.digest, rows });
      if (data.snapshots.size > 4) data.snapshots.delete([...data.snapshots.keys()][0] ?? '');
      yield 'step';
    }
    const found = data.snapshots.get(id);
    if (found === undefined) return { kind: 'gone' };
    const rows = found.rows.slice(index * snapshotRows, (index + 1) * snapshotRows);
    const { cursor, digest } = found;
    const isLast = (index + 1) * snapshotRows >= found.rows.length;
    const said = { gateway: gatewayId, snapshot: identifier<'snapshot'>(id), index, isLast };
    return { kind: 'ok', value: sign('cloud', 'chunk', { ...said, cursor, digest, rows, issuedAt: this.wall }) };
  }

  *repair(ask: RepairAsk): Task<Reply<RepairJws | undefined>> {
    yield 'step';
    const { data } = this;
    if (ask.cursor !== data.head.seq || ask.epoch !== data.acked?.epoch) return { kind: 'ok', value: undefined };
    const rows = [...data.mirror.values()].map(({ put }) => put).filter(({ kind }) => kind === ask.kind);
    const sums = sumsOf(rows);
    const buckets = [...new Set([...sums.keys(), ...ask.sums.keys()])].filter(
      (bucket) => sums.get(bucket) !== ask.sums.get(bucket),
    );
    if (buckets.length === 0) return { kind: 'ok', value: undefined };
    const inBuckets = rows.filter((put) => buckets.includes(bucketOfPut(put)));
    const said = { gateway: gatewayId, epoch: ask.epoch, cursor: ask.cursor, kind: ask.kind, issuedAt: this.wall };
    return { kind: 'ok', value: sign('cloud', 'repair', { ...said, buckets, rows: inBuckets }) };
  }

  *journal(upload: Upload): Task<Reply<UploadReply>> {
    yield 'step';
    const { data, parts } = this;
    const { begins, gap, ...plain } = upload;
    const isTrue = (begins === undefined || begins.by === 'door') && (gap === undefined || gap.by === 'door');
    if (!isTrue) return { kind: 'gone' };
    const facts = this.#uploadFacts(upload);
    const judged = parts.judgeUpload(
      facts,
      { ...plain, entries: [...plain.entries], heads: [...plain.heads] },
      (head, key) => head.signature === `by ${key}`,
    );
    this.world.note(
      'cloud judges upload',
      upload.epoch,
      upload.firstSeq,
      upload.entries.length,
      judged.kind,
      judged.kind === 'refused' ? judged.reason : '',
    );
    const standing = (stand = data.stand): JournalAckJws =>
      sign('cloud', 'journal-ack', {
        gateway: gatewayId,
        epoch: stand.epoch,
        seq: stand.seq,
        hash: stand.hash ?? '0'.repeat(64),
        nextKey: stand.nextKey,
        at: this.wall,
      });
    if (judged.kind === 'forked') {
      data.forked.push(...judged.entries);
      this.ledger.forked(judged.entries);
    }
    if (judged.kind !== 'gap' && judged.kind !== 'refused' && upload.epoch === data.stand.epoch)
      this.ledger.heard(data, upload.epoch, upload.entries);
    switch (judged.kind) {
      case 'store': {
        if (!parts.order.storeThenAck) {
          // The broken order: the answer leaves before the commit, which may never come.
          const early = standing(judged.stand);
          const node = this.anyNode();
          node?.spawn(this.#storeLater(judged));
          return { kind: 'ok', value: { status: 'stored', ack: early } };
        }
        this.#store(judged);
        yield 'step';
        return { kind: 'ok', value: { status: 'stored', ack: standing(judged.stand) } };
      }
      case 'noop':
        return { kind: 'ok', value: { status: 'stored', ack: standing() } };
      case 'gap':
        return { kind: 'conflict', value: { status: 'gap', ack: standing() } };
      case 'forked':
        return { kind: 'conflict', value: { status: 'forked', ack: standing() } };
      case 'refused':
        return { kind: 'conflict', value: { status: 'refused', ack: standing() } };
    }
  }

  *#storeLater(judged: Extract<ReturnType<Parts['judgeUpload']>, { kind: 'store' }>): Task {
    yield 'step';
    yield 'step';
    this.#store(judged);
  }

  #uploadFacts(upload: Upload) {
    const { stand, entries, keys } = this.data;
    const stored = new Map<number, string>();
    for (let seq = upload.firstSeq - 1; seq <= upload.firstSeq + upload.entries.length; seq += 1) {
      const entry = entries.get(placeOf(stand.epoch, seq));
      if (entry !== undefined) stored.set(seq, entry.hash);
    }
    let keyBefore = this.ledger.firstKeyOf(stand.epoch) ?? stand.nextKey;
    for (let seq = upload.firstSeq - 1; seq > 0; seq -= 1) {
      const key = keys.get(placeOf(stand.epoch, seq));
      if (key === undefined) continue;
      keyBefore = key;
      break;
    }
    return { gateway: gatewayId, stand, stored, keyBefore, begins: upload.begins?.value, gap: upload.gap?.value };
  }

  #store(judged: Extract<ReturnType<Parts['judgeUpload']>, { kind: 'store' }>): void {
    const { data } = this;
    const { epoch } = judged.stand;
    this.ledger.storing(data, judged);
    for (const entry of judged.entries) {
      data.entries.set(placeOf(epoch, entry.seq), entry);
      this.#follow(entry);
    }
    for (const { seq, nextKey } of judged.heads) data.keys.set(placeOf(epoch, seq), nextKey);
    if (judged.gap !== undefined) {
      data.gaps.push({ from: placeOf(epoch, judged.gap.fromSeq), to: placeOf(epoch, judged.gap.toSeq) });
    }
    data.stand = judged.stand;
  }

  /** What history says became of a command. */
  #follow({ kind, requestId }: UploadedEntry): void {
    if (requestId === null) return;
    if (kind === 'lock.released') this.moveCommand(requestId, 'execute');
    if (kind === 'release.interrupted') this.moveCommand(requestId, 'interrupt');
  }

  requestCommand(what: Command['what']): void {
    const id = this.newId('cmd');
    const lifetimeMs = this.world.random.int(3, 25) * 1_000;
    this.data.commands.set(id, { state: 'queued', requestedAt: this.wall, lifetimeMs, what });
    this.ledger.commandRequested(id, lifetimeMs);
    this.world.note('command', id, lifetimeMs);
    this.hint.fire();
  }
}

/** Sum of each bucket that is not empty. */
export function sumsOf(rows: readonly FeedPut[]): ReadonlyMap<number, string> {
  const sums = new Map<number, bigint>();
  for (const put of rows) {
    const bucket = bucketOfPut(put);
    sums.set(bucket, addHash(sums.get(bucket) ?? 0n, heldOf(put).hash));
  }
  return new Map([...sums].map(([bucket, sum]) => [bucket, sumHex(sum)]));
}

/** One digest over rows as they are held. */
export function digestOfRows(rows: Iterable<Held>): string {
  const sums: Record<RowKind, bigint> = { ...emptySums };
  for (const { put, hash } of rows) sums[put.kind] = addHash(sums[put.kind], hash);
  return digestOf(sums);
}
