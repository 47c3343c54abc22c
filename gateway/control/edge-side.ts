/**
 * The caller's end of a control socket: the command line now, the edge process too.
 *
 * Every call but a stream has a deadline, kept here too, since a process that hangs keeps none; a lost connection fails
 * every call that waits. Nothing is retried: the caller decides.
 */
import { createConnection, type Socket } from 'node:net';
import { type Arguments, ControlRefusal, messageBytesMax, streamVerbs, type Verb } from './messages.ts';

export interface ControlClient {
  /** @throws ControlRefusal with the other side's code; ControlLost when the gateway is not there or goes away. */
  call<Of extends Verb>(verb: Of, args: Arguments<Of>, options?: CallOptions): Promise<unknown>;
  close(): void;
}

export interface CallOptions {
  /** Default 10 000; for a stream, `undefined` items may come for ever. */
  readonly deadlineMs?: number;
  /** Receives the items of a stream. */
  readonly onItem?: (item: unknown) => void;
}

export type LostCode = 'GATEWAY_NOT_RUNNING' | 'GATEWAY_FORBIDDEN' | 'GATEWAY_SILENT';

export class ControlLost extends Error {
  readonly code: LostCode;

  constructor(code: LostCode, detail: string, options?: ErrorOptions) {
    super(detail, options);
    this.code = code;
  }
}

interface Waiting {
  readonly done: (value: unknown) => void;
  readonly fail: (error: Error) => void;
  readonly onItem: ((item: unknown) => void) | undefined;
  readonly timer: NodeJS.Timeout | undefined;
}

/** How much longer than the other side we wait for its word, ms. */
const graceMs = 2_000;
/** A reply may be as long as a page of entries; a stream's item is shorter. */
const replyBytesMax = 16 * messageBytesMax;

/** @throws ControlLost if nobody listens at `path`. */
export async function connectControl(path: string): Promise<ControlClient> {
  const socket = await connect(path);
  const waiting = new Map<number, Waiting>();
  let nextId = 1;
  let pending = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    pending += text;
    for (let end = pending.indexOf('\n'); end >= 0; end = pending.indexOf('\n')) {
      settle(waiting, JSON.parse(pending.slice(0, end)) as Incoming);
      pending = pending.slice(end + 1);
    }
    if (pending.length > replyBytesMax) socket.destroy();
  });
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    for (const { timer, fail } of waiting.values()) {
      clearTimeout(timer);
      fail(gone());
    }
    waiting.clear();
  });
  return {
    call: (verb, args, { deadlineMs = 10_000, onItem } = {}) =>
      new Promise((done, fail) => {
        if (socket.destroyed || socket.writableEnded) {
          fail(gone());
          return;
        }
        const id = nextId++;
        const giveUp = () => {
          waiting.delete(id);
          fail(new ControlLost('GATEWAY_SILENT', `the gateway did not answer within ${deadlineMs} ms`));
        };
        const timer = streamVerbs.has(verb) ? undefined : setTimeout(giveUp, deadlineMs + graceMs);
        waiting.set(id, { done, fail, onItem, timer });
        socket.write(`${JSON.stringify({ id, verb, arguments: args, deadlineMs })}\n`);
      }),
    close: () => socket.end(),
  };
}

const gone = (): ControlLost => new ControlLost('GATEWAY_NOT_RUNNING', 'the gateway closed the connection');

type Incoming =
  | { readonly id: number; readonly item: unknown }
  | { readonly id: number; readonly status: 'ok'; readonly value: unknown }
  | { readonly id: number; readonly status: 'refused'; readonly code: string; readonly detail: string };

function settle(waiting: Map<number, Waiting>, message: Incoming): void {
  const call = waiting.get(message.id);
  if (!call) return;
  if ('item' in message) {
    call.onItem?.(message.item);
    return;
  }
  waiting.delete(message.id);
  clearTimeout(call.timer);
  if (message.status === 'ok') call.done(message.value);
  else call.fail(new ControlRefusal(message.code, message.detail));
}

function connect(path: string): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = createConnection(path);
    socket.once('connect', () => done(socket));
    socket.once('error', (cause: NodeJS.ErrnoException) => fail(lost(path, cause)));
  });
}

function lost(path: string, cause: NodeJS.ErrnoException): ControlLost {
  return cause.code === 'EACCES' || cause.code === 'EPERM'
    ? new ControlLost('GATEWAY_FORBIDDEN', path, { cause })
    : new ControlLost('GATEWAY_NOT_RUNNING', path, { cause });
}
