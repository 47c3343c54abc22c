import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, type TestContext } from 'vitest';
import type { DeviceCommand } from '#gateway/device/driver.ts';
import { encodeFrame } from '#protocol/osdp/frame.ts';
import { identifier } from '#shared/identifier.ts';
import { later } from '#shared/instant.ts';
import { benchNow, createBench, deviceAt, deviceConfig, keyAt, openPtyBench } from '../../../fakes/osdp-bench.ts';
import { OsdpPeer, type PeerReader } from '../../../fakes/osdp-peer.ts';
import { openPtyPair } from '../../../fakes/pty-pair.ts';
import { waitUntil } from '../../../fakes/wait-until.ts';

/** The longest a reader may take to be back once it can answer. */
const backWithinMs = 6_000;
const card = Uint8Array.of(0xbd, 0xd9, 0x37, 0x40);
const requestId = identifier<'request'>('request-1');
const release: DeviceCommand = { kind: 'release', requestId, lock: { output: 0, release: 'energise' }, ms: 3_000 };
const keyed = (address: number): PeerReader => ({ address, key: keyAt(address) });
const plain = (address: number): PeerReader => ({ address });

type Bench = Awaited<ReturnType<typeof openPtyBench>>;
/** Opened for one test and closed with it. */
const open = async ({ onTestFinished }: TestContext, ...args: Parameters<typeof openPtyBench>): Promise<Bench> => {
  const bench = await openPtyBench(...args);
  onTestFinished(() => bench.close());
  return bench;
};
const tell = (bench: Pick<Bench, 'bus'>, address: number, command: DeviceCommand = release) =>
  bench.bus.command(deviceAt(address), command, later(benchNow(), 2_000));

describe.concurrent('a bus and its readers', () => {
  it('brings up readers in their own channels and tells their state', async (context) => {
    const bench = await open(context, [keyed(1), plain(2)]);
    await bench.online(1, 2);
    expect(bench.told('online', 1)).toMatchObject([
      { channel: 'secure', identity: { serial: '1001', firmware: '1.2.3' } },
    ]);
    expect(bench.told('online', 2)).toMatchObject([{ channel: 'plain' }]);
    await waitUntil('the state of both', () => [1, 2].every((address) => bench.told('output', address).length === 2));
    expect(bench.told('input', 1).map(({ input, state }) => [input, state])).toEqual([
      [0, 'inactive'],
      [1, 'inactive'],
    ]);
    expect(bench.told('tamper', 1)).toMatchObject([{ isActive: false }]);
    expect(bench.peer.isSecure(1)).toBe(true);
  });

  it('tells what happens at a reader once, in order', async (context) => {
    const bench = await open(context, [keyed(1)]);
    await bench.online(1);
    await waitUntil('its outputs', () => bench.told('output', 1).length === 2);
    const before = bench.events.length;
    bench.peer.swipe(1, 26, card);
    bench.peer.present(1, { kind: 'keys', reader: 0, keys: Uint8Array.of(0x31, 0x32, 0x0d) });
    bench.peer.present(1, { kind: 'input-status', inputs: ['active', 'inactive'] });
    bench.peer.present(1, { kind: 'local-status', isTampered: true, hasPowerFailed: false });
    await waitUntil('all four', () => bench.events.length >= before + 4);
    expect(bench.events.slice(before)).toMatchObject([
      { kind: 'card', head: 0, bitCount: 26, bytes: card },
      { kind: 'keys', head: 0, keys: '12#' },
      { kind: 'input', input: 0, state: 'active' },
      { kind: 'tamper', isActive: true },
    ]);
  });

  it('releases by the reader’s own timer', async (context) => {
    const bench = await open(context, [keyed(1)]);
    await bench.online(1);
    expect(await tell(bench, 1)).toEqual({ kind: 'done' });
    const magnet: DeviceCommand = { ...release, lock: { output: 1, release: 'de-energise' }, ms: 450 };
    expect(await tell(bench, 1, magnet)).toEqual({ kind: 'done' });
    expect(bench.peer.orders).toEqual(['1 0 on-for-timer 3000', '1 1 off-for-timer 500']);
  });

  it('shows feedback, and the lasting state again after a reconnection', async (context) => {
    const bench = await open(context, [keyed(1)]);
    await bench.online(1);
    const permanent = () =>
      bench.peer.effects
        .flatMap((effect) => (effect.kind === 'led' ? effect.records : []))
        .map(({ permanent: half }) => half)
        .filter((half) => half.action === 'set')
        .map((half) => half.onColor);
    await waitUntil('the idle lamp', () => permanent().length === 1);
    expect(await tell(bench, 1, { kind: 'feedback', head: 0, signal: 'free', ms: 0 })).toEqual({ kind: 'done' });
    expect(await tell(bench, 1, { kind: 'feedback', head: 0, signal: 'granted', ms: 3_000 })).toEqual({ kind: 'done' });
    expect(bench.peer.effects.some((effect) => effect.kind === 'buzzer')).toBe(true);
    expect(permanent()).toEqual(['red', 'green']);
    bench.peer.setPower(1, false);
    bench.peer.setPower(1, true);
    await waitUntil('the lamp after the power cycle', () => permanent().length === 3, backWithinMs);
    expect(permanent()).toEqual(['red', 'green', 'green']);
  });

  it('discards, and says so, what waited in a reader from before the connection', async () => {
    const cable = await openPtyPair();
    const peer = new OsdpPeer([keyed(1)]);
    await peer.attach(cable.far);
    peer.swipe(1, 26, card);
    peer.present(1, { kind: 'keys', reader: 0, keys: Uint8Array.of(0x31) });
    const bench = createBench(cable.near, peer, [deviceConfig(keyed(1))]);
    bench.bus.open((event) => bench.events.push(event));
    await waitUntil('both', () => bench.told('discarded').length === 2);
    await bench.online(1);
    peer.swipe(1, 26, card);
    await waitUntil('the new card', () => bench.told('card').length > 0);
    expect(bench.told('discarded').map((event) => event.what)).toEqual(['card', 'keys']);
    expect(bench.told('card')).toHaveLength(1);
    expect(bench.told('keys')).toHaveLength(0);
    await bench.bus.close();
    await peer.detach();
    await cable.close();
  });
});

