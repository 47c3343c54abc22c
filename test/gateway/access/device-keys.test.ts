import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { BusKeeper } from '#gateway/access/bus-keeper.ts';
import { DeviceKeys } from '#gateway/access/device-keys.ts';
import { type Config, parseConfig } from '#gateway/config.ts';
import type { Driver } from '#gateway/device/driver.ts';
import { lineConfigOf } from '#gateway/device/line-address.ts';
import { createOsdpBus } from '#gateway/device/osdp/osdp-bus.ts';
import type { Site } from '#gateway/site/site-store.ts';
import { StoreFault } from '#gateway/store/store-fault.ts';
import { monotonicNow } from '#gateway/system/monotonic.ts';
import { type DeviceId, identifier, type LineId } from '#shared/identifier.ts';
import { invariant } from '#shared/invariant.ts';
import { anyRandom } from '../../fakes/osdp-bench.ts';
import { OsdpPeer, type PeerReader } from '../../fakes/osdp-peer.ts';
import { waitUntil } from '../../fakes/wait-until.ts';
import { readerIds } from './desk-facility.ts';
import { openDesk, removeDesk, type TestDesk } from './test-desk.ts';

const line = identifier<'line'>('bus');
const reader = identifier<'device'>('reader-front');
const ownKey = '00112233445566778899aabbccddeeff';
const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function peerOf(...readers: readonly PeerReader[]): Promise<{ peer: OsdpPeer; port: number }> {
  const peer = new OsdpPeer(readers);
  const port = await peer.listen();
  ends.push(() => peer.detach());
  return { peer, port };
}

const factory = { address: 0, isInstallMode: true } as const;

async function opened(folder?: string): Promise<TestDesk> {
  const absent = readerIds.map((id) => `reader-${id}`);
  const desk = await openDesk({ absent, ...(folder === undefined ? {} : { folder }) });
  ends.push(async () => {
    await desk.close();
    removeDesk(desk.folder);
  });
  return desk;
}

interface Keyed {
  readonly keys: DeviceKeys;
  readonly buses: BusKeeper;
  readonly driver: () => Driver | undefined;
  readonly stateOf: (device?: DeviceId) => string;
  readonly close: () => Promise<void>;
}

/** Buses with keys as the gateway composes them. */
function keyed(desk: TestDesk, config: Config, site: Site = desk.history.site): Keyed {
  const buses: BusKeeper = new BusKeeper(
    (id: LineId) => {
      const written = config.lines.find((each) => each.id === id);
      invariant(written !== undefined, 'the line is configured');
      const devices = written.devices.map((device) => keys.deviceConfig(device));
      const bus = createOsdpBus(
        { line: lineConfigOf(written), devices },
        { now: monotonicNow, randomBytes: anyRandom },
      );
      return { driver: bus, lineState: () => bus.lineHealth() };
    },
    (event) => desk.tell(event),
  );
  const keys = new DeviceKeys(config, site, { desk: desk.desk, rebuild: (id) => buses.rebuild(id) });
  desk.onKey = (device, key, identity) => keys.take(device, key, identity);
  desk.onIdentity = (device, identity) => keys.pin(device, identity);
  buses.open(line);
  keys.watch(50);
  const driver = () => buses.list()[0]?.driver;
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    keys.close();
    await buses.close();
  };
  ends.push(close);
  const stateOf = (device = reader) => {
    const health = driver()
      ?.health()
      .find((each) => each.device === device);
    return `${health?.state} ${health?.channel ?? health?.reason ?? ''}`.trim();
  };
  return { keys, buses, driver, stateOf, close };
}

const configOf = (folder: string, port: number, devices: readonly string[]): Config =>
  parseConfig(
    `dataDir: ${folder}\nlines:\n  - id: bus\n    tcp: 127.0.0.1:${port}\n    baud: 115200\n    devices:\n${devices
      .map((device) => `      - ${device}\n`)
      .join('')}`,
    join(folder, 'gateway.yaml'),
  );
const plainReader = '{ id: reader-front, address: 0, security: plain }';
const installedReader = '{ id: reader-front, address: 0 }';
const alarmsOf = (desk: TestDesk) => desk.desk.alarms.list().map(({ code }) => code);
const window = { device: reader, seconds: 30 };
const sealed = (desk: TestDesk) => desk.history.site.unsealKey('scbk/reader-front');

