/**
 * B8: from a card's last byte on the line to its release on the line, with eight readers polled over a real pty.
 *
 * The readers are a process of their own and pace their bytes at 115 200 baud. What the software adds is held against
 * the poll period, which a person waits for anyway; and what a dead reader adds to the others against one probe.
 * Not measured here: the decision and its durable record, unless they are handed in as `decide`.
 *
 * Run alone: `node test/benchmark/b8-card-to-release.ts`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { DeviceEvent, LineTraffic } from '#gateway/device/driver.ts';
import { createOsdpBus, type OsdpBus } from '#gateway/device/osdp/osdp-bus.ts';
import { identifier } from '#shared/identifier.ts';
import { later } from '#shared/instant.ts';
import { anyRandom, benchNow, deviceAt, deviceConfig, keyAt } from '../fakes/osdp-bench.ts';
import type { ToPeer } from '../fakes/osdp-peer-process.ts';
import { openPtyPair } from '../fakes/pty-pair.ts';
import { waitUntil } from '../fakes/wait-until.ts';
import type { BenchRow } from './bench-row.ts';

const baud = 115_200;
const pollMs = 100;
const turnaroundMs = 5;
const cards = 200;
const addresses = [1, 2, 3, 4, 5, 6, 7, 8];
const dead = 8;
/** A probe lasts three times what the reader used to need, at least this. */
const shortestProbeMs = 30;
/** What a timer may fire late, and what is given to bytes that wait in the kernel. */
const graceMs = 5;
const output = 0x68;

type Card = Extract<DeviceEvent, { readonly kind: 'card' }>;
/** Whether a card may pass; where the real decision and journal can be put. */
export type Decide = (card: Card) => Promise<boolean>;

interface Measured {
  /** Card's last byte in → release handed to the bus, ms. */
  readonly toQueue: readonly number[];
  /** Card's last byte in → release's first byte out, ms: waits for the exchange under way. */
  readonly toLine: readonly number[];
  /** From one turn of a living reader to its next, ms. */
  readonly periods: readonly number[];
  /** How long the dead reader used to need, ms. */
  readonly deadTurnaroundMs: number;
}

export async function run(decide: Decide = async () => true): Promise<BenchRow[]> {
  const alive = addresses.filter((address) => address !== dead);
  const all = await measure(addresses, decide);
  // Beside each other, so that whatever else the machine does slows both.
  const [withoutDead, withDead] = await Promise.all([measure(addresses, decide), measure(alive, decide)]);
  const period = percentile(all.periods, 0.5);
  const share = percentile(all.toQueue, 0.99) / period;
  const lineShare = percentile(all.toLine, 0.99) / period;
  const probeMs = Math.max(shortestProbeMs, 3 * withDead.deadTurnaroundMs) + graceMs;
  const extra = percentile(withDead.periods, 0.99) - percentile(withoutDead.periods, 0.99);
  return [
    {
      id: 'B8',
      what: 'card to release queued, 8 readers, p99',
      figure: ms(percentile(all.toQueue, 0.99)),
      peer: `poll period p50 ${ms(period)}`,
      ratio: share,
      bar: '≤ 0.05',
      ok: share <= 0.05,
    },
    {
      id: 'B8',
      what: 'card to release on the line, 8 readers, p99 (waits for the exchange under way)',
      figure: ms(percentile(all.toLine, 0.99)),
      peer: `poll period p50 ${ms(period)}`,
      ratio: lineShare,
      bar: '≤ 1',
      ok: lineShare <= 1,
    },
    {
      id: 'B8',
      what: 'a dead reader adds to the others’ poll period, p99',
      figure: ms(extra),
      peer: `one probe ${ms(probeMs)}`,
      ratio: extra / probeMs,
      bar: '≤ 1',
      ok: extra <= probeMs,
    },
  ];
}

