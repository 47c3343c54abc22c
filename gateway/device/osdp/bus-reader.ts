/**
 * One reader on a bus: its session, its commands, what it reported, how it is.
 *
 * The bus gives it turns and answers; it says what to send and tells what happened. It owns no line and no timer.
 */
import type { PanelCommand, PanelEffect, PanelInput } from '#protocol/osdp/panel-port.ts';
import { stepPanelSession } from '#protocol/osdp/panel-session.ts';
import { createPanelSession, type PanelState } from '#protocol/osdp/panel-state.ts';
import { type Capability, capabilityFunction } from '#protocol/osdp/reply/capabilities.ts';
import { later, type MonoMs, monoMs } from '#shared/instant.ts';
import type { CommandResult, DeviceCommand, DeviceEvent, DeviceHealth, OfflineReason } from '../driver.ts';
import type { OsdpDeviceConfig } from './bus-config.ts';
import type { Slot } from './bus-schedule.ts';
import { CommandQueue } from './command-queue.ts';
import type { Answer } from './line-exchange.ts';
import { lockOutput } from './lock-output.ts';
import {
  type FeedbackAbility,
  feedbackAbility,
  feedbackCommands,
  isLasting,
  type LastingSignal,
} from './reader-feedback.ts';
import { deviceIdentity, expectedReply } from './reader-identity.ts';
import { learnTurnaround, type Turnarounds, typicalTurnaround } from './reply-timing.ts';
import { nothingReported, type ReportMemory, reportEvents } from './report-events.ts';

/** What the end of a session that was left alone looks like. */
const excusable: ReadonlySet<OfflineReason> = new Set(['silent', 'protocol-fault']);
const lampDeadlineMs = 5_000;
const inquiries = [
  'identity',
  'capabilities',
  'local-status',
  'input-status',
  'output-status',
  'reader-status',
  'receive-size',
] as const;

type WithoutOrigin<Event> = Event extends unknown ? Omit<Event, 'device' | 'at'> : never;
type Told = WithoutOrigin<DeviceEvent>;
export type Transmission = Extract<PanelEffect, { readonly kind: 'transmit' }>;
type Online = Extract<PanelEffect, { readonly kind: 'online' }>;

export class BusReader implements Slot {
  readonly config: OsdpDeviceConfig;
  readonly #emit: (event: DeviceEvent) => void;
  readonly #pollMs: number;
  readonly #queue = new CommandQueue();
  readonly #lasting = new Map<number, LastingSignal>();
  #session: PanelState;
  #reported: ReportMemory = nothingReported;
  #ability: FeedbackAbility = { led: 0, buzzer: 0 };
  #health: Pick<DeviceHealth, 'state' | 'reason' | 'channel' | 'identity' | 'since'>;
  #notBefore = Number.NEGATIVE_INFINITY;
  #turnarounds: Turnarounds = [];
  #badFrames = 0;
  #retries = 0;
  /** Turns that follow each other without the poll's pause: what is asked of a reader that just arrived. */
  #hurriedTurns = 0;
  /** Why the line is gone, where it is known better than the session can. */
  #endReason: OfflineReason = 'line-down';
  servedAt = Number.NEGATIVE_INFINITY;
  isPresent = false;
  /** Probes in a row without an answer. */
  probes = 0;
  /** While the end of its session says nothing about it; with the reason once it ended. */
  #excused: { readonly until: MonoMs; readonly reason?: OfflineReason; readonly since?: MonoMs } | undefined;
  /** What was sent last, answered or not. */
  #lastRole: Transmission['role'] = 'first';

