/**
 * Both ends of a line joined in virtual time: a panel session, a peripheral session, and between them whatever a test
 * wants to happen to each message.
 */
import { decodeFrame, type Frame } from '#protocol/osdp/frame.ts';
import type { PanelCommand, PanelConfig, PanelEffect, PanelInput } from '#protocol/osdp/panel-port.ts';
import { stepPanelSession } from '#protocol/osdp/panel-session.ts';
import { createPanelSession, type PanelState } from '#protocol/osdp/panel-state.ts';
import type { PeripheralConfig, PeripheralEffect, Presentable } from '#protocol/osdp/peripheral-port.ts';
import { stepPeripheralSession } from '#protocol/osdp/peripheral-session.ts';
import { createPeripheralSession, type PeripheralState } from '#protocol/osdp/peripheral-state.ts';
import type { IdentityReply } from '#protocol/osdp/reply/identity.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';
import type { Copy } from '../../fakes/storm.ts';

export type Direction = 'to-reader' | 'to-panel';

/** What becomes of one message: the copies that arrive, each after its delay; none is a loss. */
export type Fate = (direction: Direction, bytes: Uint8Array, at: number) => readonly Copy[];

export const arrives: Fate = (_direction, bytes) => [{ bytes, delayMs: 0 }];
export const isLost: Fate = () => [];

export const readerKey = Uint8Array.from(Buffer.from('00112233445566778899aabbccddeeff', 'hex'));
export const otherKey = Uint8Array.from(Buffer.from('f0e0d0c0b0a090807060504030201000', 'hex'));

export const readerIdentity: IdentityReply = {
  kind: 'identity',
  vendor: '0c0b0a',
  model: 1,
  version: 2,
  serial: 0x01020304,
  firmware: { major: 1, minor: 2, build: 3 },
};

const capability = (number: number, level: number, count: number) => ({ function: number, level, count });

/** The capabilities of the recorded reader, with or without encryption. */
export const readerCapabilities = (hasEncryption: boolean) => [
  capability(1, 1, 2),
  capability(2, 1, 1),
  capability(3, 1, 1),
  capability(4, 1, 2),
  capability(5, 1, 1),
  capability(6, 1, 1),
  capability(8, 1, 0),
  capability(9, hasEncryption ? 1 : 0, 0),
  capability(10, 0, 1),
  capability(13, 0, 1),
  capability(16, 2, 0),
];

export const secureReader: PeripheralConfig = {
  address: 0,
  key: readerKey,
  isInstallMode: false,
  requireSecure: true,
  identity: readerIdentity,
  capabilities: readerCapabilities(true),
  allowsCommunication: false,
};
export const plainReader: PeripheralConfig = {
  address: 0,
  isInstallMode: false,
  requireSecure: false,
  identity: readerIdentity,
  capabilities: readerCapabilities(false),
  allowsCommunication: false,
};
export const securePanel: PanelConfig = {
  address: 0,
  check: 'crc',
  security: { mode: 'secure', key: readerKey },
  expectedIdentity: readerIdentity,
};
export const plainPanel: PanelConfig = {
  address: 0,
  check: 'crc',
  security: { mode: 'plain' },
  expectedIdentity: readerIdentity,
};

export const card = (number: number): Presentable => ({
  kind: 'card',
  reader: 0,
  format: 1,
  bitCount: 26,
  bytes: Uint8Array.of((number >> 16) & 0xff, (number >> 8) & 0xff, number & 0xff, 0x40),
});
export const release: PanelCommand = {
  kind: 'output',
  records: [{ output: 0, action: 'on-for-timer', timerTenths: 50 }],
};

interface Message {
  readonly direction: Direction;
  readonly dueAt: number;
  readonly bytes: Uint8Array;
}

/** Time on the wire and in the reader, one way. */
const wayMs = 8;

