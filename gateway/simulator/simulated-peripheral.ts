/**
 * One simulated reader or board: a peripheral session, its relays and inputs, its power, and the faults of its wire.
 *
 * Guarantees: a command that moves an output has moved it, and the lock's record knows, before the answer leaves;
 * a panel's key is on disk before its ACK leaves; after a power cut outputs are off.
 */
import { randomBytes } from 'node:crypto';
import { outputCommand } from '#protocol/osdp/command/output.ts';
import { broadcastAddress, type Frame, mark } from '#protocol/osdp/frame.ts';
import type { PeripheralEffect, Presentable } from '#protocol/osdp/peripheral-port.ts';
import { stepPeripheralSession } from '#protocol/osdp/peripheral-session.ts';
import { createPeripheralSession, type PeripheralState } from '#protocol/osdp/peripheral-state.ts';
import type { DeviceId } from '#shared/identifier.ts';
import type { Fault } from './fault.ts';
import { loadInstalledKey, saveInstalledKey } from './installed-key.ts';
import { createOutputBank } from './output-bank.ts';
import { configOf, type Manners, mannersOf, strangerOf } from './peripheral-manners.ts';
import { signalWords } from './signal-words.ts';
import type { SiteArguments } from './site-call.ts';
import type { SiteLine, SitePeripheral } from './site-file.ts';
import type { PeripheralStatus, SiteEvent } from './site-report.ts';
import { now } from './wake-up.ts';
import { hear as hearThrough, noise, say as sayThrough, soundWire, withFault } from './wire-faults.ts';
import type { CurrentChange } from './wired-door.ts';

const noiseEveryMs = 40;
const silenceCheckMs = 1_000;
/** Start and stop bit and eight of data. */
const bitsPerByte = 10;

export interface PeripheralHooks {
  readonly line: SiteLine;
  readonly stateDir: string;
  /** Onto the wire, now. */
  readonly send: (bytes: Uint8Array) => void;
  /** Current at an output was commanded or changed. */
  readonly current: (output: number, change: CurrentChange) => void;
  readonly report: (what: SiteEvent['what'], detail?: string) => void;
}

export interface SimulatedPeripheral {
  readonly id: DeviceId;
  hear(frame: Frame): void;
  present(head: number, what: SiteArguments<'present'>['what']): void;
  setInput(input: number, isActive: boolean): void;
  fault(fault: Fault): void;
  jam(output: number, isJammed: boolean): void;
  isJammed(output: number): boolean;
  status(): PeripheralStatus;
}

export function createSimulatedPeripheral(settings: SitePeripheral, hooks: PeripheralHooks): SimulatedPeripheral {
  return new Peripheral(settings, hooks);
}

class Peripheral implements SimulatedPeripheral {
  readonly id: DeviceId;
  readonly #settings: SitePeripheral;
  readonly #hooks: PeripheralHooks;
  readonly #outputs;
  readonly #inputs: boolean[];
  /** As it should be; faults change `#manners`, healing brings this back. */
  #own: Manners;
  #manners: Manners;
  #session: PeripheralState;
  #wire = soundWire;
  #channel: PeripheralStatus['channel'] = 'none';
  #isPowered = true;
  #isTampered = false;

