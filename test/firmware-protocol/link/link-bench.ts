/**
 * Both ends of a link joined in virtual time: a gateway session, a lock session with a bolt that takes time, and between
 * them whatever a test wants to happen to each packet.
 */
import type { Result } from '#protocol/link/from-lock.ts';
import type { GatewayCommand, GatewayConfig, GatewayEffect, GatewayInput } from '#protocol/link/gateway-port.ts';
import { stepGatewaySession } from '#protocol/link/gateway-session.ts';
import { createGatewaySession, type GatewayState } from '#protocol/link/gateway-state.ts';
import { wakeAt } from '#protocol/link/gateway-timing.ts';
import type { LockConfig, LockEffect, LockInput, Tellable, Ticket } from '#protocol/link/lock-port.ts';
import { stepLockSession } from '#protocol/link/lock-session.ts';
import { createLockSession, type LockState } from '#protocol/link/lock-state.ts';
import type { ToLock } from '#protocol/link/to-lock.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';
import type { Copy } from '../../fakes/storm.ts';

export type Direction = 'to-lock' | 'to-gateway';

/** What becomes of one packet: the copies that arrive, each after its delay; none is a loss. */
export type Fate = (direction: Direction, bytes: Uint8Array) => readonly Copy[];

export const arrives: Fate = (_direction, bytes) => [{ bytes, delayMs: 0 }];
export const isLost: Fate = () => [];

export const linkKey = Uint8Array.from({ length: 32 }, (_, at) => at + 1);
export const otherKey = Uint8Array.from({ length: 32 }, (_, at) => 200 - at);
export const identity = { vendor: 'Kannuki', model: 'Bench lock', serial: 'L-0001', firmware: '1.0.0', abilities: 3 };
export const gatewayConfig: GatewayConfig = { deviceId: 'front-door', key: linkKey, expectedIdentity: identity };
export const lockConfig: LockConfig = { deviceId: 'front-door', key: linkKey, identity };

export const release = (ms = 3_000): GatewayCommand => ({ kind: 'release', ms });

/** What the lock's own program does with a command. */
export type Behaviour = (command: ToLock) => { readonly result: Result; readonly takesMs: number };
export const obedient: Behaviour = () => ({ result: 'done', takesMs: 20 });

export interface Execution {
  readonly at: number;
  readonly command: ToLock;
  /** Of the lock's starts. */
  readonly boot: number;
}

interface Due {
  readonly at: number;
  readonly order: number;
  readonly act: () => void;
}

/** A lock's session, ours or another program's. */
export interface LockEnd {
  start(config: LockConfig): void;
  step(input: LockInput): readonly LockEffect[];
}

class OwnLock implements LockEnd {
  state: LockState | undefined;

  start(config: LockConfig): void {
    this.state = createLockSession(config);
  }

  step(input: LockInput): readonly LockEffect[] {
    if (this.state === undefined) throw new Error('the lock was not started');
    const { state, effects } = stepLockSession(this.state, input);
    this.state = state;
    return effects;
  }
}

const wayMs = 10;

type Seen<Effect> = Effect & { readonly seenAt: number };

export class LinkBench {
  now = 5_000;
  gateway: GatewayState;
  readonly lock: LockEnd;
  fate: Fate = arrives;
  behaviour: Behaviour = obedient;
  readonly gatewayEffects: Seen<GatewayEffect>[] = [];
  readonly lockEffects: Seen<LockEffect>[] = [];
  readonly executions: Execution[] = [];
  /** Every packet as it was sent. */
  readonly sent: { readonly direction: Direction; readonly at: number; readonly bytes: Uint8Array }[] = [];
  readonly outcomes = new Map<number, string>();
  readonly random: () => number;
  boots = 1;
  private isPowered = true;
  private gatewayConfig: GatewayConfig;
  private lockConfig: LockConfig;
  private due: Due[] = [];
  private order = 0;
  private bootedAt: number;
  private nextId = 1;
  /** How fast the lock's clock runs. */
  readonly rate: number;

