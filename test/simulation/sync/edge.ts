/** Edge: the machine that says what to call next, and the carrying of it. While it lies, it carries what it likes. */
import type { CallFailure } from '#gateway/sync/call-failure.ts';
import type { Call, CallResult } from '#gateway/sync/call-record.ts';
import { createSync, type DoorNeeds, type SyncInput, type SyncState } from '#gateway/sync/sync-machine.ts';
import { monoMs } from '#shared/instant.ts';
import type { Cloud } from './cloud.ts';
import type { Door } from './door.ts';
import { Liar } from './liar.ts';
import type { Network } from './network.ts';
import type { Parts } from './parts.ts';
import type { AckJws, Reply } from './statement.ts';
import { Process, type Task, type World } from './world.ts';

const shortMs = 6_000;
const pollMs = 31_000;

interface Ended {
  readonly result: CallResult;
  readonly needs?: DoorNeeds;
}

const failed = (why: CallFailure): Ended => ({ result: { kind: 'failed', why } });

export class Edge {
  readonly process: Process;
  readonly liar: Liar;
  /** How wrong its wall clock is when it starts, ms. */
  clockOffMs = 0;
  readonly #world: World;
  readonly #parts: Parts;
  readonly #door: Door;
  readonly #network: Network;
  readonly #cloud: Cloud;
  #state: SyncState = createSync();
  #wakes = 0;
  #offMs = 0;

  constructor(
    world: World,
    parts: Parts,
    others: { readonly door: Door; readonly network: Network; readonly cloud: Cloud },
  ) {
    this.#world = world;
    this.#parts = parts;
    this.#door = others.door;
    this.#network = others.network;
    this.#cloud = others.cloud;
    this.liar = new Liar(world);
    this.process = new Process(world, 'edge', { start: () => this.#start(), end: () => undefined });
  }

  #start(): void {
    this.#state = createSync();
    this.#offMs = this.clockOffMs;
    this.process.spawn(this.#listen());
    this.give({ kind: 'tick' });
  }

  give(input: SyncInput): void {
    if (!this.process.isUp) return;
    const { state, effects } = this.#parts.stepSync(
      this.#state,
      input,
      monoMs(this.#world.now),
      this.#world.random.next(),
    );
    this.#state = state;
    for (const effect of effects) {
      if (effect.kind === 'call') this.#call(effect.call, effect.uploadEntries);
      if (effect.kind === 'wake') this.#wakeAt(effect.at);
    }
  }

  #wakeAt(at: number): void {
    this.#wakes += 1;
    const wake = this.#wakes;
    const { boot } = this.process;
    this.#world.after(at - this.#world.now, () => {
      if (wake === this.#wakes && boot === this.process.boot) this.give({ kind: 'tick' });
    });
  }

  /** The door process says so when it needs something. */
  *#listen(): Task {
    for (;;) {
      yield { signal: this.#door.changed, timeoutMs: 3_600_000 };
      yield 2;
      if (this.#door.process.isUp) this.give({ kind: 'needs', needs: this.#door.needs() });
    }
  }

  #call(call: Call, uploadEntries: number): void {
    this.process.spawn(this.#carry(call, uploadEntries), ({ result, needs }) =>
      this.give({ kind: 'ended', call, result, ...(needs === undefined ? {} : { needs }) }),
    );
  }

