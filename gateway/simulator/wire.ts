/**
 * The wire of a simulated line: the raw TCP port of a serial-over-Ethernet converter, or a serial device.
 *
 * One panel at a time, as most converters have it, unless the site allows more: then bytes come in from any of them and
 * go out to all, as on a bus with two masters. It can be dropped and restored on the same port.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { monoMs } from '#shared/instant.ts';
import { openSerialLine } from '../device/serial-line.ts';
import type { SiteLine } from './site-file.ts';

export interface WireListener {
  bytes(bytes: Uint8Array): void;
  /** A panel connected or went away. */
  panels(count: number): void;
}

export interface Wire {
  /** Where it listens; `null` for a serial device. */
  readonly port: number | null;
  readonly panels: () => number;
  send(bytes: Uint8Array): void;
  /** Disconnects every panel and refuses new ones, or listens again. */
  setDropped(isDropped: boolean): Promise<void>;
  close(): Promise<void>;
}

/** @throws Error of the system if the port is taken; LineFault if the serial device cannot be opened. */
export function openWire(line: SiteLine, listener: WireListener): Promise<Wire> {
  return 'serial' in line.wire
    ? openSerialWire(line.wire.serial, line.baud, listener)
    : openTcpWire(line.wire.port, line.panelsMax, listener);
}

async function openTcpWire(wantedPort: number, panelsMax: number, listener: WireListener): Promise<Wire> {
  const sockets = new Set<Socket>();
  const accept = (socket: Socket) => {
    if (sockets.size >= panelsMax) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('data', (bytes: Buffer) => listener.bytes(bytes));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      listener.panels(sockets.size);
    });
    listener.panels(sockets.size);
  };
  let server: Server | undefined = await listen(wantedPort, accept);
  const port = portOf(server);
  const hangUp = async () => {
    const closing = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (closing) await new Promise<void>((done) => closing.close(() => done()));
  };
  return {
    port,
    panels: () => sockets.size,
    send: (bytes) => {
      for (const socket of sockets) socket.write(bytes);
    },
    setDropped: async (isDropped) => {
      if (isDropped) await hangUp();
      else server ??= await listen(port, accept);
    },
    close: hangUp,
  };
}

function listen(port: number, accept: (socket: Socket) => void): Promise<Server> {
  return new Promise((done, fail) => {
    const server = createServer(accept);
    server.once('error', fail);
    server.listen(port, '127.0.0.1', () => done(server));
  });
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function openSerialWire(path: string, baud: number, listener: WireListener): Promise<Wire> {
  const heard = {
    bytes: (bytes: Uint8Array) => listener.bytes(bytes),
    lost: () => listener.panels(0),
  };
  const open = () => openSerialLine({ path, baud }, heard, () => monoMs(performance.now()));
  let line: Awaited<ReturnType<typeof open>> | undefined = await open();
  listener.panels(1);
  const hangUp = async () => {
    const closing = line;
    line = undefined;
    await closing?.close();
  };
  return {
    port: null,
    panels: () => (line === undefined ? 0 : 1),
    // A write that fails is a wire that is gone: whoever polls it finds out, as with a real one.
    send: (bytes) => void line?.write(bytes).catch(() => listener.panels(0)),
    setDropped: async (isDropped) => {
      if (isDropped) await hangUp();
      else line ??= await open();
    },
    close: hangUp,
  };
}
