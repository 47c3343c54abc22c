/**
 * OSDP readers at the other end of a real wire: a pty or a TCP port.
 *
 * The readers are the product's own peripheral sessions; the wire, its pace and its faults are the test's.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Line } from '#gateway/device/line.ts';
import { openSerialLine } from '#gateway/device/serial-line.ts';
import type { Frame } from '#protocol/osdp/frame.ts';
import { createFrameParser, type FrameParser, parseFrames } from '#protocol/osdp/frame-parser.ts';
import type { PeripheralEffect, PeripheralInput, Presentable } from '#protocol/osdp/peripheral-port.ts';
import { stepPeripheralSession } from '#protocol/osdp/peripheral-session.ts';
import { createPeripheralSession, type PeripheralState } from '#protocol/osdp/peripheral-state.ts';
import type { Capability } from '#protocol/osdp/reply/capabilities.ts';
import { monoMs } from '#shared/instant.ts';

export interface PeerReader {
  readonly address: number;
  readonly serial?: number;
  /** 16 bytes as hexadecimal digits. */
  readonly key?: string;
  readonly requireSecure?: boolean;
  readonly isInstallMode?: boolean;
  readonly allowsCommunication?: boolean;
  readonly turnaroundMs?: number;
  readonly capabilities?: readonly Capability[];
}

/** Bytes to put on the wire, each after a pause of so many ms. */
export type Delivery = readonly { readonly bytes: Uint8Array; readonly afterMs: number }[];

export const peerCapabilities: readonly Capability[] = [
  { function: 1, level: 1, count: 2 },
  { function: 2, level: 2, count: 2 },
  { function: 3, level: 1, count: 0 },
  { function: 4, level: 4, count: 1 },
  { function: 5, level: 2, count: 1 },
  { function: 8, level: 1, count: 0 },
  { function: 9, level: 1, count: 0 },
  { function: 13, level: 0, count: 1 },
];

interface Seat {
  readonly reader: PeerReader;
  session: PeripheralState;
  isPowered: boolean;
  key: string | undefined;
}

export class OsdpPeer {
  /** Every command that moved an output, as `address output action ms`. */
  readonly orders: string[] = [];
  readonly effects: (PeripheralEffect & { readonly address: number })[] = [];
  /** Every frame that reached the readers. */
  readonly heard: Frame[] = [];
  /** What becomes of a reply on the wire; the reply itself unless the test says otherwise. */
  deliver: (address: number, reply: Uint8Array) => Delivery = (_, bytes) => [{ bytes, afterMs: 0 }];
  /** Whether the wire carries what the panel sends. */
  isHearing: () => boolean = () => true;
  readonly #seats: readonly Seat[];
  /** Bits per second at which bytes travel; 0 = at once. */
  readonly #baud: number;
  #parser: FrameParser = createFrameParser('commands');
  #line: Line | undefined;
  #server: Server | undefined;
  readonly #sockets = new Set<Socket>();