describe.concurrent('trouble on the line', () => {
  it('finds its readers again after the adapter was pulled and put back', async (context) => {
    const bench = await open(context, [keyed(1), keyed(2)]);
    await bench.online(1, 2);
    await bench.cable.unplug();
    await waitUntil('the loss', () => bench.stateOf(1) === 'offline' && bench.stateOf(2) === 'offline');
    expect(bench.told('offline', 1)).toMatchObject([{ reason: 'line-down' }]);
    await waitUntil('the name of the trouble', () => bench.bus.lineHealth().state === 'missing');
    await bench.peer.detach();
    await bench.cable.plug();
    await bench.peer.attach(bench.cable.far);
    await waitUntil('the return', () => bench.stateOf(1) === 'online' && bench.stateOf(2) === 'online', backWithinMs);
    expect(await tell(bench, 1)).toEqual({ kind: 'done' });
  });

  it('has a reader back soon after its own cable was cut for longer than the standard’s eight seconds', async (context) => {
    const bench = await open(context, [keyed(1), keyed(2)]);
    await bench.online(1, 2);
    bench.peer.setPower(1, false);
    await waitUntil('the silence', () => bench.stateOf(1) === 'offline');
    expect(bench.told('offline', 1)).toMatchObject([{ reason: 'silent' }]);
    expect(bench.told('offline', 2)).toEqual([]);
    bench.peer.setPower(1, true);
    await waitUntil('the return', () => bench.stateOf(1) === 'online', backWithinMs);
    expect(bench.told('offline', 2)).toEqual([]);
  });

  it('has the only reader of a converter back soon, however long it was without power', {
    timeout: 90_000,
  }, async () => {
    const peer = new OsdpPeer([keyed(1)]);
    const bench = createBench(await peer.listen(), peer, [deviceConfig(keyed(1))]);
    peer.setPower(1, false);
    bench.bus.open((event) => bench.events.push(event));
    // By then the probes are as rare as they become; worst is a power that returns just after one.
    await waitUntil('the tenth probe', () => peer.heard.length >= 10, 60_000);
    peer.setPower(1, true);
    await waitUntil('the return', () => bench.stateOf(1) === 'online', backWithinMs);
    await bench.bus.close();
    await peer.detach();
  });

  it('resumes with a reader whose power only blinked, and leaves the others alone', async (context) => {
    const bench = await open(context, [keyed(1), keyed(2)]);
    await bench.online(1, 2);
    const sessions = () =>
      bench.peer.effects.filter((effect) => effect.kind === 'session' && effect.state === 'secure');
    expect(sessions()).toHaveLength(2);
    bench.peer.setPower(1, false);
    bench.peer.setPower(1, true);
    await waitUntil('a new session', () => sessions().length === 3, backWithinMs);
    bench.peer.swipe(2, 26, card);
    await waitUntil('a card at the other', () => bench.told('card', 2).length === 1);
    expect(sessions().map((effect) => effect.address)).toEqual([1, 2, 1]);
    expect(bench.told('offline', 2)).toEqual([]);
  });

  it('alarms when another reader answers at the address, and never gives it a key', async (context) => {
    const expectedIdentity = { vendor: '4b414e', model: '7', serial: '1001', firmware: '1.2.3' };
    const bench = await open(context, [keyed(1)], {
      devices: [deviceConfig(keyed(1), { expectedIdentity, allowsInstall: true })],
    });
    await bench.online(1);
    await bench.peer.detach();
    const stranger = new OsdpPeer([{ address: 1, serial: 666, isInstallMode: true }]);
    await stranger.attach(bench.cable.far);
    await waitUntil('the alarm', () => bench.told('alarm').length > 0);
    await waitUntil('the end of the old one', () => bench.stateOf(1) === 'offline');
    stranger.swipe(1, 26, card);
    expect(await tell(bench, 1)).toEqual({ kind: 'not-executed', reason: 'offline' });
    expect(bench.told('alarm').map((event) => event.code)).toContain('DEVICE_IDENTITY_CHANGED');
    expect(bench.told('card')).toEqual([]);
    expect(stranger.keyOf(1)).toBeUndefined();
    await stranger.detach();
  });

  it('is not disturbed by replies that come in pieces or in clumps', async (context) => {
    const bench = await open(context, [keyed(1)]);
    bench.peer.deliver = (_, bytes) => [
      { bytes: bytes.subarray(0, 1), afterMs: 0 },
      { bytes: bytes.subarray(1, 9), afterMs: 3 },
      { bytes: bytes.subarray(9), afterMs: 3 },
    ];
    await bench.online(1);
    for (let count = 1; count <= 5; count += 1) {
      bench.peer.swipe(1, 26, card);
      await waitUntil('the card', () => bench.told('card').length === count);
    }
    expect(bench.told('offline')).toEqual([]);
  });

  it('drops the echo of a two-wire adapter and counts it', async (context) => {
    const bench = await open(context, [keyed(1)]);
    bench.peer.deliver = (_, bytes) => {
      const echo = bench.peer.heard.at(-1)?.bytes ?? bytes;
      return [{ bytes: Buffer.concat([Uint8Array.of(0xff), echo, bytes]), afterMs: 0 }];
    };
    await bench.online(1);
    expect(bench.bus.lineHealth().echoes).toBeGreaterThan(3);
    expect(bench.told('alarm')).toEqual([]);
  });

  it('reports a second panel on the line', async (context) => {
    const bench = await open(context, [keyed(1)]);
    await bench.online(1);
    const parts = { address: 1, isReply: false, sequence: 0, check: 'crc', security: undefined, code: 0x61 } as const;
    await bench.peer.babble(encodeFrame({ ...parts, data: Uint8Array.of(0) }));
    await waitUntil('the alarm', () => bench.told('alarm').length > 0);
    expect(bench.told('alarm')).toMatchObject([{ code: 'LINE_FOREIGN_PANEL' }]);
    expect(bench.bus.lineHealth().foreignFrames).toBeGreaterThan(0);
  });

  it('takes a late reply neither for another answer nor for another card', async (context) => {
    const bench = await open(context, [keyed(1)]);
    await bench.online(1);
    let isLate = true;
    bench.peer.deliver = (_, bytes) => {
      const afterMs = isLate ? 230 : 0;
      isLate = false;
      return [{ bytes, afterMs }];
    };
    bench.peer.swipe(1, 26, card);
    await waitUntil('the card', () => bench.told('card').length > 0);
    expect(await tell(bench, 1)).toEqual({ kind: 'done' });
    expect(bench.told('card')).toHaveLength(1);
    expect(bench.told('offline')).toEqual([]);
  });

  it('repeats for a lost reply and tells the card in it once', async (context) => {
    const bench = await open(context, [keyed(1)]);
    await bench.online(1);
    let lost = 0;
    bench.peer.deliver = (_, bytes) => {
      // Only a reply with data is long: the card's.
      if (bytes.length > 20 && lost < 2) {
        lost += 1;
        return [];
      }
      return [{ bytes, afterMs: 0 }];
    };
    bench.peer.swipe(1, 26, card);
    await waitUntil('the card', () => bench.told('card').length > 0);
    expect(await tell(bench, 1)).toEqual({ kind: 'done' });
    expect(lost).toBe(2);
    expect(bench.told('card')).toHaveLength(1);
    expect(bench.bus.health()[0]?.retries).toBeGreaterThanOrEqual(2);
  });

  it('lives through a storm of noise, and opens nothing by it', async (context) => {
    const { KANNUKI_SEED = '20261' } = process.env;
    const seed = Number(KANNUKI_SEED);
    console.log(`noise seed ${seed}`);
    let state = seed;
    const noise = (length: number) =>
      Uint8Array.from({ length }, () => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        // Plenty of beginnings of messages among it.
        return state >>> 28 === 0 ? 0x53 : (state >>> 16) & 0xff;
      });
    const bench = await open(context, [keyed(1), keyed(2)]);
    await bench.online(1, 2);
    bench.peer.deliver = (_, bytes) => [{ bytes: Buffer.concat([noise(40), bytes, noise(7)]), afterMs: 0 }];
    const heard = bench.peer.heard.length;
    await waitUntil('forty exchanges', () => bench.peer.heard.length > heard + 40);
    bench.peer.deliver = (_, bytes) => [{ bytes, afterMs: 0 }];
    await waitUntil('both readers', () => bench.stateOf(1) === 'online' && bench.stateOf(2) === 'online', backWithinMs);
    bench.peer.swipe(1, 26, card);
    await waitUntil('the card', () => bench.told('card', 1).length > 0);
    expect(bench.told('card', 1)).toHaveLength(1);
    expect(bench.told('card', 2)).toEqual([]);
    expect(bench.peer.orders).toEqual([]);
  });

  it('waits by name for a port that another process has, and takes it when it is free', async () => {
    const cable = await openPtyPair();
    const script = new URL('../../../fakes/hold-serial-port.ts', import.meta.url).pathname;
    const holder = spawn(process.execPath, [script, cable.near], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(holder.stdout, 'data');
    const peer = new OsdpPeer([keyed(1)]);
    await peer.attach(cable.far);
    const states: string[] = [];
    const bench = createBench(cable.near, peer, [deviceConfig(keyed(1))], {
      onLine: ({ state }) => states.push(state),
    });
    bench.bus.open((event) => bench.events.push(event));
    await waitUntil('the name of the trouble', () => states.includes('busy'));
    expect(bench.told('offline')).toMatchObject([{ reason: 'line-down' }]);
    holder.stdin.end();
    await once(holder, 'exit');
    await bench.online(1);
    expect(states).toEqual(['opening', 'busy', 'open']);
    await bench.bus.close();
    await peer.detach();
    await cable.close();
  });
});

