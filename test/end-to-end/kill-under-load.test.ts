/**
 * The door process is killed without a word, again and again, at random moments while people come and go.
 *
 * What is held against it afterwards: the locks' own records, what it once said of its journal, and the chain.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Entry } from '#gateway/journal/entry.ts';
import { journalPath } from '#gateway/journal/open-stores.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import type { StrikeEvent } from '#gateway/simulator/strike-record.ts';
import { openDatabase } from '#gateway/store/open-database.ts';
import { seededRandom } from '../fakes/seeded-random.ts';
import { waitUntil } from '../fakes/wait-until.ts';
import { Crowd } from './crowd.ts';
import { readFirstKey } from './first-key.ts';
import { Ledger } from './ledger.ts';
import type { GatewayProcess, OpenGateway } from './running-gateway.ts';
import { unexplained, unfinished } from './strike-evidence.ts';
import {
  cards,
  coinUsesMax,
  houseAtRest,
  houseDoors,
  openHouse,
  seenKinds,
  strikeMs,
  type TestHouse,
} from './test-house.ts';

const kills = process.env['KANNUKI_FULL'] === '1' ? 1_000 : 50;
const seed = Math.floor(Math.random() * 2 ** 32);

/** Where in its life the gateway is killed. */
type Moment = 'starting' | 'under-load' | 'granted' | 'released' | 'commanded' | 'disk-hangs';

let house: TestHouse;
let crowd: Crowd;
let firstKey: Uint8Array;
const random = seededRandom(seed);
const ledger = new Ledger();
/** Told by gateways that are dead, and not looked for in the journal yet. */
let told: Entry[] = [];
let toldCount = 0;

beforeAll(async () => {
  console.log(`seed ${seed}`);
  house = await openHouse();
  crowd = new Crowd(house, random);
  const gateway = house.start();
  const open = await gateway.open();
  await house.import(open);
  await houseAtRest(open);
  // A clean stop, so that the code it compiled is kept for the starts to come.
  await gateway.stop();
  firstKey = readFirstKey(house.dataDir);
}, 120_000);
afterAll(() => house.close(), 60_000);

function chooseMoment(): Moment {
  const roll = random();
  if (roll < 0.3) return 'starting';
  if (roll < 0.55) return 'under-load';
  if (roll < 0.75) return 'granted';
  if (roll < 0.83) return 'released';
  return roll < 0.9 ? 'commanded' : 'disk-hangs';
}

const kindOf = { granted: 'access.granted', released: 'lock.released', commanded: 'command.received' } as const;

async function awaitMoment(moment: keyof typeof kindOf | 'under-load', { seen }: OpenGateway): Promise<void> {
  const from = seen.length;
  if (moment === 'under-load') {
    const enough = from + Math.floor(random() * 12);
    await waitUntil('some load', () => seen.length >= enough, 60_000);
    await pause(random() * 40);
    return;
  }
  await waitUntil(moment, () => seen.slice(from).some(({ kind }) => kind === kindOf[moment]), 60_000);
}

/** Killed while no commit can end and people stand at both doors: what was decided then must not have moved a lock. */
async function killWhileDiskHangs(gateway: GatewayProcess): Promise<void> {
  const store = openDatabase({ path: journalPath(house.dataDir), mode: 'existing', busyTimeoutMs: 1_000 });
  store.exec('BEGIN IMMEDIATE');
  await Promise.all([crowd.present('front-reader', cards.aiko), crowd.present('back-reader', cards.mei)]);
  await pause(100 + random() * 300);
  await gateway.kill();
  store.close();
}

/** Holds a gateway that has just opened against all that its former lives said. */
async function compare(open: OpenGateway): Promise<void> {
  await ledger.read(open);
  expect(ledger.missing(told)).toEqual([]);
  toldCount += told.length;
  told = [];
  expect(verifyJournal(journalPath(house.dataDir), firstKey)).toMatchObject({ kind: 'whole' });
  const mode = open.doors.get('yard')?.mode;
  expect(crowd.yardModes).toContain(mode);
  crowd.foundYard(mode);
}

/** One life of the gateway, to its death. */
async function live(moment: Moment, startMs: number): Promise<void> {
  const gateway = house.start();
  if (moment === 'starting') {
    await pause(random() * startMs * 1.2);
    await gateway.kill();
    return;
  }
  const open = await gateway.open();
  await houseAtRest(open);
  await compare(open);
  const siege = crowd.besiege(open);
  if (moment === 'disk-hangs') await killWhileDiskHangs(gateway);
  else await awaitMoment(moment, open);
  await gateway.kill();
  await open.lost;
  await siege;
  told.push(...open.seen);
}