export class SessionBench {
  now = 1_000;
  panel: PanelState;
  reader: PeripheralState;
  fate: Fate = arrives;
  /** Whether the line drops what is waiting before it sends, as a line must. */
  flushes = true;
  readonly panelEffects: (PanelEffect & { readonly seenAt: number })[] = [];
  readonly readerEffects: (PeripheralEffect & { readonly seenAt: number })[] = [];
  /** Every message as it was sent. */
  readonly sent: { readonly direction: Direction; readonly at: number; readonly bytes: Uint8Array }[] = [];
  /** Every transmission that carried a command from outside. */
  readonly sentCommands: { readonly id: number; readonly at: number; readonly deadline: number }[] = [];
  readonly random: () => number;
  private inFlight: readonly Message[] = [];
  private isPowered = true;
  private nextId = 1;
  private readonly readerConfig: PeripheralConfig;

  constructor(panel: PanelConfig, reader: PeripheralConfig, seed = 1) {
    this.panel = createPanelSession(panel);
    this.readerConfig = reader;
    this.reader = createPeripheralSession(reader);
    this.random = seededRandom(seed);
  }

  entropy(): Uint8Array {
    return Uint8Array.from({ length: 8 }, () => Math.floor(this.random() * 256));
  }

  /** Tells the panel something. */
  tell(input: PanelInput): readonly PanelEffect[] {
    const { state, effects } = stepPanelSession(this.panel, input);
    this.panel = state;
    for (const effect of effects) this.panelEffects.push({ ...effect, seenAt: this.now });
    return effects;
  }

  command(command: PanelCommand, deadlineMs = 2_000): number {
    const id = this.nextId;
    this.nextId += 1;
    this.tell({ kind: 'command', at: this.now, id, command, deadline: this.now + deadlineMs });
    return id;
  }

  present(reply: Presentable): void {
    const step = stepPeripheralSession(this.reader, { kind: 'present', at: this.now, reply });
    this.reader = step.state;
    this.keep(step.effects);
  }

  /** Somebody else on the line speaks. */
  inject(direction: Direction, bytes: Uint8Array, delayMs = wayMs): void {
    this.inFlight = [...this.inFlight, { direction, bytes, dueAt: this.now + delayMs }];
  }

  /** Power off; events and the session are gone, the key stays. */
  cutPower(): void {
    this.isPowered = false;
  }

  restorePower(): void {
    const { key, isInstallMode } = this.reader;
    this.reader = createPeripheralSession({ ...this.readerConfig, isInstallMode, ...(key && { key }) });
    this.isPowered = true;
  }

  /** Another reader in the same place. */
  swapReader(config: PeripheralConfig): void {
    this.reader = createPeripheralSession(config);
  }

  /** One turn of the line: an exchange, or the wait that the panel asked for (at most `longestMs`). */
  turn(longestMs = 250): void {
    const effects = this.tell({ kind: 'turn', at: this.now, entropy: this.entropy() });
    const skip = effects.find((effect) => effect.kind === 'skip');
    if (skip !== undefined) this.pass(Math.max(this.now + 1, Math.min(skip.until, this.now + longestMs)));
    const transmit = effects.find((effect) => effect.kind === 'transmit');
    const carried = transmit && this.panel.exchange?.command;
    if (carried) this.sentCommands.push({ id: carried.id, at: this.now, deadline: carried.deadline });
    if (transmit !== undefined) this.exchange(transmit.bytes, transmit.replyTimeoutMs);
    this.tick();
  }

  /** Takes turns for that long. */
  run(durationMs: number): this {
    const end = this.now + durationMs;
    while (this.now < end) this.turn(Math.max(1, end - this.now));
    return this;
  }

  /** Takes turns until the panel has said so, or the time is over. */
  until(kind: PanelEffect['kind'], longestMs = 20_000): this {
    const seen = this.panelEffects.length;
    const end = this.now + longestMs;
    while (this.now < end && !this.panelEffects.slice(seen).some((effect) => effect.kind === kind)) this.turn();
    return this;
  }

