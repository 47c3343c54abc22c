/**
 * A serial-over-Ethernet converter in raw TCP mode as a line: bytes in, bytes out, no control channel.
 *
 * Guarantees: no wait without end; a converter that forgot us (it restarted) is found at the next write.
 * Not promised: secrecy or exclusiveness. Whoever reaches the converter's port reaches the wire, so it belongs on a
 * network of its own; the bus above must not trust the bytes.
 */
import { connect, type Socket } from 'node:net';
import type { MonoMs } from '#shared/instant.ts';
import { within } from './deadline.ts';
import { type Line, LineFault, type LineFaultCode, type LineListener } from './line.ts';

const connectWithinMs = 3_000;
const writeWithinMs = 1_000;
const keepAliveMs = 5_000;

export interface TcpLineConfig {
  readonly host: string;
  readonly port: number;
}

/** @throws LineFault */
export async function openTcpLine(config: TcpLineConfig, listener: LineListener, now: () => MonoMs): Promise<Line> {
  const name = `${config.host}:${config.port}`;
  const socket = connect({
    host: config.host,
    port: config.port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keepAliveMs,
  });
  try {
    await within(connected(socket, name), connectWithinMs, `connecting to ${name}`);
  } catch (error) {
    socket.destroy();
    throw error;
  }
  return new TcpLine(socket, name, { listener, now });
}

function connected(socket: Socket, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    // Stays for the socket's whole life: an error after a failed connect must not end the process.
    socket.on('error', (error) => reject(faultFrom(error, name)));
  });
}

function faultFrom(error: Error, name: string): LineFault {
  return new LineFault(codeFrom('code' in error ? error.code : undefined), `${name}: ${error.message}`, error);
}

function codeFrom(code: unknown): LineFaultCode {
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'missing';
    case 'EACCES':
    case 'EPERM':
      return 'not-permitted';
    case 'ECONNREFUSED':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return 'unreachable';
    case 'ECONNRESET':
    case 'EPIPE':
      return 'lost';
    default:
      return 'failed';
  }
}

interface Ears {
  readonly listener: LineListener;
  readonly now: () => MonoMs;
}

class TcpLine implements Line {
  readonly isBridged = true;
  readonly #socket: Socket;
  readonly #name: string;
  #fault: LineFault | undefined;
  #isEnded = false;

  constructor(socket: Socket, name: string, ears: Ears) {
    this.#socket = socket;
    this.#name = name;
    socket.on('data', (bytes) => {
      const at = ears.now();
      if (!this.#isEnded) ears.listener.bytes(new Uint8Array(bytes), at);
    });
    socket.on('error', (error) => {
      this.#fault = faultFrom(error, name);
    });
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      if (this.#isEnded) return;
      this.#isEnded = true;
      ears.listener.lost(new LineFault('lost', `${name}: ${this.#fault?.message ?? 'closed by the converter'}`));
    });
  }

  async write(bytes: Uint8Array): Promise<void> {
    const written = new Promise<void>((resolve, reject) => {
      this.#socket.write(bytes, (error) => (error ? reject(faultFrom(error, this.#name)) : resolve()));
    });
    await within(written, writeWithinMs, `writing to ${this.#name}`);
  }

  /** Bytes are told as they come: nothing waits here to be discarded. */
  async discardInput(): Promise<void> {}

  /** The converter's rate is set at the converter. */
  async setBaud(): Promise<void> {}

  async check(): Promise<void> {
    if (this.#socket.destroyed) throw new LineFault('lost', `${this.#name}: closed`);
  }

  async close(): Promise<void> {
    this.#isEnded = true;
    this.#socket.destroy();
  }
}
