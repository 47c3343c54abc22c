/**
 * OSDP readers on one RS-485 line, as a driver.
 *
 * Guarantees, besides the port's: one owner of the line; a reader that fails, restarts or was exchanged costs the others
 * at most one probe at a time; nothing is sent to a keyed reader in plain but what finds it; a key is only ever installed
 * in a window that an operator opened for that reader.
 * Not promised: that a reader on the unsecure side is a safe place for the output that drives the lock.
 */

import type { DeviceId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import { invariant } from '#shared/invariant.ts';
import { pause } from '../deadline.ts';
import type { CommandResult, DeviceCommand, DeviceEvent, DeviceHealth, Driver, LineTraffic } from '../driver.ts';
import { LineFault } from '../line.ts';
import { lineOpener } from '../open-line.ts';
import { supervise } from '../supervise.ts';
import type { LineHealth, OsdpBusConfig, OsdpBusPorts } from './bus-config.ts';
import { BusEar } from './bus-ear.ts';
import { BusLine } from './bus-line.ts';
import { BusReader } from './bus-reader.ts';
import { LineExchange } from './line-exchange.ts';

const defaultPollMs = 100;
/** Adapters come back within a second or two, converters restart in some. */
const backOff = { serial: { firstMs: 200, longestMs: 2_000 }, tcp: { firstMs: 300, longestMs: 3_000 } } as const;
/** From closing a silent line to opening it afresh: a converter that serves one panel must let go of us first. */
const reopenMs = 200;

export interface OsdpBus extends Driver {
  lineHealth(): LineHealth;
}

/** Nothing is opened before `open`. */
export function createOsdpBus(config: OsdpBusConfig, ports: OsdpBusPorts): OsdpBus {
  const addresses = new Set(config.devices.map((device) => device.address));
  invariant(
    addresses.size === config.devices.length && addresses.size > 0,
    'each reader of a line has an address of its own',
  );
  return new SupervisedBus(config, ports);
}

class SupervisedBus implements OsdpBus {
  readonly capabilities = { hasDeviceTimer: true };
  readonly #config: OsdpBusConfig;
  readonly #ports: OsdpBusPorts;
  readonly #readers: readonly BusReader[];
  readonly #ear: BusEar;
  readonly #end = new AbortController();
  #onEvent: (event: DeviceEvent) => void = () => {};
  #running: Promise<void> | undefined;
  #busLine: BusLine | undefined;
  #line: Pick<LineHealth, 'state' | 'since' | 'detail'>;

  constructor(config: OsdpBusConfig, ports: OsdpBusPorts) {
    this.#config = config;
    this.#ports = ports;
    const at = ports.now();
    this.#line = { state: 'closed', since: at, detail: '' };
    const emit = (event: DeviceEvent) => this.#onEvent(event);
    const pollMs = config.pollMs ?? defaultPollMs;
    this.#readers = config.devices.map((device) => new BusReader(device, pollMs, emit, at));
    this.#ear = new BusEar(config.line.id, this.#readers);
  }

  open(onEvent: (event: DeviceEvent) => void): void {
    invariant(this.#running === undefined, 'a bus is opened once');
    this.#onEvent = onEvent;
    this.#setLine('opening', '');
    this.#running = supervise(
      {
        run: (signal, worked) => this.#run(signal, worked),
        isFault: (error) => error instanceof LineFault,
        report: (fault) => this.#fail(fault),
        random: () => (this.#ports.randomBytes(1)[0] ?? 0) / 256,
        backOff: backOff[this.#config.line.kind],
      },
      this.#end.signal,
    );
  }

  async command(device: DeviceId, command: DeviceCommand, deadline: MonoMs): Promise<CommandResult> {
    const reader = this.#find(device);
    if (reader === undefined) return { kind: 'not-executed', reason: 'offline' };
    const result = reader.command(command, deadline, this.#ports.now());
    this.#busLine?.wake();
    return result;
  }

  openInstallWindow(device: DeviceId, until: MonoMs, key: Uint8Array): 'opened' | 'unsupported' | 'unknown-device' {
    const reader = this.#find(device);
    if (reader === undefined) return 'unknown-device';
    const isAble = reader.config.allowsInstall && reader.config.security.mode === 'secure';
    if (!isAble) return 'unsupported';
    const at = this.#ports.now();
    for (const other of this.#readers) if (other !== reader) other.closeInstall(at);
    reader.openInstall(until, key, at);
    this.#busLine?.wake();
    return 'opened';
  }

  health(): readonly DeviceHealth[] {
    return this.#readers.map((reader) => reader.health());
  }

  lineHealth(): LineHealth {
    return { line: this.#config.line.id, ...this.#line, ...this.#ear.counts() };
  }

  observe(watcher: (traffic: LineTraffic) => void): () => void {
    return this.#ear.observe(watcher);
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#busLine?.wake();
    await this.#running;
    this.#setLine('closed', '');
    for (const reader of this.#readers) reader.lineDown('closed', this.#ports.now());
  }

  #find(device: DeviceId): BusReader | undefined {
    return this.#readers.find((reader) => reader.config.id === device);
  }

  /** From the first opening of the line to its failure; that nobody answers is no failure, and worth a fresh opening. */
  async #run(signal: AbortSignal, worked: () => void): Promise<void> {
    while (!signal.aborted) {
      await this.#live(signal, worked);
      await pause(reopenMs, signal);
    }
  }

  /** One life of the line, from its opening to its closing. */
  async #live(signal: AbortSignal, worked: () => void): Promise<void> {
    const { now } = this.#ports;
    let lost: LineFault | undefined;
    let exchange: LineExchange | undefined;
    let busLine: BusLine | undefined;
    const line = await lineOpener(
      this.#config.line,
      now,
    )({
      bytes: (bytes, at) => {
        this.#ear.heard(bytes, at);
        exchange?.receive(bytes, at);
      },
      lost: (fault) => {
        lost = fault;
        busLine?.wake();
      },
    });
    try {
      this.#setLine('open', '');
      exchange = new LineExchange(line, this.#config.line.baud, this.#ear, now);
      busLine = new BusLine({
        line,
        exchange,
        readers: this.#readers,
        ports: this.#ports,
        takeDamaged: () => this.#ear.takeDamaged(),
        lost: () => lost,
      });
      this.#busLine = busLine;
      await busLine.run(signal, worked);
    } finally {
      this.#busLine = undefined;
      await line.close();
    }
  }

  #fail(fault: LineFault): void {
    this.#setLine(fault.code, fault.message);
    for (const reader of this.#readers) reader.lineDown('line-down', this.#ports.now());
  }

  #setLine(state: LineHealth['state'], detail: string): void {
    if (this.#line.state === state && this.#line.detail === detail) return;
    this.#line = { state, since: this.#ports.now(), detail };
    this.#ports.onLine?.(this.lineHealth());
  }
}