  constructor(settings: SitePeripheral, hooks: PeripheralHooks) {
    this.id = settings.id;
    this.#settings = settings;
    this.#hooks = hooks;
    this.#inputs = Array.from({ length: settings.inputs }, () => false);
    this.#own = mannersOf(settings, loadInstalledKey(hooks.stateDir, settings.id));
    this.#manners = this.#own;
    this.#outputs = createOutputBank(settings.outputs, (output, change) => {
      hooks.current(output, change);
      if (change.cause !== 'power-lost') this.#tellOutputs();
    });
    this.#session = this.#switchOn();
    setInterval(() => this.#step({ kind: 'tick', at: now() }), silenceCheckMs).unref();
  }

  hear(frame: Frame): void {
    const isForUs = frame.address === this.#session.address || frame.address === broadcastAddress;
    if (!this.#isPowered || !isForUs) return;
    const heard = hearThrough(this.#wire, frame);
    this.#wire = heard.state;
    if (heard.hearing.kind === 'answered') this.#transmit(heard.hearing.reply, 0);
    if (heard.hearing.kind !== 'reaches') return;
    // What the relays do is the truth about the outputs, jammed ones included.
    const outputsUntil = this.#outputs.states().map((isOn) => (isOn ? Number.POSITIVE_INFINITY : 0));
    this.#session = { ...this.#session, status: { ...this.#session.status, outputsUntil } };
    this.#step({ kind: 'frame', at: now(), frame, entropy: randomBytes(8) });
  }

  present(head: number, what: SiteArguments<'present'>['what']): void {
    if ('keys' in what) {
      this.#tell({ kind: 'keys', reader: head, keys: Uint8Array.from(what.keys, keyByte) });
      return;
    }
    const bytes = new Uint8Array(Math.ceil(what.bits.length / 8));
    for (const [at, bit] of [...what.bits].entries()) {
      if (bit === '1') bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (0x80 >> (at & 7));
    }
    this.#tell({ kind: 'card', reader: head, format: what.format, bitCount: what.bits.length, bytes });
  }

  setInput(input: number, isActive: boolean): void {
    if (this.#inputs[input] === isActive) return;
    this.#inputs[input] = isActive;
    this.#tell({ kind: 'input-status', inputs: this.#inputStates() });
  }

  fault(fault: Fault): void {
    this.#wire = withFault(this.#wire, fault);
    this.#hooks.report('faulted', fault.kind);
    switch (fault.kind) {
      case 'power-cycle':
        this.#powerCycle(fault.ms);
        return;
      case 'noise':
        this.#makeNoise(now() + fault.ms);
        return;
      case 'wrong-key':
        this.#become({ ...this.#own, key: randomBytes(16), isInstallMode: false });
        return;
      case 'swap':
        this.#become(strangerOf(this.#settings));
        return;
      case 'tamper':
        this.#tamper(fault.isActive);
        return;
      case 'heal':
        this.#tamper(false);
        if (this.#manners !== this.#own) this.#become(this.#own);
        return;
    }
  }

  jam(output: number, isJammed: boolean): void {
    this.#outputs.jam(output, isJammed);
  }

  isJammed(output: number): boolean {
    return this.#outputs.isJammed(output);
  }

  status(): PeripheralStatus {
    return {
      peripheral: this.id,
      line: this.#settings.line,
      address: this.#session.address,
      isPlugged: !this.#wire.isUnplugged,
      isPowered: this.#isPowered,
      channel: this.#channel,
    };
  }

  #step(input: Parameters<typeof stepPeripheralSession>[1]): void {
    const step = stepPeripheralSession(this.#session, input);
    this.#session = step.state;
    for (const effect of step.effects) this.#carryOut(effect);
  }

  #carryOut(effect: PeripheralEffect): void {
    switch (effect.kind) {
      case 'transmit': {
        const said = sayThrough(this.#wire, effect.bytes, randomBytes(2));
        this.#wire = said.state;
        for (const { bytes, afterMs } of said.sends) this.#transmit(bytes, afterMs);
        return;
      }
      case 'output': {
        const { output, action, timerMs } = effect;
        const bytes = outputCommand.encode({
          kind: 'output',
          records: [{ output, action, timerTenths: timerMs / 100 }],
        });
        const command = Buffer.from([outputCommand.code, ...bytes]).toString('hex');
        this.#outputs.order(output, { at: now(), action, timerMs }, command);
        return;
      }
      case 'key-set':
        this.#keepKey(effect.key);
        return;
      case 'session':
        this.#noteSession(effect.state);
        return;
      case 'led':
      case 'buzzer':
      case 'text':
        this.#hooks.report('signal', signalWords(effect));
        return;
    }
  }

  /** The whole message arrives when its last byte would, at the line's rate. */
  #transmit(bytes: Uint8Array, afterMs: number): void {
    const { baud, turnaroundMs } = this.#hooks.line;
    const onWireMs = ((bytes.length + 1) * bitsPerByte * 1_000) / baud;
    setTimeout(
      () => {
        if (this.#isPowered && !this.#wire.isUnplugged) this.#hooks.send(Uint8Array.of(mark, ...bytes));
      },
      afterMs + turnaroundMs + onWireMs,
    );
  }

  #keepKey(key: Uint8Array): void {
    const isOwn = this.#manners === this.#own;
    this.#manners = { ...this.#manners, key, isInstallMode: false };
    if (isOwn) {
      saveInstalledKey(this.#hooks.stateDir, this.id, key);
      this.#own = this.#manners;
    }
    this.#hooks.report('key-installed');
  }

  #noteSession(state: Extract<PeripheralEffect, { kind: 'session' }>['state']): void {
    const isOpen = state === 'secure' || state === 'default-key';
    if (isOpen || this.#channel !== 'none') this.#hooks.report(isOpen ? 'session-begun' : 'session-ended', state);
    this.#channel = isOpen ? state : 'none';
  }

  #tell(reply: Presentable): void {
    if (this.#isPowered) this.#step({ kind: 'present', at: now(), reply });
  }

  #tellOutputs(): void {
    if (this.#settings.reportsOutputs) this.#tell({ kind: 'output-status', outputs: this.#outputs.states() });
  }

  #inputStates(): ('active' | 'inactive')[] {
    return this.#inputs.map((isActive) => (isActive ? 'active' : 'inactive'));
  }

  #tamper(isActive: boolean): void {
    if (isActive === this.#isTampered) return;
    this.#isTampered = isActive;
    this.#tell({ kind: 'local-status', isTampered: isActive, hasPowerFailed: false });
  }

  #become(manners: Manners): void {
    this.#manners = manners;
    this.#powerCycle(1);
  }

  #powerCycle(ms: number): void {
    this.#isPowered = false;
    this.#noteSession('ended');
    this.#outputs.cutPower();
    setTimeout(() => {
      this.#session = this.#switchOn();
      this.#isPowered = true;
      this.#outputs.restorePower();
      // Reported once, then it is over.
      this.#tell({ kind: 'local-status', isTampered: this.#isTampered, hasPowerFailed: true });
      this.#tell({ kind: 'local-status', isTampered: this.#isTampered, hasPowerFailed: false });
    }, ms);
  }

  #switchOn(): PeripheralState {
    const session = createPeripheralSession(configOf(this.#settings, this.#manners));
    const local = { kind: 'local-status', isTampered: this.#isTampered, hasPowerFailed: false } as const;
    const inputs = { kind: 'input-status', inputs: this.#inputStates() } as const;
    return { ...session, status: { ...session.status, local, inputs } };
  }

  #makeNoise(until: number): void {
    if (now() >= until) return;
    const [length = 0] = randomBytes(1);
    if (this.#isPowered && !this.#wire.isUnplugged) this.#hooks.send(noise(randomBytes(1 + (length % 32))));
    setTimeout(() => this.#makeNoise(until), noiseEveryMs).unref();
  }
}

/** As most readers send them: enter and clear as control characters. */
function keyByte(key: string): number {
  if (key === '#') return 0x0d;
  return key === '*' ? 0x7f : key.charCodeAt(0);
}
