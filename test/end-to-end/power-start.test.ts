/** What a gateway does that is started where something is missing, or where another one runs already. */
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { ControlClient } from '#gateway/control/edge-side.ts';
import { ControlRefusal } from '#gateway/control/messages.ts';
import { journalPath } from '#gateway/journal/open-stores.ts';
import { verifyJournal } from '#gateway/journal/verify-journal.ts';
import { seededRandom } from '../fakes/seeded-random.ts';
import { readFirstKey } from './first-key.ts';
import { type GatewayProcess, type OpenGateway, runCommand, startGateway } from './running-gateway.ts';
import { type HouseConfig, houseAtRest, openHouse, type TestHouse } from './test-house.ts';

let house: TestHouse;
let config: HouseConfig;
const others: GatewayProcess[] = [];

beforeAll(async () => {
  house = await openHouse({
    configure: (given) => {
      config = given;
      return given;
    },
  });
  const gateway = house.start();
  const open = await gateway.open();
  await house.import(open);
  await houseAtRest(open);
  await gateway.stop();
}, 120_000);
afterEach(async () => {
  await Promise.all(others.map((gateway) => gateway.kill()));
});
afterAll(() => house.close(), 60_000);

/** A gateway with another configuration, in a folder of its own. */
function startOther(change: object, name: string): GatewayProcess {
  const configFile = join(house.dir, `${name}.yaml`);
  const runDir = join(house.dir, `run-${name}`);
  writeFileSync(configFile, stringify({ ...config, runDir, ...change }));
  const logFile = join(house.dir, `${name}.log`);
  const other = startGateway({ ...house, configFile, logFile, adminSocket: join(runDir, 'admin.sock') });
  others.push(other);
  return other;
}

/** With what every call is refused, once it is more than that it is starting. */
async function waitingCode(client: ControlClient): Promise<string> {
  for (;;) {
    try {
      await client.call('status', {});
      return 'open';
    } catch (error) {
      if (!(error instanceof ControlRefusal)) throw error;
      if (error.code !== 'UNAVAILABLE') return error.code;
      await pause(20);
    }
  }
}

const eventsOf = (): number => house.record('front').length + house.record('back').length + house.record('yard').length;

describe('a gateway without its master key', () => {
  const keyFile = () => join(house.dataDir, 'master.key');
  const aside = () => join(house.dir, 'master.key');

  test.each([
    {
      what: 'is missing',
      code: 'MASTER_KEY_MISSING',
      harm: () => renameSync(keyFile(), aside()),
      heal: () => renameSync(aside(), keyFile()),
      doctor: /✗ fail master key: .*does not exist, and .* holds data/,
    },
    {
      what: 'can be read by others',
      code: 'MASTER_KEY_EXPOSED',
      harm: () => chmodSync(keyFile(), 0o444),
      heal: () => chmodSync(keyFile(), 0o400),
      doctor: /✗ fail master key: .*can be read by others/,
    },
    {
      what: 'is another',
      code: 'STORE_WRONG_KEY',
      harm: () => {
        renameSync(keyFile(), aside());
        writeFileSync(keyFile(), new Uint8Array(32).fill(7), { mode: 0o400 });
      },
      heal: () => renameSync(aside(), keyFile()),
      doctor: /gateway: runs, and waits: /,
    },
  ])(
    'that $what says so, moves nothing, and works without a restart when it is back',
    async (trouble) => {
      const before = eventsOf();
      trouble.harm();
      const gateway = house.start();
      const client = await gateway.connect();
      expect(await waitingCode(client)).toBe(trouble.code);
      client.close();
      const doctor = await runCommand('doctor', '--config', house.configFile);
      expect(doctor.code).toBe(1);
      expect(doctor.out).toMatch(trouble.doctor);
      expect(doctor.out).toContain(`[${trouble.code}]`);
      expect(await runCommand('status', '--config', house.configFile)).toMatchObject({
        code: 1,
        err: expect.stringContaining(`[${trouble.code}]`),
      });
      trouble.heal();
      await houseAtRest(await gateway.open());
      expect(eventsOf()).toBe(before);
      expect(await gateway.stop()).toBe('exit code 0');
    },
    120_000,
  );
});