describe('a key file', () => {
  test('that cannot be used is named as it is, leaves its device unused, and is taken by itself once it is right', async () => {
    const desk = await opened();
    const { port } = await peerOf({ address: 0, key: ownKey }, { address: 1, key: ownKey });
    const files = [join(desk.folder, 'key-0'), join(desk.folder, 'key-1')];
    const devices = files.map(
      (file, address) => `{ id: reader-${address === 0 ? 'front' : 'side'}, address: ${address}, keyFile: ${file} }`,
    );
    const { stateOf, buses } = keyed(desk, configOf(desk.folder, port, devices));
    const details = () => desk.desk.alarms.list().map(({ code, detail }) => `${code} ${detail}`);
    expect(details()).toEqual(files.map((file) => `DEVICE_KEY_MISSING ${file} cannot be read: ENOENT`));
    await waitUntil('the reader to be found', () => stateOf() === 'offline security-required');
    for (const file of files) writeFileSync(file, `${ownKey}\n`, { mode: 0o644 });
    await waitUntil('its mode to be named', () => details().every((text) => text.includes('mode 644')));
    for (const file of files) {
      rmSync(file);
      writeFileSync(file, 'not a key', { mode: 0o600 });
    }
    await waitUntil('its text to be named', () => details().every((text) => text.includes('32 hexadecimal digits')));
    const first = buses.list()[0]?.driver;
    for (const file of files) writeFileSync(file, ownKey);
    await waitUntil('both readers', () =>
      [reader, identifier<'device'>('reader-side')].every((id) => stateOf(id) === 'online secure'),
    );
    expect(details()).toEqual([]);
    // One bus in the place of one, though two files asked for it.
    expect(buses.list()).toHaveLength(1);
    expect(first?.health().every(({ state, reason }) => state === 'offline' && reason === 'closed')).toBe(true);
  });
});

test('a key file with the key of another device is taken again once it is put right', async () => {
  const desk = await opened();
  const { port } = await peerOf({ address: 0, key: ownKey });
  const file = join(desk.folder, 'key');
  writeFileSync(file, [...ownKey].reverse().join(''), { mode: 0o600 });
  const devices = [`{ id: reader-front, address: 0, keyFile: ${file} }`];
  const { stateOf, buses } = keyed(desk, configOf(desk.folder, port, devices));
  await waitUntil('the mismatch', () => alarmsOf(desk).includes('DEVICE_KEY_MISMATCH'), 30_000);
  const first = buses.list()[0]?.driver;
  writeFileSync(file, ownKey);
  await waitUntil('the reader', () => stateOf() === 'online secure', 30_000);
  await waitUntil('the end of the alarm', () => alarmsOf(desk).length === 0);
  expect(buses.list()[0]?.driver).not.toBe(first);
});