  *#carry(call: Call, uploadEntries: number): Task<Ended> {
    yield 'step';
    if (!this.#door.process.isUp) return failed('door-away');
    switch (call) {
      case 'time': {
        const nonce = this.#door.sayTime();
        return yield* this.#relay(
          (cloud) => cloud.time(nonce),
          shortMs,
          (reply) => {
            this.#offMs = this.#cloud.clockOffMs;
            return this.#door.hearTime(this.liar.twist('time', reply));
          },
        );
      }
      case 'feed': {
        const query = this.liar.twistQuery(this.#door.sayPoll());
        return yield* this.#relay(
          (cloud) => this.#known(cloud, cloud.feed(query)),
          pollMs,
          (reply) => this.#door.hearPoll(this.liar.twist('feed', reply)),
        );
      }
      case 'ack':
        return yield* this.#carryAck();
      case 'snapshot': {
        const ask = this.#door.saySnapshot();
        return yield* this.#relay(
          (cloud) => this.#known(cloud, cloud.snapshot(ask)),
          shortMs,
          (reply) => this.#door.hearChunk(this.liar.twist('snapshot', reply)),
        );
      }
      case 'repair': {
        const ask = this.#door.sayRepair();
        if (ask === undefined) return { result: { kind: 'ok' }, needs: this.#door.needs() };
        return yield* this.#relay(
          (cloud) => this.#known(cloud, cloud.repair(ask)),
          shortMs,
          (reply) => this.#door.hearRepair(this.liar.twist('repair', reply)),
        );
      }
      case 'journal':
        return yield* this.#carryHistory(uploadEntries);
      case 'read':
        return { result: { kind: 'ok' }, needs: this.#door.needs() };
    }
  }

  *#carryAck(): Task<Ended> {
    const said = this.#door.sayAck();
    const sent: AckJws = this.liar.twist('sent ack', said);
    return yield* this.#relay(
      (cloud) => this.#known(cloud, cloud.ack(sent)),
      shortMs,
      (reply) => this.#door.hearAck(this.liar.twist('ack', reply), said),
    );
  }

  *#carryHistory(uploadEntries: number): Task<Ended> {
    const said = this.#door.sayHistory(uploadEntries);
    if (said === undefined) {
      const needs = this.#door.needs();
      return needs.journal ? failed('door-away') : { result: { kind: 'ok' }, needs };
    }
    const upload = this.liar.twistUpload(said);
    return yield* this.#relay(
      (cloud) => this.#known(cloud, cloud.journal(upload)),
      shortMs,
      (reply, isConflict) => this.#door.hearHistory(this.liar.twist('journal', reply.ack), isConflict),
    );
  }

  /** The cloud believes no token whose time is not its own. */
  *#known<Value>(cloud: Cloud, served: Task<Reply<Value>>): Task<Reply<Value>> {
    if (Math.abs(this.#offMs - cloud.clockOffMs) > 60_000) return { kind: 'clock-skewed' };
    return yield* served;
  }

  *#relay<Value>(
    serve: (cloud: Cloud) => Task<Reply<Value>>,
    timeoutMs: number,
    hear: (value: Value, isConflict: boolean) => Task<DoorNeeds>,
  ): Task<Ended> {
    const reply = yield* this.#network.call(serve, timeoutMs);
    if (reply === 'timeout') return failed('unreachable');
    yield 'step';
    if (!this.#door.process.isUp) return failed('door-away');
    if (reply.kind === 'gone') {
      // What was asked for is not there: a snapshot begins anew.
      const needs = yield* this.#tell(this.#door.hearChunk(undefined));
      return needs === undefined ? failed('door-away') : { ...failed('cloud-fault'), needs };
    }
    if (reply.kind !== 'ok' && reply.kind !== 'conflict') return failed(reply.kind);
    const needs = yield* this.#tell(hear(reply.value, reply.kind === 'conflict'));
    if (needs === undefined) return failed('door-away');
    return reply.kind === 'conflict' ? { ...failed('conflict'), needs } : { result: { kind: 'ok' }, needs };
  }

  /** Hands the door process something and waits for its answer. @returns `undefined` if it ended meanwhile. */
  *#tell(hearing: Task<DoorNeeds>): Task<DoorNeeds | undefined> {
    const { process } = this.#door;
    const { boot } = process;
    let needs: DoorNeeds | undefined;
    process.spawn(hearing, (heard) => {
      needs = heard;
    });
    while (needs === undefined && process.isUp && process.boot === boot) yield 5;
    return needs;
  }
}
