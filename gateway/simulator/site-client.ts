/**
 * The caller's end of a simulated site's control socket: the command line, the demonstration, the tests.
 *
 * A lost connection fails every call that waits. Nothing is retried: the caller decides.
 */
import { createConnection, type Socket } from 'node:net';
import { readLines } from './json-lines.ts';
import type { SiteInput, SiteVerb } from './site-call.ts';
import { SiteRefusal } from './site-refusal.ts';

/** A status of the largest site stays below this, bytes. */
const replyBytesMax = 256 * 1024;

export interface SiteClient {
  /** @throws SiteRefusal */
  call<Of extends SiteVerb>(verb: Of, args: SiteInput<Of>, onItem?: (item: unknown) => void): Promise<unknown>;
  close(): void;
}

/** @throws SiteRefusal `CLOSED` if no site answers at `path`. */
export async function connectSite(path: string): Promise<SiteClient> {
  const socket = await connect(path);
  const waiting = new Map<
    number,
    { done(value: unknown): void; fail(error: Error): void; item(item: unknown): void }
  >();
  let nextId = 1;
  readLines(socket, replyBytesMax, (line) => {
    const message = JSON.parse(line) as {
      id: number;
      status?: string;
      value?: unknown;
      detail?: string;
      item?: unknown;
    };
    const call = waiting.get(message.id);
    if (message.status === undefined) return call?.item(message.item);
    waiting.delete(message.id);
    if (message.status === 'ok') call?.done(message.value);
    else call?.fail(new SiteRefusal('BAD_REQUEST', message.detail ?? 'refused'));
  });
  socket.on('close', () => {
    for (const call of waiting.values()) call.fail(new SiteRefusal('CLOSED', 'the simulated site went away'));
  });
  return {
    call: (verb, args, onItem = () => {}) =>
      new Promise((done, fail) => {
        const id = nextId++;
        waiting.set(id, { done, fail, item: onItem });
        socket.write(`${JSON.stringify({ id, verb, arguments: args })}\n`);
      }),
    close: () => socket.destroy(),
  };
}

function connect(path: string): Promise<Socket> {
  return new Promise((done, fail) => {
    const socket = createConnection(path);
    socket.once('connect', () => done(socket));
    socket.once('error', () => fail(new SiteRefusal('CLOSED', `no simulated site answers at ${path}`)));
  });
}