describe('a key that is installed', () => {
  test('takes a reader from its factory state to a key of its own, sealed, for good', async () => {
    const desk = await opened();
    const { peer, port } = await peerOf(factory);
    const config = configOf(desk.folder, port, [installedReader]);
    const { keys, driver, stateOf, close } = keyed(desk, config);
    await waitUntil('the reader to be found', () => stateOf() === 'offline security-required');
    expect(await keys.openWindow(window, driver())).toBe('opened');
    await waitUntil('the reader', () => stateOf() === 'online secure');
    await desk.eventually('its entry', ({ kind }) => kind === 'device.key-installed');
    const closing = await desk.eventually('the end of the window', ({ kind }) => kind === 'install-window.closed');
    expect(closing.body).toEqual({ device: 'reader-front', why: 'installed' });
    expect(alarmsOf(desk)).toEqual([]);
    const key = Buffer.from(sealed(desk) ?? []).toString('hex');
    expect(peer.keyOf(0)).toBe(key);
    expect(desk.history.site.keyNames()).not.toContain('scbk-candidate/reader-front');
    const file = readFileSync(join(desk.folder, 'site.db')).toString('latin1');
    expect(file).not.toContain(Buffer.from(key, 'hex').toString('latin1'));
    expect(await keys.openWindow(window, driver())).toBe('has-key');
    await close();

    const again = keyed(desk, config);
    expect(again.stateOf()).not.toContain('online');
    await waitUntil('the reader after a restart', () => again.stateOf() === 'online secure');
    expect(await again.keys.openWindow(window, again.driver())).toBe('has-key');
  });

  test('is not met with the public key again until somebody accepts the exchanged reader', async () => {
    const desk = await opened();
    const { peer, port } = await peerOf({ ...factory, serial: 1 });
    const { keys, driver, stateOf } = keyed(desk, configOf(desk.folder, port, [installedReader]));
    await keys.openWindow(window, driver());
    await waitUntil('the reader', () => stateOf() === 'online secure');
    await waitUntil('its key', () => sealed(desk) !== undefined && desk.history.site.device(reader) !== undefined);
    const former = Buffer.from(sealed(desk) ?? []).toString('hex');
    await peer.detach();
    const other = new OsdpPeer([{ ...factory, serial: 2 }]);
    await other.listen(port);
    ends.push(() => other.detach());
    await waitUntil('the stranger to be known as one', () => alarmsOf(desk).includes('DEVICE_IDENTITY_CHANGED'));
    expect(await keys.openWindow(window, driver())).toBe('has-key');
    expect(await keys.accept(reader)).toBe('accepted');
    expect(alarmsOf(desk)).not.toContain('DEVICE_IDENTITY_CHANGED');
    expect(await keys.openWindow(window, driver())).toBe('opened');
    await waitUntil('the new reader', () => stateOf() === 'online secure');
    await waitUntil('its key', () => sealed(desk) !== undefined);
    expect(other.keyOf(0)).toBe(Buffer.from(sealed(desk) ?? []).toString('hex'));
    expect(other.keyOf(0)).not.toBe(former);
  });

  test('lets the reader in when the gateway ended before it was confirmed, and another window offers the same', async () => {
    const desk = await opened();
    const { peer, port } = await peerOf(factory);
    const config = configOf(desk.folder, port, [installedReader]);
    const first = keyed(desk, config);
    peer.deliver = (_, bytes) => (peer.keyOf(0) === undefined ? [{ bytes, afterMs: 0 }] : []);
    await first.keys.openWindow(window, first.driver());
    await waitUntil('the reader to have its key', () => peer.keyOf(0) !== undefined);
    await first.close();
    expect(sealed(desk)).toBeUndefined();
    const second = keyed(desk, config);
    // Asked again by somebody who saw nothing happen, before the reader is heard.
    expect(await second.keys.openWindow(window, second.driver())).toBe('opened');
    peer.deliver = (_, bytes) => [{ bytes, afterMs: 0 }];
    await waitUntil('the reader', () => second.stateOf() === 'online secure');
    await waitUntil('its key', () => sealed(desk) !== undefined);
    expect(peer.keyOf(0)).toBe(Buffer.from(sealed(desk) ?? []).toString('hex'));
  });

  test('that the disk does not take is kept as candidate and saved later; nothing ends', async () => {
    const desk = await opened();
    const { port } = await peerOf(factory);
    const { site } = desk.history;
    let failures = 0;
    const failing: Site = {
      ...site,
      sealKey: (name, bytes) => {
        if (!name.startsWith('scbk/') || failures >= 2) return site.sealKey(name, bytes);
        failures += 1;
        return Promise.reject(new StoreFault('STORE_FULL', 'site.db', 'no room'));
      },
    };
    const { keys, driver, stateOf } = keyed(desk, configOf(desk.folder, port, [installedReader]), failing);
    await keys.openWindow(window, driver());
    await waitUntil('the reader', () => stateOf() === 'online secure');
    await waitUntil('its key', () => sealed(desk) !== undefined);
    expect(failures).toBe(2);
  });

  test('is refused for a reader that speaks plain, and for none', async () => {
    const desk = await opened();
    const { port } = await peerOf({ address: 0 });
    const { keys, driver } = keyed(desk, configOf(desk.folder, port, [plainReader]));
    expect(await keys.openWindow(window, driver())).toBe('unsupported');
    expect(await keys.openWindow({ ...window, device: identifier('attic') }, undefined)).toBe('unknown-device');
    expect(desk.history.site.keyNames().filter((name) => name.startsWith('scbk'))).toEqual([]);
  });
});

test('an exchanged plain reader alarms and opens nothing until it is accepted', async () => {
  const desk = await opened();
  const { peer, port } = await peerOf({ address: 0, serial: 1 });
  const { keys, stateOf } = keyed(desk, configOf(desk.folder, port, [plainReader]));
  await waitUntil('the reader', () => stateOf() === 'online plain' && desk.history.site.device(reader) !== undefined);
  await peer.detach();
  const other = new OsdpPeer([{ address: 0, serial: 2 }]);
  await other.listen(port);
  ends.push(() => other.detach());
  await waitUntil('the alarm', () => alarmsOf(desk).includes('DEVICE_IDENTITY_CHANGED'));
  expect(stateOf()).toBe('offline identity-changed');
  expect(await keys.accept(reader)).toBe('accepted');
  await waitUntil('the new reader', () => stateOf() === 'online plain');
  expect(alarmsOf(desk)).toEqual([]);
});