  constructor(
    options: {
      readonly gateway?: GatewayConfig;
      readonly lock?: LockConfig;
      readonly seed?: number;
      readonly end?: LockEnd;
      readonly rate?: number;
    } = {},
  ) {
    this.gatewayConfig = options.gateway ?? gatewayConfig;
    this.lockConfig = options.lock ?? lockConfig;
    this.rate = options.rate ?? 1;
    this.random = seededRandom(options.seed ?? 1);
    this.gateway = createGatewaySession(this.gatewayConfig);
    this.lock = options.end ?? new OwnLock();
    this.lock.start(this.lockConfig);
    this.bootedAt = this.now - 1_234;
  }

  entropy(): Uint8Array {
    return Uint8Array.from({ length: 32 }, () => Math.floor(this.random() * 256));
  }

  uptime(): number {
    return Math.floor((this.now - this.bootedAt) * this.rate);
  }

  tellGateway(input: GatewayInput): readonly GatewayEffect[] {
    const { state, effects } = stepGatewaySession(this.gateway, input);
    this.gateway = state;
    for (const effect of effects) {
      this.gatewayEffects.push({ ...effect, seenAt: this.now });
      if (effect.kind === 'transmit') this.send('to-lock', effect.bytes);
      if (effect.kind === 'command-done') this.note(effect.id, effect.outcome.kind);
      if (effect.kind === 'key-confirmed') this.gatewayConfig = this.withKeys(this.gatewayConfig, effect.key);
    }
    return effects;
  }

  private withKeys<Config extends { key: Uint8Array }>(
    config: Config,
    key: Uint8Array,
    candidate?: Uint8Array,
  ): Config {
    const { candidate: _old, ...rest } = { candidate: undefined, ...config };
    return { ...rest, key, ...(candidate && { candidate }) } as unknown as Config;
  }

  private note(id: number, outcome: string): void {
    if (this.outcomes.has(id)) throw new Error(`a second outcome of command ${id}`);
    this.outcomes.set(id, outcome);
  }

  tellLock(input: LockInput): void {
    if (!this.isPowered) return;
    for (const effect of this.lock.step(input)) {
      this.lockEffects.push({ ...effect, seenAt: this.now });
      this.obey(effect);
    }
  }

  private obey(effect: LockEffect): void {
    if (effect.kind === 'transmit') this.send('to-gateway', effect.bytes);
    if (effect.kind === 'execute') this.execute(effect.ticket, effect.command);
    if (effect.kind === 'key-confirmed') this.lockConfig = this.withKeys(this.lockConfig, effect.key);
    if (effect.kind !== 'ask') return;
    const { question, ticket } = effect;
    const { result } = this.behaviour(question);
    if (result !== 'done' && result !== 'expired') {
      this.tellLock({ kind: 'refuse', at: this.uptime(), ticket, result });
      return;
    }
    const answer =
      question.kind === 'slots-read'
        ? ({ kind: 'slot', slot: question.slot, isSet: false } as const)
        : ({
            kind: 'status',
            bolt: 'secured',
            contact: 'closed',
            isTampered: false,
            isJammed: false,
            firmware: '1',
          } as const);
    this.tellLock({ kind: 'answer', at: this.uptime(), ticket, answer });
  }

  private execute(ticket: Ticket, command: ToLock): void {
    const { result, takesMs } = this.behaviour(command);
    if (result === 'done' || result === 'jammed') this.executions.push({ at: this.now, command, boot: this.boots });
    if (command.kind === 'key-rotate' && result === 'done') {
      this.lockConfig = this.withKeys(this.lockConfig, this.lockConfig.key, command.key);
      this.tellLock({ kind: 'keys', at: this.uptime(), key: this.lockConfig.key, candidate: command.key });
    }
    const boot = this.boots;
    this.after(takesMs, () => {
      if (this.boots === boot) this.tellLock({ kind: 'done', at: this.uptime(), ticket, result });
    });
  }