describe('a second gateway', () => {
  let first: GatewayProcess;
  let open: OpenGateway;
  beforeAll(async () => {
    first = house.start();
    open = await first.open();
    await houseAtRest(open);
  }, 60_000);
  afterAll(() => first.stop());

  test('at the same sockets says so and ends, and the first does not notice', async () => {
    const second = house.start();
    expect(await second.ended).toBe('exit code 1');
    expect(second.log()).toContain('[CONTROL_SOCKET_IN_USE]');
    expect((await open.status()).devices.every(({ state }) => state === 'online')).toBe(true);
    expect((await runCommand('status', '--config', house.configFile)).code).toBe(0);
  }, 60_000);

  test('in the same data folder says so and ends, and the first does not notice', async () => {
    const before = open.seen.length;
    const second = startOther({}, 'second');
    expect(await second.ended).toBe('exit code 1');
    expect(second.log()).toContain('[DATA_FOLDER_IN_USE]');
    expect(readdirSync(join(house.dir, 'run-second'))).toEqual([]);
    expect((await open.status()).devices.every(({ state }) => state === 'online')).toBe(true);
    expect(open.seen.slice(before).filter(({ kind }) => kind === 'device.offline' || kind === 'alarm.raised')).toEqual(
      [],
    );
  }, 60_000);

  test('takes over at once from one that was killed', async () => {
    await first.kill();
    first = house.start();
    open = await first.open();
    await houseAtRest(open);
  }, 60_000);
});

describe('a gateway with a line that nobody is at', () => {
  test('opens without it, says which, and takes it when somebody is there', async () => {
    const listener = createServer((socket) => socket.on('error', () => {}));
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const { port } = listener.address() as { port: number };
    await new Promise((done) => listener.close(done));
    const devices = [{ id: 'far-reader', address: 0 }];
    const lines = [...config.lines, { id: 'far', tcp: `127.0.0.1:${port}`, devices }];
    const gateway = startOther({ lines }, 'far');
    const open = await gateway.open();
    await houseAtRest(open);
    const stateOf = async () => (await open.status()).lines.find(({ line }) => line === 'far')?.state;
    expect(await stateOf()).not.toBe('open');
    const doctor = await runCommand('doctor', '--config', join(house.dir, 'far.yaml'));
    expect(doctor).toMatchObject({ code: 1, out: expect.stringMatching(/✗ fail line far/) });
    listener.listen(port, '127.0.0.1');
    while ((await stateOf()) !== 'open') await pause(50);
    expect(await gateway.stop()).toBe('exit code 0');
    listener.close();
  }, 120_000);
});

describe('a gateway that is killed in its first minutes', () => {
  const kills = process.env['KANNUKI_FULL'] === '1' ? 100 : 6;
  const seed = Math.floor(Math.random() * 2 ** 32);

  test(
    `leaves a folder from which the next start comes up, ${kills} times`,
    async () => {
      const random = seededRandom(seed);
      for (let kill = 0; kill < kills; kill += 1) {
        const dataDir = mkdtempSync(join(tmpdir(), 'kannuki-first-'));
        const change = { dataDir, lines: [] };
        const firstStart = startOther(change, 'first');
        await (await firstStart.connect()).close();
        await pause(random() * 300);
        await firstStart.kill();
        const gateway = startOther(change, 'first');
        const open = await gateway.open();
        expect((await open.status()).alarms, `seed ${seed}, kill ${kill}`).toEqual([]);
        await gateway.stop();
        const verdict = verifyJournal(journalPath(dataDir), readFirstKey(dataDir));
        expect(verdict, `seed ${seed}, kill ${kill}`).toMatchObject({ kind: 'whole', first: { epoch: 1, seq: 1 } });
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
    kills * 30_000,
  );
});
