/**
 * Any process of the chain may die at any moment, and the link between gateway and cloud may be cut, while people swipe and an
 * operator changes who may enter: afterwards the gateway holds what the cloud says, the cloud holds what the gateway did,
 * and nothing happened twice.
 *
 * `KANNUKI_FULL=1` does it 200 times instead of 10.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ExplainReport } from '#gateway/control/replies.ts';
import { identifier } from '#shared/identifier.ts';
import type { LinkFault } from '../fakes/network-link.ts';
import { seededRandom } from '../fakes/seeded-random.ts';
import { type CloudHouse, openCloudHouse, until } from './cloud-house.ts';
import { Ledger } from './ledger.ts';

const isFull = process.env['KANNUKI_FULL'] === '1';
const blows = isFull ? 200 : 10;
const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 2 ** 31);
const random = seededRandom(seed);
const cardsCount = 6;
const firstNumber = 100;
/** Between two blows, ms. */
const restMs = { min: 300, max: 2_500 };

let world: CloudHouse;
beforeAll(async () => {
  console.info(`seed ${seed}`);
  world = await openCloudHouse();
}, 240_000);
afterAll(async () => {
  await world?.close();
}, 60_000);

interface Keys {
  /** Credential of each card, in order. */
  readonly ids: string[];
  isOver: boolean;
}

/** What the operator asks for may be lost with the cloud that was asked; it is asked again, or not. */
async function changeOnAndOn(keys: Keys): Promise<void> {
  while (!keys.isOver) {
    const id = keys.ids[Math.floor(random() * keys.ids.length)] ?? '';
    const verb = random() < 0.5 ? 'suspend' : 'restore';
    await world.operator.post(`credentials/${id}/${verb}`).catch(() => undefined);
    await pause(50 + random() * 200);
  }
}

async function swipeOnAndOn(keys: Keys): Promise<void> {
  while (!keys.isOver) {
    const number = firstNumber + Math.floor(random() * (cardsCount + 1));
    const reader = random() < 0.5 ? 'front-reader' : 'back-reader';
    await world.house.present(reader, number).catch(() => undefined);
    await pause(100 + random() * 200);
  }
}

const cutLink = (fault: LinkFault) => async (): Promise<void> => {
  world.link.cut(fault);
  await pause(random() * 3_000);
  world.link.mend();
};

/** Each once, and from then on by chance. */
const strikes: readonly (() => Promise<void>)[] = [
  async () => {
    await world.killCloud();
    await pause(random() * 1_500);
    await world.startCloud();
  },
  async () => {
    await world.killEdge();
    await pause(random() * 1_500);
    world.startEdge();
  },
  () => world.restartDoor(),
  async () => {
    await world.killDatabase();
    await world.killCloud();
    await world.startCloud();
  },
  cutLink('closed'),
  cutLink('silent'),
  cutLink('one-way'),
];

it(`ends as if nothing had happened, struck ${blows} times`, { timeout: isFull ? 7_200_000 : 600_000 }, async () => {
  const keys: Keys = { ids: [], isOver: false };
  for (let card = 0; card < cardsCount; card += 1) keys.ids.push(await world.issue(firstNumber + card));
  const life = Promise.all([changeOnAndOn(keys), swipeOnAndOn(keys)]);
  for (let blow = 0; blow < blows; blow += 1) {
    await pause(restMs.min + random() * (restMs.max - restMs.min));
    await strikes[blow < strikes.length ? blow : Math.floor(random() * strikes.length)]?.();
  }
  keys.isOver = true;
  await life;
  await replicaIsTheClouds(keys);
  nothingHappenedTwice(await historyIsComplete());
});

/** By the gateway's own signed word, and by what a door then does. */
async function replicaIsTheClouds({ ids }: Keys): Promise<void> {
  await until(
    'the gateway to stand where its feed ends',
    async () => {
      const { feed } = await world.operator.get(`gateways/${world.gatewayId}`);
      return feed.lag === 0 && feed.queued === 0 && feed.isSame === true;
    },
    180_000,
  );
  for (const [card, id] of ids.entries()) {
    const { status } = await world.operator.get(`credentials/${id}`);
    const named = { door: identifier<'door'>('front'), presented: { credential: identifier<'credential'>(id) } };
    const { code } = (await world.open.client.call('simulate', named)) as ExplainReport;
    expect({ card, code }).toEqual({
      card,
      code: status === 'suspended' ? 'CREDENTIAL_SUSPENDED' : 'GRANTED',
    });
  }
}

/** Every entry of the gateway is in the cloud, in its order, once. */
async function historyIsComplete(): Promise<Ledger> {
  const ledger = new Ledger();
  await ledger.read(world.open);
  const last = ledger.entries.at(-1);
  await until(
    'all history to have arrived',
    async () => {
      const { journal } = await world.operator.get(`gateways/${world.gatewayId}`);
      return journal.epoch === last?.epoch && journal.seq >= (last?.seq ?? 0);
    },
    180_000,
  );
  const told: { readonly seq: number; readonly kind: string; readonly request: string | null }[] = [];
  let cursor: string | undefined;
  do {
    const page = await world.operator.get(`journal?limit=100${cursor === undefined ? '' : `&cursor=${cursor}`}`);
    told.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  const known = new Map(told.map((entry) => [entry.seq, entry]));
  expect(told).toHaveLength(known.size);
  for (const { seq, kind, requestId } of ledger.entries)
    expect(known.get(seq)).toMatchObject({ seq, kind, request: requestId });
  return ledger;
}

function nothingHappenedTwice({ entries }: Ledger): void {
  const releases = new Map<string, number>();
  for (const { kind, requestId } of entries)
    if (kind === 'lock.released' && requestId !== null) releases.set(requestId, (releases.get(requestId) ?? 0) + 1);
  expect([...releases.values()].filter((count) => count > 1)).toEqual([]);
}