/** In the last life the coin is presented until it is refused: whatever the former lives spent, its end is seen. */
async function useUpCoin({ seen }: OpenGateway): Promise<void> {
  const isSpent = () => seen.some(({ body }) => body['code'] === 'USES_EXHAUSTED');
  for (let tries = 0; tries <= coinUsesMax && !isSpent(); tries += 1) {
    const from = seen.length;
    await crowd.present('front-reader', cards.coin);
    const since = () => seen.slice(from);
    const isAnswered = () => since().some(({ kind }) => kind === 'access.granted' || kind === 'access.refused');
    await waitUntil('an answer to the coin', isAnswered, 30_000, () => seenKinds(since()));
  }
}

describe('a gateway that is killed at random moments under load', () => {
  test(
    `keeps its journal whole, all that it told, and its modes, ${kills} times`,
    async () => {
      const begun = performance.now();
      await (await startAndStop()).ended;
      const startMs = performance.now() - begun;
      for (let kill = 1; kill <= kills; kill += 1) {
        const moment = chooseMoment();
        try {
          await live(moment, startMs);
        } catch (cause) {
          throw new Error(`seed ${seed}, life ${kill}, killed ${moment}`, { cause });
        }
        if (random() < 0.3) await crowd.present('front-reader', cards.ghost);
      }
      const gateway = house.start();
      const open = await gateway.open();
      await houseAtRest(open);
      await compare(open);
      await useUpCoin(open);
      await ledger.read(open);
      await gateway.stop();
      expect(toldCount).toBeGreaterThan(kills);
    },
    kills * 30_000,
  );

  test('releases no lock without an entry of its own before it, and pulses none by starting', () => {
    for (const door of houseDoors) expect(unexplained(door, house.record(door), ledger.entries)).toEqual([]);
    const releases = house.record('front').filter(({ cause, isPassable }) => cause === 'command' && isPassable);
    expect(releases.length).toBeGreaterThan(kills / 10);
  });

  test('leaves no lock released: the device ends what the gateway does not live to end', () => {
    for (const door of ['front', 'back'] as const) {
      const record = house.record(door);
      expect(record.at(-1)?.isPassable).toBe(false);
      expect(longestPassableMs(record)).toBeLessThan(strikeMs + 5_000);
    }
    const endedByTimer = house.record('back').filter(({ cause }) => cause === 'timer');
    expect(endedByTimer.length).toBeGreaterThan(0);
  });

  test('says of every request under way that it was interrupted', () => {
    expect(unfinished(ledger.entries)).toEqual([]);
    expect(ledger.entries.filter(({ kind }) => kind === 'release.interrupted').length).toBeGreaterThan(0);
  });

  test('grants nothing twice, and nothing that was presented while it was dead', () => {
    const granted = ledger.entries.filter(({ kind }) => kind === 'access.granted');
    for (const [credential, times] of crowd.presented) {
      const own = granted.filter(({ body }) => body['credential'] === credential);
      expect(own.length, credential).toBeLessThanOrEqual(times);
    }
    expect(granted.filter(({ body }) => body['credential'] === `card-${cards.ghost}`)).toEqual([]);
    const requests = granted.map(({ requestId }) => requestId);
    expect(new Set(requests).size).toBe(requests.length);
  });

  test('counts the uses of a card over all its lives', () => {
    const notExecuted = new Set(
      ledger.entries.filter(({ kind }) => kind === 'lock.not-executed').map(({ requestId }) => requestId),
    );
    const used = ledger.entries.filter(
      ({ kind, body, requestId }) =>
        kind === 'access.granted' && body['credential'] === `card-${cards.coin}` && !notExecuted.has(requestId),
    );
    expect(used.length).toBeLessThanOrEqual(coinUsesMax);
    const refused = ledger.entries.filter(({ body }) => body['code'] === 'USES_EXHAUSTED');
    expect(refused.length).toBeGreaterThan(0);
  });

  test('kept every command of an operator that it answered with yes', () => {
    const received = new Set(
      ledger.entries.filter(({ kind }) => kind === 'command.received').map(({ requestId }) => requestId as string),
    );
    expect(crowd.answered.filter((request) => !received.has(request))).toEqual([]);
    expect(crowd.answered.length).toBeGreaterThan(0);
  });
});

async function startAndStop(): Promise<GatewayProcess> {
  const gateway = house.start();
  await houseAtRest(await gateway.open());
  void gateway.stop();
  return gateway;
}

/** The longest time a door could be pushed open, from its first being secured. */
function longestPassableMs(record: readonly StrikeEvent[]): number {
  let since: number | undefined;
  let longest = 0;
  const first = record.findIndex(({ isPassable }) => !isPassable);
  for (const { isPassable, monoMs } of record.slice(first)) {
    if (isPassable) since ??= monoMs;
    else if (since !== undefined) {
      longest = Math.max(longest, monoMs - since);
      since = undefined;
    }
  }
  return longest;
}
