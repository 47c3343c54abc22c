/** The gateway is asked to stop and started again under load, and its locks are watched: nothing may move by itself. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Entry } from '#gateway/journal/entry.ts';
import { identifier } from '#shared/identifier.ts';
import { seededRandom } from '../fakes/seeded-random.ts';
import { waitUntil } from '../fakes/wait-until.ts';
import { Crowd } from './crowd.ts';
import { Ledger } from './ledger.ts';
import { unexplained, unfinished } from './strike-evidence.ts';
import { houseAtRest, houseDoors, openHouse, type TestHouse } from './test-house.ts';

const restarts = process.env['KANNUKI_FULL'] === '1' ? 100 : 10;
const seed = Math.floor(Math.random() * 2 ** 32);
const random = seededRandom(seed);
const ledger = new Ledger();
let house: TestHouse;
let yardEvents = 0;

beforeAll(async () => {
  console.log(`seed ${seed}`);
  house = await openHouse();
  const gateway = house.start();
  const open = await gateway.open();
  await house.import(open);
  await houseAtRest(open);
  await open.client.call('mode', { door: identifier<'door'>('yard'), mode: 'free' });
  await waitUntil('the yard to stand free', () => house.record('yard').at(-1)?.isPassable === true);
  await gateway.stop();
  yardEvents = house.record('yard').length;
}, 120_000);
afterAll(() => house.close(), 60_000);

describe('a gateway that is restarted under load', () => {
  test(
    `stops in order and knows everything it told, ${restarts} times`,
    async () => {
      const crowd = new Crowd(house, random);
      let told: readonly Entry[] = [];
      for (let restart = 0; restart <= restarts; restart += 1) {
        const gateway = house.start();
        const open = await gateway.open();
        await houseAtRest(open);
        await ledger.read(open);
        expect(ledger.missing(told)).toEqual([]);
        const isLast = restart === restarts;
        const siege = isLast ? undefined : crowd.besiege(open, { isYardLeftAlone: true });
        const enough = open.seen.length + (isLast ? 0 : 5 + Math.floor(random() * 15));
        await waitUntil('some load', () => open.seen.length >= enough, 60_000);
        expect(await gateway.stop()).toBe('exit code 0');
        await siege;
        told = open.seen;
      }
    },
    restarts * 60_000,
  );

  test('moves no lock that nobody asked it to move', () => {
    for (const door of houseDoors) expect(unexplained(door, house.record(door), ledger.entries)).toEqual([]);
    expect(house.record('front').filter(({ cause, isOn }) => cause === 'command' && isOn)).not.toEqual([]);
  });

  test('leaves a door that stands free as it stands: not one command', () => {
    expect(house.record('yard').length).toBe(yardEvents);
    expect(house.record('yard').at(-1)).toMatchObject({ isPassable: true });
  });

  test('leaves no request without an end', () => {
    expect(unfinished(ledger.entries)).toEqual([]);
  });
});