describe.concurrent('many readers on one line', () => {
  const addresses = [1, 2, 3, 4, 5, 6, 7];

  it('polls the others as ever while one is dead: never two probes between two of their polls', async (context) => {
    const bench = await open(context, [...addresses.map(keyed), { ...keyed(8) }], { pollMs: 20 });
    bench.peer.setPower(8, false);
    await bench.online(...addresses);
    const from = bench.peer.heard.length;
    const probes = () => bench.peer.heard.slice(from).filter((frame) => frame.address === 8).length;
    await waitUntil('three probes', () => probes() >= 3);
    const order = bench.peer.heard.slice(from).map((frame) => frame.address);
    for (const address of addresses) {
      const polls = order.flatMap((other, index) => (other === address ? [index] : []));
      expect(polls.length).toBeGreaterThan(10);
      const probesBetween = polls
        .slice(1)
        .map((at, index) => order.slice(polls[index], at).filter((a) => a === 8).length);
      expect(Math.max(...probesBetween)).toBeLessThanOrEqual(1);
    }
    expect(addresses.flatMap((address) => bench.told('offline', address))).toEqual([]);
  });

  it('gives every reader its turn', async (context) => {
    const bench = await open(context, addresses.map(keyed), { pollMs: 1 });
    await bench.online(...addresses);
    const from = bench.peer.heard.length;
    await waitUntil('two hundred polls', () => bench.peer.heard.length >= from + 210);
    const order = bench.peer.heard.slice(from, from + 210).map((frame) => frame.address);
    for (const address of addresses) {
      const share = order.filter((other) => other === address).length;
      expect(share).toBeGreaterThanOrEqual(25);
      expect(share).toBeLessThanOrEqual(35);
    }
  });

  it('sends a release before the polls that are due', async (context) => {
    const bench = await open(context, addresses.map(keyed), { pollMs: 1 });
    await bench.online(...addresses);
    for (let count = 0; count < 20; count += 1) {
      const from = bench.peer.heard.length;
      expect(await tell(bench, 4)).toEqual({ kind: 'done' });
      const place = bench.peer.heard.slice(from).findIndex((frame) => frame.address === 4 && frame.data.length > 0);
      expect(place).toBeGreaterThanOrEqual(0);
      expect(place).toBeLessThanOrEqual(2);
    }
  });
});

