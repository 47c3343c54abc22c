/**
 * The cloud that a bench's edge process speaks to: signs like a cloud, holds long polls, hands out one snapshot.
 *
 * Not promised: that it knows anything; it believes every caller and keeps nothing.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { JournalUpload } from '#shared/contract/sync/journal.ts';
import type { SigningCloud } from '../fakes/signing-cloud.ts';

export interface BenchCloud {
  readonly url: string;
  /** How many answers to each path. */
  readonly answered: ReadonlyMap<string, number>;
  /** What is handed out from now on, as often as it is asked for. */
  serve(chunks: readonly string[]): void;
  close(): Promise<void>;
}

/** Feed's position, everywhere and always. */
export const benchCursor = 10;

export async function openBenchCloud(cloud: SigningCloud): Promise<BenchCloud> {
  let chunks: readonly string[] = [];
  const answered = new Map<string, number>();
  const ended = new AbortController();
  const server = createServer((request, response) => void answer(request, response));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://cloud');
    const path = pathname.replace('/gateway/v1', '');
    const body = await text(request);
    const value = await answerTo(path, searchParams, body);
    answered.set(path, (answered.get(path) ?? 0) + 1);
    response.writeHead(value === undefined ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(value ?? { code: 'INTERNAL_FAULT' }));
  }
  async function answerTo(path: string, query: URLSearchParams, body: string): Promise<unknown> {
    switch (path) {
      case '/time':
        return { time: await cloud.time(query.get('nonce') ?? '', Date.now()) };
      case '/feed/ack':
        return { status: 'applied' };
      case '/feed':
        await pause(Number(query.get('waitMs')), undefined, { signal: ended.signal, ref: false }).catch(() => {});
        return { head: benchCursor, commands: [] };
      case '/snapshot': {
        const chunk = chunks[Number(query.get('index'))];
        return chunk === undefined ? undefined : { chunk };
      }
      case '/journal':
        return { ack: await ackOf(cloud, JSON.parse(body) as JournalUpload) };
    }
    return undefined;
  }
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answered,
    serve: (those) => {
      chunks = those;
    },
    close: async () => {
      ended.abort();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function ackOf(
  cloud: SigningCloud,
  { epoch, firstSeq, prevHash, entries, heads }: JournalUpload,
): Promise<string> {
  const last = entries.at(-1) ?? { seq: firstSeq - 1, hash: prevHash };
  const nextKey = heads.at(-1)?.nextKey ?? '';
  return await cloud.journalAck({ epoch, seq: last.seq, hash: last.hash, nextKey });
}