  said<Kind extends PanelEffect['kind']>(kind: Kind) {
    return this.panelEffects.filter(
      (effect): effect is Extract<PanelEffect, { kind: Kind }> & { readonly seenAt: number } => effect.kind === kind,
    );
  }

  did<Kind extends PeripheralEffect['kind']>(kind: Kind) {
    return this.readerEffects.filter(
      (effect): effect is Extract<PeripheralEffect, { kind: Kind }> & { readonly seenAt: number } =>
        effect.kind === kind,
    );
  }

  alarms(): readonly string[] {
    return [...new Set(this.said('alarm').map((alarm) => alarm.code))].sort();
  }

  /** Frames the panel sent, oldest first. */
  fromPanel(): readonly Frame[] {
    return this.sent.flatMap(({ direction, bytes }) => (direction === 'to-reader' ? frameOf(bytes) : []));
  }

  /** Time passes without an exchange; what was still on its way to the reader arrives. */
  private pass(until: number): void {
    for (let next = this.nextDue(until); next !== undefined; next = this.nextDue(until)) {
      const message = next;
      this.inFlight = this.inFlight.filter((other) => other !== message);
      const frame = message.direction === 'to-reader' ? frameOf(message.bytes)[0] : undefined;
      this.now = Math.max(this.now, message.dueAt);
      if (frame !== undefined) this.hear(frame);
    }
    this.now = until;
  }

  private exchange(bytes: Uint8Array, timeoutMs: number): void {
    if (this.flushes) this.inFlight = this.inFlight.filter((m) => m.direction === 'to-reader' || m.dueAt > this.now);
    this.send('to-reader', bytes, this.now + wayMs);
    const deadline = this.now + wayMs + timeoutMs;
    for (let next = this.nextDue(deadline); next !== undefined; next = this.nextDue(deadline)) {
      this.now = Math.max(this.now, next.dueAt);
      const message = next;
      this.inFlight = this.inFlight.filter((other) => other !== message);
      const frame = frameOf(next.bytes)[0];
      if (frame === undefined) continue;
      if (next.direction === 'to-reader') {
        this.hear(frame);
      } else {
        this.tell({ kind: 'reply', at: this.now, frame });
        return;
      }
    }
    this.now = deadline;
    this.tell({ kind: 'no-reply', at: this.now });
  }

  private nextDue(deadline: number): Message | undefined {
    const due = this.inFlight.filter((message) => message.dueAt <= deadline);
    return due.sort((one, other) => one.dueAt - other.dueAt)[0];
  }

  private send(direction: Direction, bytes: Uint8Array, dueAt: number): void {
    this.sent.push({ direction, at: this.now, bytes });
    const copies = this.fate(direction, bytes, this.now);
    const messages = copies.map((copy) => ({ direction, bytes: copy.bytes, dueAt: dueAt + copy.delayMs }));
    this.inFlight = [...this.inFlight, ...messages];
  }

  private hear(frame: Frame): void {
    if (!this.isPowered) return;
    const input = { kind: 'frame', at: this.now, frame, entropy: this.entropy() } as const;
    const { state, effects } = stepPeripheralSession(this.reader, input);
    this.reader = state;
    this.keep(effects);
    for (const effect of effects) if (effect.kind === 'transmit') this.send('to-panel', effect.bytes, this.now + wayMs);
  }

  private tick(): void {
    const { state, effects } = stepPeripheralSession(this.reader, { kind: 'tick', at: this.now });
    this.reader = state;
    this.keep(effects);
  }

  private keep(effects: readonly PeripheralEffect[]): void {
    for (const effect of effects) this.readerEffects.push({ ...effect, seenAt: this.now });
  }
}

export function frameOf(bytes: Uint8Array): readonly Frame[] {
  const decoding = decodeFrame(bytes);
  return decoding.kind === 'frame' ? [decoding.frame] : [];
}