/** @param powered the readers that answer. */
async function measure(powered: readonly number[], decide: Decide): Promise<Measured> {
  const cable = await openPtyPair();
  const peer = fork(new URL('../fakes/osdp-peer-process.ts', import.meta.url));
  const tell = (message: ToPeer) => void peer.send(message);
  const readers = addresses.map((address) => ({ address, key: keyAt(address), turnaroundMs }));
  tell({ kind: 'attach', assignment: { path: cable.far, baud, readers } });
  await once(peer, 'message');
  const bus = createOsdpBus(
    {
      line: { id: identifier<'line'>('line-1'), kind: 'serial', path: cable.near, baud },
      devices: readers.map((reader) => deviceConfig(reader)),
      pollMs,
    },
    { now: benchNow, randomBytes: anyRandom },
  );
  const traffic: LineTraffic[] = [];
  bus.observe((message) => void traffic.push(message));
  const passage = watchPassages(bus, decide);
  await waitUntil('the readers', () => bus.health().every((health) => health.state === 'online'));
  const deadTurnaroundMs = bus.health().find(({ device }) => device === deviceAt(dead))?.turnaroundMs ?? Number.NaN;
  if (!powered.includes(dead)) {
    tell({ kind: 'power', address: dead, isPowered: false });
    await waitUntil('the silence', () => bus.health().some((health) => health.state === 'offline'));
  }
  traffic.length = 0;
  for (let count = 0; count < cards; count += 1) {
    const address = powered[count % powered.length] ?? 1;
    tell({ kind: 'swipe', address, bitCount: 26, bytes: [0xbd, 0xd9, 0x37, 0x40] });
    await waitUntil('the release', () => passage.released() > count);
  }
  await bus.close();
  const gone = once(peer, 'exit');
  peer.disconnect();
  await gone;
  await cable.close();
  return {
    toQueue: passage.toQueue,
    toLine: passage.toLine(traffic),
    periods: periodsOf(traffic, powered),
    deadTurnaroundMs,
  };
}

/** Answers cards by releases, and keeps the times. */
function watchPassages(bus: OsdpBus, decide: Decide) {
  const toQueue: number[] = [];
  const cardTimes: number[] = [];
  let released = 0;
  const answer = async (card: Card) => {
    if (!(await decide(card))) return;
    const queued = bus.command(
      card.device,
      {
        kind: 'release',
        requestId: identifier<'request'>(`request-${released}`),
        lock: { output: 0, release: 'energise' },
        ms: 3_000,
      },
      later(benchNow(), 2_000),
    );
    toQueue.push(benchNow() - card.at);
    cardTimes.push(card.at);
    await queued;
    released += 1;
  };
  bus.open((event) => {
    if (event.kind === 'card') void answer(event);
    // A card that came too early for its connection is answered by nobody: count it, so that the next one is shown.
    if (event.kind === 'discarded') released += 1;
  });
  const toLine = (traffic: readonly LineTraffic[]) => {
    const releases = traffic.filter((message) => isCommand(message, output)).map(({ at }) => at);
    return cardTimes.flatMap((cardAt) => {
      const releasedAt = releases.find((at) => at >= cardAt);
      return releasedAt === undefined ? [] : [releasedAt - cardAt];
    });
  };
  return { toQueue, toLine, released: () => released };
}

/** The mark, then SOM; the code follows the security block where there is one. */
function isCommand({ direction, bytes }: LineTraffic, code: number): boolean {
  if (direction !== 'to-device') return false;
  const hasSecurity = ((bytes[5] ?? 0) & 0x08) !== 0;
  return bytes[hasSecurity ? 6 + (bytes[6] ?? 0) : 6] === code;
}

function periodsOf(traffic: readonly LineTraffic[], powered: readonly number[]): number[] {
  const sent = traffic.filter(({ direction }) => direction === 'to-device');
  return powered.flatMap((address) => {
    const times = sent.filter(({ bytes }) => bytes[2] === address).map(({ at }) => at);
    return times.slice(1).map((at, index) => at - (times[index] ?? at));
  });
}

function percentile(values: readonly number[], share: number): number {
  return (
    [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN
  );
}

function ms(value: number): string {
  return `${value.toFixed(2)} ms`;
}

if (import.meta.main) {
  const rows = await run();
  console.table(rows);
  process.exitCode = rows.every((row) => row.ok) ? 0 : 1;
}
