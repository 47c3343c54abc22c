/**
 * The door process's end of the control sockets.
 *
 * Guarantees: every line is parsed by its schema before anything is done; a caller that is slow, silent or absurd is
 * disconnected and harms nobody else; a stream that its reader does not drain is ended, never buffered without bound; who
 * may only look is read no faster than the door process can afford.
 * Not promised: who is at the other end; the mode of the socket's file says who may be.
 */
import { chmodSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { Logger } from '../system/logger.ts';
import {
  type Arguments,
  ControlRefusal,
  type ControlReply,
  calls,
  lookingVerbs,
  messageBytesMax,
  requestSchema,
  streamVerbs,
  type Verb,
} from './messages.ts';
import { ReadBudget } from './read-budget.ts';

const connectionsMax = 32;
const callsInFlightMax = 16;
/** Of one socket, over all its connections: far fewer than the journal's thread will hold. */
const openCallsMax = 128;
/** A connection over which nothing is asked or told for so long gives its place to others, ms. */
const silentMs = 60_000;
/** Unsent bytes at which a stream's reader is too slow. */
const backlogBytesMax = 4 * 1024 * 1024;

export interface CallContext {
  /** Sends one item of a stream. */
  readonly emit: (item: unknown) => void;
  /** Ends with the connection or the deadline. */
  readonly signal: AbortSignal;
  /** What the socket of this call allows. */
  readonly rights: 'look' | 'act';
}

export type Handlers = { readonly [Of in Verb]: (call: Arguments<Of>, context: CallContext) => unknown };

export interface ControlServer {
  close(): Promise<void>;
}

/**
 * Listens on a UNIX socket. A socket file left by a dead process is replaced; one that answers is not.
 * @throws Error with code `CONTROL_SOCKET_IN_USE` if another gateway answers there.
 */
export async function serveControl(
  path: string,
  rights: 'look' | 'act',
  handlers: Handlers,
  log: Logger,
): Promise<ControlServer> {
  await removeStale(path);
  const open = new Set<Socket>();
  const work = { open: 0 };
  const budget = rights === 'look' ? new ReadBudget(() => performance.now()) : undefined;
  const server = createServer((socket) => {
    if (open.size >= connectionsMax) {
      socket.destroy();
      return;
    }
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    serveConnection(socket, { rights, handlers, log, budget, work });
  });
  await listen(server, path);
  chmodSync(path, 0o660);
  return {
    close: () =>
      new Promise((done) => {
        for (const socket of open) socket.destroy();
        server.close(() => done());
      }),
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((done, fail) => {
    server.once('error', fail);
    server.listen(path, () => done());
  });
}

class SocketInUse extends Error {
  readonly code = 'CONTROL_SOCKET_IN_USE';
}

function removeStale(path: string): Promise<void> {
  return new Promise((done, fail) => {
    const probe = createConnection(path);
    probe.once('connect', () => {
      probe.destroy();
      fail(new SocketInUse(`another gateway already runs here (${path} answers)`));
    });
    // Refused: a file without a process. Anything else, such as a full queue, is a process that is busy.
    probe.once('error', ({ code }: NodeJS.ErrnoException) => {
      const isStale = code === 'ECONNREFUSED' || code === 'ENOENT';
      if (!isStale) fail(new SocketInUse(`${path} cannot be asked whether a gateway runs there (${code})`));
      else done(rmSync(path, { force: true }));
    });
  });
}

interface Served {
  readonly rights: 'look' | 'act';
  readonly handlers: Handlers;
  readonly log: Logger;
  /** For callers that are not trusted to be moderate. */
  readonly budget: ReadBudget | undefined;
  /** Calls of this socket that are under way, whether somebody still waits for them or not. */
  readonly work: { open: number };
}

function serveConnection(socket: Socket, served: Served): void {
  const { budget } = served;
  const gone = new AbortController();
  let pending = Buffer.alloc(0);
  let inFlight = 0;
  socket.on('close', () => gone.abort());
  socket.on('error', () => socket.destroy());
  socket.setTimeout(silentMs, () => {
    if (inFlight === 0) socket.destroy();
  });
  const send = (message: object) => {
    if (socket.destroyed) return;
    socket.write(`${JSON.stringify(message)}\n`);
    if (socket.writableLength > backlogBytesMax) socket.destroy();
  };
  const answer = async (line: string) => {
    inFlight += 1;
    if (inFlight > callsInFlightMax)
      send({ id: idOf(line), status: 'refused', code: 'BUSY', detail: 'too many calls at once' });
    else send(await answerCall(line, { ...served, send, gone: gone.signal }));
    inFlight -= 1;
  };
  socket.on('data', (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    let lines = 0;
    for (let end = pending.indexOf(10); end >= 0; end = pending.indexOf(10)) {
      const line = pending.subarray(0, end).toString('utf8');
      pending = pending.subarray(end + 1);
      lines += 1;
      void answer(line);
    }
    if (pending.length > messageBytesMax) socket.destroy();
    const waitMs = budget?.spend(chunk.length, lines) ?? 0;
    if (waitMs === 0) return;
    socket.pause();
    setTimeout(() => socket.resume(), waitMs);
  });
}

interface CallScope extends Served {
  readonly send: (message: object) => void;
  readonly gone: AbortSignal;
}

async function answerCall(line: string, scope: CallScope): Promise<ControlReply> {
  const request = requestSchema.safeParse(parseJson(line));
  if (!request.success)
    return { id: idOf(line), status: 'refused', code: 'BAD_REQUEST', detail: issueText(request.error.issues) };
  const { id, verb, deadlineMs } = request.data;
  const refused = (code: string, detail: string): ControlReply => ({ id, status: 'refused', code, detail });
  if (scope.rights === 'look' && !lookingVerbs.has(verb))
    return refused('NOT_ALLOWED', `${verb} needs the admin socket`);
  const parsed = calls[verb].safeParse(request.data.arguments ?? {});
  if (!parsed.success) return refused('BAD_REQUEST', issueText(parsed.error.issues));
  const deadline = streamVerbs.has(verb) ? undefined : AbortSignal.timeout(deadlineMs);
  const signal = deadline ? AbortSignal.any([scope.gone, deadline]) : scope.gone;
  const context: CallContext = { signal, emit: (item) => scope.send({ id, item }), rights: scope.rights };
  try {
    const handler = scope.handlers[verb] as (call: unknown, context: CallContext) => unknown;
    const value = await withSignal(
      counted(verb, scope.work, () => handler(parsed.data, context)),
      signal,
    );
    return { id, status: 'ok', value };
  } catch (error) {
    if (error instanceof ControlRefusal) return refused(error.code, error.message);
    if (signal.aborted) return refused('DEADLINE', `no answer within ${deadlineMs} ms`);
    scope.log.error({ err: error, verb }, 'control call failed');
    return refused('INTERNAL_FAULT', 'the call failed; the gateway’s log says why');
  }
}

/** Who gives up waiting does not end the work, and so is still counted. */
async function counted(verb: Verb, work: { open: number }, handle: () => unknown): Promise<unknown> {
  if (streamVerbs.has(verb)) return await handle();
  if (work.open >= openCallsMax) throw new ControlRefusal('BUSY', 'too many calls are under way');
  work.open += 1;
  try {
    return await handle();
  } finally {
    work.open -= 1;
  }
}

function withSignal<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((done, fail) => {
    const onAbort = () => fail(new Error('aborted'));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(done, fail).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function idOf(line: string): number {
  const value = parseJson(line);
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'number' ? value.id : 0;
}

const issueText = (issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]): string =>
  issues
    .slice(0, 5)
    .map((issue) => `${issue.path.map(String).join('.') || 'message'}: ${issue.message}`)
    .join('; ');