  constructor(readers: readonly PeerReader[], baud = 0) {
    this.#baud = baud;
    this.#seats = readers.map((reader) => ({
      reader,
      session: fresh(reader, reader.key),
      isPowered: true,
      key: reader.key,
    }));
  }

  async attach(path: string): Promise<void> {
    this.#parser = createFrameParser('commands');
    const listener = { bytes: (bytes: Uint8Array) => this.#receive(bytes), lost: () => {} };
    this.#line = await openSerialLine({ path, baud: 115_200 }, listener, now);
  }

  /** @returns the port, the same as before if given. */
  async listen(port = 0): Promise<number> {
    this.#server = createServer({ noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      this.#parser = createFrameParser('commands');
      socket.on('data', (bytes) => this.#receive(new Uint8Array(bytes)));
      socket.on('error', () => {});
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await once(this.#server.listen(port, '127.0.0.1'), 'listening');
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async detach(): Promise<void> {
    await this.#line?.close();
    this.#line = undefined;
    for (const socket of this.#sockets) socket.destroy();
    const server = this.#server;
    this.#server = undefined;
    if (server?.listening) await new Promise<void>((done) => server.close(() => done()));
  }

  /** As a converter that restarted without a word: connections stand, and nobody is behind them. */
  forgetConnections(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('data').resume();
    this.#sockets.clear();
  }

  present(address: number, reply: Presentable): void {
    this.#step(this.#seat(address), { kind: 'present', at: now(), reply });
  }

  swipe(address: number, bitCount: number, bytes: Uint8Array): void {
    this.present(address, { kind: 'card', reader: 0, format: 1, bitCount, bytes });
  }

  /** Without power a reader is silent and forgets everything but its key. */
  setPower(address: number, isPowered: boolean): void {
    const seat = this.#seat(address);
    seat.isPowered = isPowered;
    seat.session = fresh(seat.reader, seat.key);
  }

  isSecure(address: number): boolean {
    return this.#seat(address).session.channel !== undefined;
  }

  keyOf(address: number): string | undefined {
    return this.#seat(address).key;
  }

  /** Puts bytes on the wire that no reader sent. */
  async babble(bytes: Uint8Array): Promise<void> {
    for (const socket of this.#sockets) socket.write(bytes);
    await this.#line?.write(bytes).catch(() => {});
  }

  #seat(address: number): Seat {
    const seat = this.#seats.find(({ reader }) => reader.address === address);
    if (seat === undefined) throw new Error(`no reader at ${address}`);
    return seat;
  }

  #receive(bytes: Uint8Array): void {
    if (!this.isHearing()) return;
    const step = parseFrames(this.#parser, bytes);
    this.#parser = step.state;
    for (const frame of step.frames) {
      this.heard.push(frame);
      for (const seat of this.#seats) {
        if (seat.isPowered)
          this.#step(seat, { kind: 'frame', at: now(), frame, entropy: new Uint8Array(randomBytes(8)) });
      }
    }
  }

  #step(seat: Seat, input: PeripheralInput): void {
    const { state, effects } = stepPeripheralSession(seat.session, input);
    seat.session = state;
    const { address } = seat.reader;
    for (const effect of effects) {
      this.effects.push({ ...effect, address });
      if (effect.kind === 'output') this.orders.push(`${address} ${effect.output} ${effect.action} ${effect.timerMs}`);
      if (effect.kind === 'key-set') seat.key = Buffer.from(effect.key).toString('hex');
      if (effect.kind === 'transmit') void this.#transmit(seat, input, effect.bytes);
    }
  }

  async #transmit(seat: Seat, input: PeripheralInput, reply: Uint8Array): Promise<void> {
    const heardBytes = input.kind === 'frame' ? input.frame.bytes.length : 0;
    const paceMs = this.#baud === 0 ? 0 : ((heardBytes + reply.length) * 10_000) / this.#baud;
    const waitMs = paceMs + (seat.reader.turnaroundMs ?? 0);
    for (const { bytes, afterMs } of this.deliver(seat.reader.address, reply)) {
      const ms = waitMs + afterMs;
      if (ms > 0) await new Promise((done) => setTimeout(done, ms));
      await this.babble(bytes);
    }
  }
}

function now() {
  return monoMs(performance.now());
}

function fresh(reader: PeerReader, key: string | undefined): PeripheralState {
  return createPeripheralSession({
    address: reader.address,
    isInstallMode: reader.isInstallMode ?? false,
    requireSecure: reader.requireSecure ?? key !== undefined,
    identity: {
      kind: 'identity',
      vendor: '4b414e',
      model: 7,
      version: 1,
      serial: reader.serial ?? 1_000 + reader.address,
      firmware: { major: 1, minor: 2, build: 3 },
    },
    capabilities: reader.capabilities ?? peerCapabilities,
    allowsCommunication: reader.allowsCommunication ?? true,
    ...(key === undefined ? {} : { key: new Uint8Array(Buffer.from(key, 'hex')) }),
  });
}