  command(command: GatewayCommand, lifetimeMs = 2_000): number {
    const id = this.nextId;
    this.nextId += 1;
    this.tellGateway({ kind: 'command', at: this.now, id, command, deadline: this.now + lifetimeMs });
    return id;
  }

  tell(message: Tellable): void {
    this.tellLock({ kind: 'tell', at: this.uptime(), message });
  }

  /** Everything in memory is gone; what was stored stays. */
  restartLock(config?: LockConfig): void {
    if (config !== undefined) this.lockConfig = config;
    this.boots += 1;
    this.bootedAt = this.now;
    this.isPowered = true;
    this.lock.start(this.lockConfig);
  }

  cutLock(): void {
    this.isPowered = false;
  }

  /** Commands without an outcome are interrupted. */
  restartGateway(config?: GatewayConfig): void {
    if (config !== undefined) this.gatewayConfig = config;
    for (let id = 1; id < this.nextId; id += 1) if (!this.outcomes.has(id)) this.outcomes.set(id, 'interrupted');
    this.gateway = createGatewaySession(this.gatewayConfig);
  }

  /** Somebody else on the way speaks. */
  inject(direction: Direction, bytes: Uint8Array, delayMs = 0): void {
    this.after(delayMs, () => this.arrive(direction, bytes));
  }

  private send(direction: Direction, bytes: Uint8Array): void {
    this.sent.push({ direction, at: this.now, bytes });
    for (const copy of this.fate(direction, bytes)) this.inject(direction, copy.bytes, wayMs + copy.delayMs);
  }

  private arrive(direction: Direction, bytes: Uint8Array): void {
    if (direction === 'to-gateway') this.tellGateway({ kind: 'packet', at: this.now, bytes });
    else this.tellLock({ kind: 'packet', at: this.uptime(), bytes, entropy: this.entropy() });
  }

  after(delayMs: number, act: () => void): void {
    this.order += 1;
    this.due.push({ at: this.now + delayMs, order: this.order, act });
  }

  /** Lets that much time pass. */
  run(durationMs: number): this {
    return this.until(() => false, durationMs);
  }

  /** Lets time pass until it holds, or the time is over. */
  until(holds: () => boolean, longestMs = 60_000): this {
    const end = this.now + longestMs;
    while (!holds()) {
      const next = this.due.sort((one, other) => one.at - other.at || one.order - other.order)[0];
      const wake = Math.max(wakeAt(this.gateway), this.now);
      const at = Math.min(next?.at ?? Number.POSITIVE_INFINITY, wake);
      if (at > end) break;
      this.now = Math.max(this.now, at);
      if (next !== undefined && next.at <= wake) {
        this.due = this.due.filter((one) => one !== next);
        next.act();
      } else this.wake();
    }
    if (!holds()) this.now = Math.max(this.now, end);
    return this;
  }

  private wake(): void {
    this.tellGateway({ kind: 'tick', at: this.now, entropy: this.entropy() });
    if (wakeAt(this.gateway) <= this.now) throw new Error(`wakes again at once at ${this.now}`);
  }

  online(): this {
    return this.until(() => this.gateway.status.kind === 'online');
  }

  said<Kind extends GatewayEffect['kind']>(kind: Kind) {
    return this.gatewayEffects.filter(
      (effect): effect is Seen<Extract<GatewayEffect, { kind: Kind }>> => effect.kind === kind,
    );
  }

  did<Kind extends LockEffect['kind']>(kind: Kind) {
    return this.lockEffects.filter(
      (effect): effect is Seen<Extract<LockEffect, { kind: Kind }>> => effect.kind === kind,
    );
  }

  outcome(id: number) {
    return this.said('command-done').find((effect) => effect.id === id)?.outcome;
  }
}
