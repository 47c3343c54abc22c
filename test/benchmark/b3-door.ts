/**
 * The door process of B3: a whole one, with the edge process at its socket, at whose doors a card is held up every few
 * milliseconds, whatever else it does.
 *
 * A card is decided as at a reader, and its entry made durable; the time counts from when it was due, so that what held up
 * the card before holds up this one too.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { GatewayNews } from '#gateway/access/gateway-news.ts';
import { composeDoor } from '#gateway/compose-door.ts';
import { loadConfig } from '#gateway/config.ts';
import { serveControl } from '#gateway/control/door-side.ts';
import type { ExplainReport } from '#gateway/control/replies.ts';
import { openHistory } from '#gateway/open-history.ts';
import { FeedKeeper } from '#gateway/replica/feed-keeper.ts';
import { readPointer } from '#gateway/replica/replica-folder.ts';
import { ReplicaKeeper } from '#gateway/replica/replica-keeper.ts';
import type { Logger } from '#gateway/system/logger.ts';
import { keepHeapSmall } from '#gateway/system/small-heap.ts';
import { ownThreads } from '#gateway/threads.ts';
import { identifier } from '#shared/identifier.ts';
import { invariant } from '#shared/invariant.ts';
import { sampleCard, testLookupKey, testRowKey } from '../fakes/sample-facility.ts';
import { gateway as gatewayId } from '../fakes/signing-cloud.ts';
import { grantedEntry } from './journal-bench.ts';

export type ToDoor =
  | { readonly kind: 'begin' | 'end' | 'close' }
  /** Applies a snapshot in this very thread, into a folder of its own. */
  | { readonly kind: 'apply-here'; readonly chunks: string; readonly folder: string; readonly feedKey: string };
export type FromDoor =
  | { readonly kind: 'open' | 'applied' }
  | { readonly kind: 'epoch'; readonly epoch: number }
  | { readonly kind: 'measured'; readonly ms: readonly number[] };

const everyMs = 10;
const doors = 64;

keepHeapSmall();
const [configFile] = process.argv.slice(2);
invariant(configFile !== undefined, 'begun with the configuration to run');
const config = loadConfig(configFile);
const say = (message: FromDoor) => void process.send?.(message);
const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, fatal: () => {} };
const news = new GatewayNews(silent);
const history = await openHistory(config, {
  entry: ownThreads.journal,
  onChange: (change) => news.takeJournal(change),
});
const door = await composeDoor({ config, log: silent, threads: ownThreads, news, history, kernel: undefined });
mkdirSync(config.runDir, { recursive: true });
const edge = await serveControl(join(config.runDir, 'edge.sock'), 'look', door.handlers, silent);

/** Cards of both facilities, which may enter at any time. */
const cards = Array.from({ length: 900 }, (_, index) => index)
  .filter((index) => index % 2 === 1 && index % 3 !== 0 && index % 50 !== 7)
  .map((index) => {
    const { bitCount, bytes } = sampleCard(index);
    const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
    return { door: identifier<'door'>(`d${index % doors}`), presented: { card: { bits: bits.slice(0, bitCount) } } };
  });
const context = { emit: () => {}, signal: new AbortController().signal, rights: 'act' } as const;
let count = 0;

async function pass(due: number): Promise<number> {
  count += 1;
  const card = cards[count % cards.length];
  invariant(card, 'there are cards');
  const { code } = (await door.handlers.simulate(card, context)) as ExplainReport;
  // Its lock is on no line, which is the last rule.
  if (code !== 'GRANTED' && code !== 'LOCK_UNREACHABLE') throw new Error(`decided ${code}`);
  const kept = await history.journal.append([grantedEntry(count)]);
  if (kept.kind !== 'durable') throw new Error(`the entry: ${JSON.stringify([kept, history.journal.state()])}`);
  return performance.now() - due;
}

let isMeasuring = false;
async function measure(): Promise<void> {
  isMeasuring = true;
  const passing: Promise<number>[] = [];
  for (let due = performance.now(); isMeasuring; due += everyMs) {
    const early = due - performance.now();
    if (early > 0) await pause(early);
    passing.push(pass(due));
  }
  say({ kind: 'measured', ms: await Promise.all(passing) });
}

async function applyHere({ chunks, folder, feedKey }: Extract<ToDoor, { kind: 'apply-here' }>): Promise<void> {
  const place = { folder, rowKey: testRowKey, lookupKey: testLookupKey };
  const keeper = new ReplicaKeeper(place);
  const feed = new FeedKeeper(place, keeper);
  await feed.trust({ gateway: gatewayId, feedKey, head: { epoch: 0, cursor: 0, digest: '' }, floor: 0 });
  const all = JSON.parse(readFileSync(chunks, 'utf8')) as readonly string[];
  await pause(1_000);
  void measure();
  for (const chunk of all) {
    const taken = await feed.follow('chunk', chunk);
    if (taken.kind !== 'staged') throw new Error(JSON.stringify(taken));
    // What waits is heard between two chunks, as it would be if they came over a socket.
    await pause(1);
  }
  const built = await feed.build(1);
  if (built.kind !== 'switched') throw new Error(JSON.stringify(built));
  feed.close();
  isMeasuring = false;
}

process.on('message', (message: ToDoor) => {
  switch (message.kind) {
    case 'begin':
      void measure();
      return;
    case 'end':
      isMeasuring = false;
      return;
    case 'apply-here':
      void applyHere(message);
      return;
    case 'close':
      void close();
  }
});

const watch = setInterval(() => {
  const pointer = readPointer(config.dataDir);
  if (pointer.kind === 'live') say({ kind: 'epoch', epoch: pointer.epoch });
}, 250);

async function close(): Promise<void> {
  clearInterval(watch);
  await edge.close();
  await door.close();
  process.disconnect?.();
}

process.once('disconnect', () => process.exit());
say({ kind: 'open' });
