/**
 * A serial port as a line: by path, best by /dev/serial/by-id, which follows the adapter and not the order of plugging.
 *
 * Guarantees: exclusive against every other user of the same lock (flock); unplugging is found by `check`, since the
 * port's own events are not told reliably; the library is loaded only when a port is really opened.
 * Not promised: direction control by RTS. The adapter switches by itself, or the kernel's RS-485 mode does.
 */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import type { SerialPort } from 'serialport';
import type { MonoMs } from '#shared/instant.ts';
import { within } from './deadline.ts';
import { type Line, LineFault, type LineFaultCode, type LineListener } from './line.ts';

const openWithinMs = 3_000;
const closeWithinMs = 1_000;
/** Beyond the time the bytes need on the wire. */
const writeSlackMs = 1_000;

export interface SerialLineConfig {
  readonly path: string;
  readonly baud: number;
}

/** Lines as after opening; an FTDI adapter would otherwise hold bytes back for 16 ms. */
const signals = { dtr: true, rts: true, lowLatency: true };

type Done = (error?: Error | null) => void;

/** @throws LineFault */
export async function openSerialLine(
  config: SerialLineConfig,
  listener: LineListener,
  now: () => MonoMs,
): Promise<Line> {
  const identity = await identityOf(config.path);
  const { SerialPort: Port } = (await import('serialport')).default;
  const port = new Port({ path: config.path, baudRate: config.baud, autoOpen: false, lock: true });
  const line = new SerialLine(port, config, identity);
  line.listen(listener, now);
  await line.open();
  return line;
}

/** Which device a path leads to now. */
async function identityOf(path: string): Promise<string> {
  try {
    await access(path, constants.R_OK | constants.W_OK);
    const found = await stat(path);
    return `${found.dev}/${found.ino}/${found.rdev}/${found.birthtimeMs}`;
  } catch (error) {
    throw faultFrom(error, path);
  }
}

function faultFrom(error: unknown, path: string): LineFault {
  const message = error instanceof Error ? error.message : String(error);
  return new LineFault(codeFrom(message), `${path}: ${message}`, error);
}

/** The library tells errors only as sentences with the system's words in them. */
function codeFrom(message: string): LineFaultCode {
  if (/ENOENT|ENODEV|ENXIO|No such (file|device)/i.test(message)) return 'missing';
  if (/EACCES|EPERM|permission denied|not permitted/i.test(message)) return 'not-permitted';
  if (/Cannot lock port|EBUSY|resource busy/i.test(message)) return 'busy';
  if (/EIO|EBADF|Input\/output error|Bad file|not open|disconnected/i.test(message)) return 'lost';
  return 'failed';
}

class SerialLine implements Line {
  readonly isBridged: boolean;
  readonly #port: SerialPort;
  readonly #path: string;
  readonly #identity: string;
  #baud: number;
  #isEnded = false;

  constructor(port: SerialPort, config: SerialLineConfig, identity: string) {
    this.#port = port;
    this.#path = config.path;
    this.#baud = config.baud;
    this.#identity = identity;
    this.isBridged = /usb|ACM/i.test(config.path);
  }

  listen(listener: LineListener, now: () => MonoMs): void {
    const lose = (error?: Error | null) => {
      if (this.#isEnded) return;
      this.#isEnded = true;
      listener.lost(new LineFault('lost', `${this.#path}: ${error?.message ?? 'closed'}`, error ?? undefined));
    };
    this.#port.on('data', (bytes: Uint8Array) => {
      const at = now();
      // A copy: the library's buffers are slices of one pool.
      if (!this.#isEnded) listener.bytes(new Uint8Array(bytes), at);
    });
    this.#port.on('close', lose);
    this.#port.on('error', lose);
  }

  async open(): Promise<void> {
    const opening = this.#call((done) => this.#port.open(done));
    try {
      await within(opening, openWithinMs, `opening ${this.#path}`);
    } catch (error) {
      this.#isEnded = true;
      opening.then(() => this.#port.close(), ignore);
      throw error;
    }
    await this.#call((done) => this.#port.set(signals, done)).catch(ignoreUnsupported);
  }

  async write(bytes: Uint8Array): Promise<void> {
    const ms = Math.ceil((bytes.length * 10_000) / this.#baud) + writeSlackMs;
    const written = this.#use((done) => this.#port.write(Buffer.from(bytes), done)).then(() =>
      this.#use((done) => this.#port.drain(done)),
    );
    await within(written, ms, `writing to ${this.#path}`);
  }

  async discardInput(): Promise<void> {
    await within(
      this.#use((done) => this.#port.flush(done)),
      writeSlackMs,
      `flushing ${this.#path}`,
    );
  }

  async setBaud(baud: number): Promise<void> {
    await within(
      this.#use((done) => this.#port.update({ baudRate: baud }, done)),
      writeSlackMs,
      `setting the rate of ${this.#path}`,
    );
    this.#baud = baud;
  }

  async check(): Promise<void> {
    const identity = await within(identityOf(this.#path), writeSlackMs, `looking at ${this.#path}`);
    if (identity !== this.#identity) throw new LineFault('lost', `${this.#path}: another device has the name now`);
  }

  async close(): Promise<void> {
    this.#isEnded = true;
    if (!this.#port.isOpen) return;
    const closing = this.#call((done) => this.#port.close(done));
    await within(closing, closeWithinMs, `closing ${this.#path}`).catch(ignore);
  }

  /** On a closed port the library would keep a call for the next opening: here it fails at once. */
  async #use(start: (done: Done) => void): Promise<void> {
    if (!this.#port.isOpen) throw new LineFault('lost', `${this.#path}: not open`);
    await this.#call(start);
  }

  async #call(start: (done: Done) => void): Promise<void> {
    try {
      await new Promise<void>((resolve, reject) => start((error) => (error ? reject(error) : resolve())));
    } catch (error) {
      throw faultFrom(error, this.#path);
    }
  }
}

/** A line that does not close is left behind by contract; the next open says what is wrong with it. */
function ignore(): void {}

/** Only adapters with a latency timer know the setting; the others answer that they do not. */
function ignoreUnsupported(): void {}