describe('outputs', () => {
  const { KANNUKI_FULL } = process.env;
  const rounds = KANNUKI_FULL === '1' ? 100 : 10;

  it(`are never pulsed in ${rounds} restarts under load`, async () => {
    const cable = await openPtyPair();
    const peer = new OsdpPeer([keyed(1), keyed(2)]);
    await peer.attach(cable.far);
    for (let round = 0; round < rounds; round += 1) {
      const bench = createBench(cable.near, peer, [deviceConfig(keyed(1)), deviceConfig(keyed(2))], { pollMs: 5 });
      bench.bus.open((event) => bench.events.push(event));
      peer.swipe(1, 26, card);
      await bench.online(1, 2);
      peer.swipe(2, 26, card);
      if (round % 3 === 0) peer.setPower(1, false);
      await bench.bus.close();
      peer.setPower(1, true);
    }
    expect(peer.orders).toEqual([]);
    await peer.detach();
    await cable.close();
  });
});

describe.concurrent('an install window', () => {
  const factory: PeerReader = { address: 1, isInstallMode: true, requireSecure: true };
  const unkeyed = deviceConfig(factory, { security: { mode: 'secure', key: undefined }, allowsInstall: true });
  const soon = () => later(benchNow(), 10_000);

  const key = Uint8Array.from({ length: 16 }, (_, index) => 0xa0 + index);

  it('gives the reader the key it was handed, which is then proven', async (context) => {
    const bench = await open(context, [factory], { devices: [unkeyed] });
    await waitUntil('the refusal to use it', () => bench.stateOf(1) === 'offline');
    expect(bench.bus.openInstallWindow(deviceAt(1), soon(), key)).toBe('opened');
    await bench.online(1);
    expect(bench.peer.keyOf(1)).toBe(Buffer.from(key).toString('hex'));
    expect(bench.told('key-installed').map((event) => Buffer.from(event.key))).toEqual([Buffer.from(key)]);
    expect(bench.told('alarm').map((event) => event.code)).toContain('INSTALL_WINDOW_OPEN');
    expect(bench.told('online')).toMatchObject([{ channel: 'secure' }]);
  });

  it('does not open for a reader that is not to be installed', async (context) => {
    const bench = await open(context, [factory, keyed(2)], { devices: [unkeyed, deviceConfig(keyed(2))] });
    expect(bench.bus.openInstallWindow(deviceAt(2), soon(), key)).toBe('unsupported');
    await bench.online(2);
    expect(bench.peer.keyOf(1)).toBeUndefined();
  });

  it('closes one reader’s window when another’s is opened', async (context) => {
    const other: PeerReader = { ...factory, address: 2 };
    const bench = await open(context, [factory, other], {
      devices: [unkeyed, { ...unkeyed, id: deviceAt(2), address: 2 }],
    });
    expect(bench.bus.openInstallWindow(deviceAt(1), soon(), key)).toBe('opened');
    expect(bench.bus.openInstallWindow(deviceAt(2), soon(), key)).toBe('opened');
    await bench.online(2);
    expect(bench.peer.keyOf(1)).toBeUndefined();
    expect(bench.stateOf(1)).not.toBe('online');
  });
});
