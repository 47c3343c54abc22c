/** The disk under a real gateway fills, or may not be written: it says so, opens nothing, and is well again by itself. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ControlRefusal } from '#gateway/control/messages.ts';
import { journalPath } from '#gateway/journal/open-stores.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { identifier } from '#shared/identifier.ts';
import { waitUntil } from '../fakes/wait-until.ts';
import { readFirstKey } from './first-key.ts';
import { mountSmallDisk } from './full-disk.ts';
import { type GatewayProcess, type OpenGateway, runCommand } from './running-gateway.ts';
import { cards, houseAtRest, openHouse, type TestHouse } from './test-house.ts';

const mountPoint = mkdtempSync(join(tmpdir(), 'kannuki-disk-'));
const disk = mountSmallDisk(mountPoint, 24);
let house: TestHouse;
let gateway: GatewayProcess;
let open: OpenGateway;
let firstKey: Uint8Array;

beforeAll(async () => {
  if (disk === undefined) return;
  house = await openHouse({ dataDir: mountPoint });
  gateway = house.start();
  open = await gateway.open();
  await house.import(open);
  await houseAtRest(open);
  await gateway.stop();
  firstKey = readFirstKey(house.dataDir);
}, 120_000);
afterEach(async () => {
  await gateway?.kill();
  disk?.setReadOnly(false);
  disk?.free();
});
afterAll(async () => {
  await house?.close();
  disk?.unmount();
  rmSync(mountPoint, { recursive: true, force: true });
}, 60_000);

const releases = () => house.record('front').filter(({ cause, isOn }) => cause === 'command' && isOn).length;
const granted = () => open.seen.filter(({ kind }) => kind === 'access.granted').length;
const front = identifier<'door'>('front');

/** Presents until it is let in: a card that comes with the connection itself is discarded. */
async function getIn(): Promise<void> {
  const before = granted();
  while (granted() === before) {
    await house.present('front-reader', cards.aiko);
    const end = performance.now() + 2_000;
    while (granted() === before && performance.now() < end) await pause(10);
  }
}

/** Commands that reached the strike; a former release that ends by its own timer is none. */
const orders = (): number => house.record('front').filter(({ cause }) => cause === 'command').length;

/** The state of the journal, or the code with which everything is refused. */
async function journalState(): Promise<string> {
  try {
    return (await open.status()).journal.state;
  } catch (error) {
    if (error instanceof ControlRefusal) return error.code;
    throw error;
  }
}

async function untilJournal(state: string): Promise<void> {
  while ((await journalState()) !== state) await pause(50);
}

const codeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return 'accepted';
  } catch (error) {
    if (error instanceof ControlRefusal) return error.code;
    throw error;
  }
};

describe.skipIf(disk === undefined)('a gateway whose disk fills', () => {
  test('says so and opens nothing, and is well again without a restart when there is room', async () => {
    gateway = house.start();
    open = await gateway.open();
    await houseAtRest(open);
    await getIn();
    // The reserve is given back once, so the disk has to be filled until nothing is left of that either.
    while ((await journalState()) === 'available') {
      disk?.fill();
      await codeOf(open.client.call('mode', { door: front, mode: 'controlled' }));
    }
    expect(await journalState()).toBe('full');
    const before = releases();
    expect(await codeOf(open.client.call('release', { door: front }))).toBe('JOURNAL_UNAVAILABLE');
    await house.present('front-reader', cards.aiko);
    const { alarms, doors } = await open.status();
    expect(alarms.map(({ code }) => code)).toContain('STORAGE_FULL');
    expect(doors.find(({ id }) => id === 'front')?.state).not.toBe('unknown');
    expect((await runCommand('doctor', '--config', house.configFile)).out).toMatch(/✗ fail journal: full/);
    disk?.free();
    await untilJournal('available');
    await waitUntil('the refusal to be told', () =>
      open.seen.some(({ kind, body }) => kind === 'access.refused' && body['code'] === 'JOURNAL_UNAVAILABLE'),
    );
    expect(releases()).toBe(before);
    await getIn();
    const standing = (await open.status()).alarms.map(({ code }) => code);
    expect(standing).not.toContain('STORAGE_FULL');
    expect(verifyJournal(journalPath(house.dataDir), firstKey)).toMatchObject({ kind: 'whole' });
    expect(await gateway.stop()).toBe('exit code 0');
  }, 120_000);

  test('started on a full disk, names it, pulses nothing, and works when there is room', async () => {
    const before = orders();
    disk?.fill();
    gateway = house.start();
    const client = await gateway.connect();
    let code = 'UNAVAILABLE';
    while (code === 'UNAVAILABLE') code = await codeOf(client.call('status', {}));
    client.close();
    if (code !== 'accepted') expect(code).toBe('STORE_FULL');
    expect(gateway.isGone()).toBe(false);
    expect(orders()).toBe(before);
    disk?.free();
    open = await gateway.open();
    await houseAtRest(open);
    await untilJournal('available');
    await getIn();
    expect(await gateway.stop()).toBe('exit code 0');
  }, 120_000);

  test('killed on a full disk, lost nothing it told', async () => {
    gateway = house.start();
    open = await gateway.open();
    await houseAtRest(open);
    await getIn();
    disk?.fill();
    await codeOf(open.client.call('mode', { door: front, mode: 'controlled' }));
    await gateway.kill();
    await open.lost;
    const told = open.seen.at(-1)?.seq ?? 0;
    disk?.free();
    gateway = house.start();
    open = await gateway.open();
    const verdict = verifyJournal(journalPath(house.dataDir), firstKey);
    expect(verdict).toMatchObject({ kind: 'whole' });
    if (verdict.kind === 'whole') expect(verdict.last?.seq).toBeGreaterThanOrEqual(told);
    await gateway.stop();
  }, 120_000);
});

describe.skipIf(disk === undefined)('a gateway whose data folder may not be written', () => {
  test('says so and opens nothing, and works without a restart when it may', async () => {
    const before = orders();
    disk?.setReadOnly(true);
    gateway = house.start();
    const client = await gateway.connect();
    let code = 'UNAVAILABLE';
    while (code === 'UNAVAILABLE') code = await codeOf(client.call('status', {}));
    expect(code).toBe('STORE_READ_ONLY');
    client.close();
    const doctor = await runCommand('doctor', '--config', house.configFile);
    expect(doctor).toMatchObject({
      code: 1,
      out: expect.stringMatching(/gateway: runs, and waits: .*STORE_READ_ONLY/),
    });
    expect(orders()).toBe(before);
    disk?.setReadOnly(false);
    open = await gateway.open();
    await houseAtRest(open);
    await getIn();
    expect(await gateway.stop()).toBe('exit code 0');
  }, 120_000);
});
