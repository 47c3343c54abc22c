/** The gateway is killed while a facility is being imported: the former one or the new one is in force, never a mixture. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ControlLost } from '#gateway/control/edge-side.ts';
import type { ExplainReport, StatusReport } from '#gateway/control/replies.ts';
import { journalPath } from '#gateway/journal/open-stores.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { identifier } from '#shared/identifier.ts';
import { seededRandom } from '../fakes/seeded-random.ts';
import { readFirstKey } from './first-key.ts';
import type { OpenGateway } from './running-gateway.ts';
import {
  cardBits,
  cards,
  firstExtraCard,
  houseAtRest,
  houseFacility,
  openHouse,
  type TestHouse,
} from './test-house.ts';

const kills = process.env['KANNUKI_FULL'] === '1' ? 200 : 12;
const seed = Math.floor(Math.random() * 2 ** 32);
const random = seededRandom(seed);
const extra = 600;
/** Only the old one knows Mei's card, only the new one the others. */
const facilities = {
  old: houseFacility({ name: 'Old house' }),
  new: houseFacility({ name: 'New house', extra, isWithoutMei: true }),
};
type Which = keyof typeof facilities;

let house: TestHouse;
let firstKey: Uint8Array;
let importMs = 0;

beforeAll(async () => {
  console.log(`seed ${seed}`);
  house = await openHouse();
  const gateway = house.start();
  const open = await gateway.open();
  const begun = performance.now();
  await house.import(open, facilities.new);
  importMs = performance.now() - begun;
  await house.import(open, facilities.old);
  await houseAtRest(open);
  await gateway.stop();
  firstKey = readFirstKey(house.dataDir);
}, 120_000);
afterAll(() => house.close(), 60_000);

async function knows({ client }: OpenGateway, card: number): Promise<boolean> {
  const call = { door: identifier<'door'>('front'), presented: { card: { bits: cardBits(card) } } };
  const { code } = (await client.call('simulate', call)) as ExplainReport;
  return code !== 'CREDENTIAL_UNKNOWN';
}

/** Which facility is in force, by everything that would tell. */
async function inForce(open: OpenGateway): Promise<{ readonly which: Which; readonly epoch: number }> {
  const { facility, replica }: StatusReport = await open.status();
  expect(replica.state).toBe('live');
  const which = facility?.name === 'Old house' ? 'old' : 'new';
  const known = {
    mei: await knows(open, cards.mei),
    first: await knows(open, firstExtraCard),
    last: await knows(open, firstExtraCard + extra - 1),
  };
  expect(known).toEqual({ mei: which === 'old', first: which === 'new', last: which === 'new' });
  return { which, epoch: replica.epoch };
}

describe('a gateway that is killed while it imports', () => {
  test(
    `has one facility in force, and the one it answered for, ${kills} times`,
    async () => {
      let before: { readonly which: Which; readonly epoch: number } = { which: 'old', epoch: 0 };
      let answered: Which | undefined;
      for (let kill = 0; kill <= kills; kill += 1) {
        const gateway = house.start();
        const open = await gateway.open();
        const now = await inForce(open);
        expect(now.epoch, `seed ${seed}, kill ${kill}`).toBeGreaterThanOrEqual(before.epoch);
        if (answered !== undefined) expect(now.which, `seed ${seed}, kill ${kill}`).toBe(answered);
        expect(now.which === before.which || now.epoch > before.epoch).toBe(true);
        expect(verifyJournal(journalPath(house.dataDir), firstKey)).toMatchObject({ kind: 'whole' });
        const next = now.which === 'old' ? 'new' : 'old';
        const importing = house.import(open, facilities[next]).then(
          () => next,
          (error: unknown) => {
            if (error instanceof ControlLost) return undefined;
            throw error;
          },
        );
        await pause(random() * importMs * 1.2);
        await gateway.kill();
        answered = await importing;
        before = now;
      }
    },
    kills * 60_000,
  );

  test('pulses no lock by any of it', () => {
    for (const door of ['front', 'yard', 'back'] as const) {
      const opened = house.record(door).filter(({ cause, isPassable }) => cause !== 'start' && isPassable);
      expect(opened).toEqual([]);
    }
  });
});
