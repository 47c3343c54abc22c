/**
 * B12: from the request that revokes a card to the door process's signature that the revocation is in force, with real
 * processes: cloud with its database, edge, door.
 *
 * The end is the time in the door process's own signed ack ("effective since"), by the clock that all three share here. The
 * peer is a round trip of the same HTTP stack: the credential read over the API, with the same token and the same
 * database. Likes are compared: median with median; the 99th percentile has its bound in seconds.
 *
 * Run alone: `node test/benchmark/b12-revoke.ts`.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type CloudHouse, openCloudHouse, until } from '../end-to-end/cloud-house.ts';
import type { BenchRow } from './bench-row.ts';
import { median, round } from './journal-bench.ts';

const acts = 100;
const readsEach = 5;
const withinMs = 1_000;
const askEveryMs = 100;
const tripsMax = 20;

interface Delivery {
  readonly state: string;
  readonly since: string | null;
}

export async function run(): Promise<BenchRow[]> {
  const world = await openCloudHouse();
  try {
    await revoke(world, 60_000);
    const took: number[] = [];
    const trips: number[] = [];
    for (let act = 0; act < acts; act += 1) {
      took.push(await revoke(world, act + 1));
      for (let read = 0; read < readsEach; read += 1) trips.push(await roundTrip(world));
    }
    return rowsOf(took, trips);
  } finally {
    await world.close();
  }
}

function rowsOf(took: readonly number[], trips: readonly number[]): BenchRow[] {
  const [p50, p99] = [median(took), percentile(took, 0.99)];
  const trip = median(trips);
  const figure = `p50 ${round(p50)} ms, p99 ${round(p99)} ms`;
  return [
    {
      ...{ id: 'B12', what: `revoke → effective at the door, p99 of ${took.length}`, figure },
      ...{ peer: `${withinMs} ms`, ratio: round(p99 / withinMs), bar: '< 1', ok: p99 < withinMs },
    },
    {
      ...{ id: 'B12', what: 'revoke → effective at the door, in round trips', figure },
      peer: `round trip p50 ${round(trip)} ms, p99 ${round(percentile(trips, 0.99))} ms`,
      ...{ ratio: round(p50 / trip), bar: `≤ ${tripsMax}`, ok: p50 / trip <= tripsMax },
    },
  ];
}

/** @returns ms from the request to the door's signature. */
async function revoke({ operator, issue }: CloudHouse, number: number): Promise<number> {
  const card = await issue(number);
  const path = `credentials/${card}`;
  await until(`${card} to be in force`, async () => isEffective((await operator.get(path)).delivery));
  const began = Date.now();
  await operator.post(`${path}/revoke`);
  let delivery: readonly Delivery[] = [];
  await until(`${card} to be out of force`, async () => {
    // Asking costs the cloud time that it needs for the answer.
    await pause(askEveryMs);
    delivery = (await operator.get(path)).delivery;
    return isEffective(delivery);
  });
  return Math.max(...delivery.map(({ since }) => Date.parse(since ?? ''))) - began;
}

const isEffective = (delivery: readonly Delivery[]): boolean =>
  delivery.length > 0 && delivery.every(({ state }) => state === 'effective_at_door');

async function roundTrip({ operator }: CloudHouse): Promise<number> {
  const began = performance.now();
  await operator.get('credentials?limit=1');
  return performance.now() - began;
}

function percentile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

if (import.meta.main) console.table(await run());
