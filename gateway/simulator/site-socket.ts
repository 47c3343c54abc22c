/**
 * The control socket of a running simulated site: one JSON object a line, bounded, each call answered once.
 *
 * Form is checked before anything is done; a caller that is absurd or does not drain is disconnected.
 * Only the owner of the file may connect (0600).
 */
import { chmodSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import { readLines } from './json-lines.ts';
import { callBytesMax, type SiteCall, siteCalls, siteRequest } from './site-call.ts';
import { SiteRefusal } from './site-refusal.ts';

const connectionsMax = 16;
const backlogBytesMax = 1024 * 1024;

export type Perform = (call: SiteCall, emit: (item: unknown) => void, gone: AbortSignal) => Promise<unknown>;

/** Replaces a socket file that nobody answers at. @throws Error of the system, or if another site answers there. */
export async function serveSite(path: string, perform: Perform): Promise<{ close(): Promise<void> }> {
  if (await isAnswered(path)) throw new Error(`another simulated site answers at ${path}`);
  rmSync(path, { force: true });
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    if (open.size >= connectionsMax) {
      socket.destroy();
      return;
    }
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    serve(socket, perform);
  });
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(path, done);
  });
  chmodSync(path, 0o600);
  return {
    close: () =>
      new Promise((done) => {
        for (const socket of open) socket.destroy();
        server.close(() => done());
      }),
  };
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((done) => {
    const probe = createConnection(path);
    probe.once('connect', () => {
      probe.destroy();
      done(true);
    });
    probe.once('error', () => done(false));
  });
}

function serve(socket: Socket, perform: Perform): void {
  const gone = new AbortController();
  socket.on('close', () => gone.abort());
  const send = (message: object) => {
    if (socket.destroyed) return;
    socket.write(`${JSON.stringify(message)}\n`);
    if (socket.writableLength > backlogBytesMax) socket.destroy();
  };
  readLines(socket, callBytesMax, (line) => {
    void answer(line, perform, send, gone.signal);
  });
}

async function answer(
  line: string,
  perform: Perform,
  send: (message: object) => void,
  gone: AbortSignal,
): Promise<void> {
  const request = siteRequest.safeParse(parseJson(line));
  if (!request.success) return send({ id: 0, status: 'refused', code: 'BAD_REQUEST', detail: request.error.message });
  const { id, verb } = request.data;
  const parsed = siteCalls[verb].safeParse(request.data.arguments ?? {});
  if (!parsed.success) return send({ id, status: 'refused', code: 'BAD_REQUEST', detail: parsed.error.message });
  const call = { verb, arguments: parsed.data } as SiteCall;
  try {
    const value = await perform(call, (item) => send({ id, item }), gone);
    send({ id, status: 'ok', value: value ?? null });
  } catch (error) {
    if (!(error instanceof SiteRefusal)) throw error;
    send({ id, status: 'refused', code: error.code, detail: error.message });
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