  constructor(config: OsdpDeviceConfig, pollMs: number, emit: (event: DeviceEvent) => void, at: MonoMs) {
    this.config = config;
    this.#pollMs = pollMs;
    this.#emit = emit;
    this.#health = { state: 'connecting', reason: undefined, channel: undefined, identity: undefined, since: at };
    const { address, check = 'crc', security, expectedIdentity } = config;
    this.#session = createPanelSession({
      address,
      check,
      security,
      inquiries,
      ...(expectedIdentity === undefined ? {} : { expectedIdentity: expectedReply(expectedIdentity) }),
    });
  }

  get isOnline(): boolean {
    return this.#health.state === 'online';
  }

  get isUrgent(): boolean {
    return this.#queue.isUrgent;
  }

  get dueAt(): number {
    const isResting = this.isOnline && this.isPresent && this.#queue.isEmpty && this.#hurriedTurns === 0;
    return isResting ? Math.max(this.#notBefore, this.servedAt + this.#pollMs) : this.#notBefore;
  }

  get turnarounds(): Turnarounds {
    return this.#turnarounds;
  }

  get earliestDeadline(): number {
    return this.#queue.earliestDeadline;
  }

  expire(at: MonoMs): void {
    this.#queue.expire(at);
    if (this.#excused === undefined || at < this.#excused.until) return;
    const { reason, since } = this.#excused;
    this.#excused = undefined;
    if (reason !== undefined) this.#tellLeft(reason, since ?? at);
  }

  /** A reader that is on line and proves to be gone is not said to be before `until`, and never if it is back by then. */
  excuse(until: MonoMs): void {
    if (this.isOnline || this.#excused?.reason !== undefined) this.#excused = { ...this.#excused, until };
  }

  /** @returns what to send, or nothing if it has nothing to send before its next due time. */
  turn(at: MonoMs, entropy: Uint8Array): Transmission | undefined {
    const next = this.#queue.begin(at);
    if (next !== undefined) this.#step({ kind: 'command', at, ...next }, at);
    const transmission = this.#step({ kind: 'turn', at, entropy }, at);
    if (transmission === undefined) {
      this.#notBefore = Math.max(this.#notBefore, at + 1);
      return undefined;
    }
    this.servedAt = at;
    this.#lastRole = transmission.role;
    this.#hurriedTurns = Math.max(0, this.#hurriedTurns - 1);
    if (transmission.role === 'repeat') this.#retries += 1;
    return transmission;
  }

  hear(answer: Answer, damaged: number): void {
    this.#badFrames += damaged;
    this.isPresent = answer.kind === 'reply';
    if (answer.kind === 'no-reply') {
      if (this.#lastRole === 'probe') this.probes += 1;
      this.#step(answer, answer.at);
      return;
    }
    this.probes = 0;
    this.#turnarounds = learnTurnaround(this.#turnarounds, answer.turnaroundMs);
    this.#step({ kind: 'reply', at: answer.at, frame: answer.frame }, answer.at);
  }

  command(command: DeviceCommand, deadline: MonoMs, at: MonoMs): Promise<CommandResult> {
    if (command.kind === 'feedback' && isLasting(command.signal)) this.#lasting.set(command.head, command.signal);
    if (!this.isOnline) return Promise.resolve({ kind: 'not-executed', reason: 'offline' });
    if (deadline <= at) return Promise.resolve({ kind: 'not-executed', reason: 'expired' });
    if (command.kind !== 'feedback') return this.#queue.add(lockOutput(command), true, deadline);
    const shown = feedbackCommands(this.#ability, command.head, command.signal, command.ms);
    if (shown.length === 0) return Promise.resolve({ kind: 'refused', reason: 'no-lamp-or-buzzer' });
    return this.#addAll(shown, deadline);
  }

  openInstall(until: MonoMs, key: Uint8Array, at: MonoMs): void {
    this.#step({ kind: 'open-install', at, until, key }, at);
  }

  closeInstall(at: MonoMs): void {
    this.#step({ kind: 'close-install', at }, at);
  }

  /** The line is gone: the session ends, and begins anew with the next line. */
  lineDown(reason: OfflineReason, at: MonoMs): void {
    this.#endReason = reason;
    this.#step({ kind: 'line-down', at }, at);
    this.#leave(reason, at);
    this.#endReason = 'line-down';
    this.isPresent = false;
    this.#notBefore = Number.NEGATIVE_INFINITY;
  }

  tell(event: Told, at: MonoMs): void {
    this.#emit({ ...event, device: this.config.id, at } as DeviceEvent);
  }

  health(): DeviceHealth {
    return {
      device: this.config.id,
      ...this.#health,
      turnaroundMs: typicalTurnaround(this.#turnarounds),
      badFrames: this.#badFrames,
      retries: this.#retries,
    };
  }

  async #addAll(commands: readonly PanelCommand[], deadline: MonoMs): Promise<CommandResult> {
    const results = await Promise.all(commands.map((command) => this.#queue.add(command, false, deadline)));
    return results.find((result) => result.kind !== 'done') ?? { kind: 'done' };
  }

  #step(input: PanelInput, at: MonoMs): Transmission | undefined {
    const { state, effects } = stepPanelSession(this.#session, input);
    this.#session = state;
    let transmission: Transmission | undefined;
    for (const effect of effects) {
      if (effect.kind === 'transmit') transmission = effect;
      else this.#apply(effect, at);
    }
    return transmission;
  }

  #apply(effect: Exclude<PanelEffect, Transmission>, at: MonoMs): void {
    switch (effect.kind) {
      case 'skip':
        this.#notBefore = Math.max(effect.until, at + 1);
        return;
      case 'online':
        this.#arrive(effect, at);
        return;
      case 'offline':
        this.#leave(effect.reason === 'line-down' ? this.#endReason : effect.reason, at);
        return;
      case 'event':
        this.#report(effect.reply, monoMs(effect.at));
        return;
      case 'command-done':
        if (effect.outcome.kind === 'accepted') this.#report(effect.outcome.reply, at);
        this.#queue.end(effect.id, effect.outcome);
        return;
      case 'key-installed':
        this.tell({ kind: 'key-installed', key: effect.key, identity: deviceIdentity(effect.identity) }, at);
        return;
      case 'discarded':
      case 'alarm':
        this.tell(effect, at);
        return;
      case 'install-closed':
        return;
    }
  }

  #arrive({ channel, identity, capabilities }: Online, at: MonoMs): void {
    const known = deviceIdentity(identity);
    this.#reported = nothingReported;
    this.#ability = feedbackAbility(capabilities.capabilities);
    this.#excused = undefined;
    this.#health = { state: 'online', reason: undefined, channel, identity: known, since: at };
    this.#hurriedTurns = inquiries.length;
    this.tell({ kind: 'online', identity: known, channel }, at);
    for (let head = 0; head < headCount(capabilities.capabilities); head += 1) {
      const shown = feedbackCommands(this.#ability, head, this.#lasting.get(head) ?? 'idle', 0);
      void this.#addAll(shown, later(at, lampDeadlineMs));
    }
  }

  #leave(reason: OfflineReason, at: MonoMs): void {
    this.#queue.clear();
    const { state, reason: before, identity } = this.#health;
    if (state === 'offline' && reason === before) return;
    this.#health = { state: 'offline', reason, channel: undefined, identity, since: at };
    const isExcused = this.#excused !== undefined && excusable.has(reason);
    if (isExcused && this.#excused) this.#excused = { ...this.#excused, reason, since: at };
    else this.#tellLeft(reason, at);
  }

  #tellLeft(reason: OfflineReason, at: MonoMs): void {
    this.#excused = undefined;
    this.tell({ kind: 'offline', reason }, at);
  }

  #report(reply: Parameters<typeof reportEvents>[1], at: MonoMs): void {
    const { memory, reports } = reportEvents(this.#reported, reply);
    this.#reported = memory;
    for (const report of reports) this.tell(report, at);
  }
}

/** Lamps are set at every head the reader says it has; at one if it says nothing. */
function headCount(capabilities: readonly Capability[]): number {
  const said = capabilities.find((entry) => entry.function === capabilityFunction.readers)?.count ?? 1;
  return Math.min(4, Math.max(1, said));
}
