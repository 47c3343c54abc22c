/** A bus and its readers with a real wire between them, and what the bus told. */
import { randomBytes } from 'node:crypto';
import type { DeviceEvent } from '#gateway/device/driver.ts';
import type { OsdpBusConfig, OsdpBusPorts, OsdpDeviceConfig } from '#gateway/device/osdp/bus-config.ts';
import { createOsdpBus, type OsdpBus } from '#gateway/device/osdp/osdp-bus.ts';
import { type DeviceId, identifier } from '#shared/identifier.ts';
import { type MonoMs, monoMs } from '#shared/instant.ts';
import { OsdpPeer, type PeerReader } from './osdp-peer.ts';
import { openPtyPair, type PtyPair } from './pty-pair.ts';
import { waitUntil } from './wait-until.ts';

export const benchNow = (): MonoMs => monoMs(performance.now());
export const deviceAt = (address: number): DeviceId => identifier<'device'>(`reader-${address}`);
const poll = 0x60;
/** A key for tests, one for each address. */
export const keyAt = (address: number): string => Buffer.alloc(16, address + 0x41).toString('hex');

export function deviceConfig(reader: PeerReader, parts: Partial<OsdpDeviceConfig> = {}): OsdpDeviceConfig {
  const { address, key } = reader;
  return {
    id: deviceAt(address),
    address,
    security: key === undefined ? { mode: 'plain' } : { mode: 'secure', key: new Uint8Array(Buffer.from(key, 'hex')) },
    allowsInstall: false,
    ...parts,
  };
}

export interface OsdpBench {
  readonly bus: OsdpBus;
  readonly peer: OsdpPeer;
  readonly events: DeviceEvent[];
  readonly told: <Kind extends DeviceEvent['kind']>(
    kind: Kind,
    address?: number,
  ) => Extract<DeviceEvent, { readonly kind: Kind }>[];
  readonly stateOf: (address: number) => string | undefined;
  /** On line and polled: what happens at them now is told. */
  readonly online: (...addresses: readonly number[]) => Promise<void>;
}

export const anyRandom = (length: number): Uint8Array => new Uint8Array(randomBytes(length));

/** Not opened yet. */
export function createBench(
  line: Parameters<typeof serialLine>[0] | number,
  peer: OsdpPeer,
  devices: readonly OsdpDeviceConfig[],
  ports: Partial<OsdpBusPorts> & { readonly pollMs?: number } = {},
): OsdpBench {
  const { pollMs, ...others } = ports;
  const bus = createOsdpBus(
    {
      line: typeof line === 'number' ? tcpLine(line) : serialLine(line),
      devices,
      ...(pollMs === undefined ? {} : { pollMs }),
    },
    { now: benchNow, randomBytes: anyRandom, ...others },
  );
  const events: DeviceEvent[] = [];
  const stateOf = (address: number) => bus.health().find((health) => health.device === deviceAt(address))?.state;
  return {
    bus,
    peer,
    events,
    stateOf,
    told: (kind, address = devices[0]?.address ?? 0) =>
      events.filter(
        (event): event is Extract<DeviceEvent, { readonly kind: typeof kind }> =>
          event.kind === kind && event.device === deviceAt(address),
      ),
    online: async (...addresses) => {
      await waitUntil(`readers ${addresses} on line`, () =>
        addresses.every((address) => stateOf(address) === 'online'),
      );
      const from = peer.heard.length;
      const polls = (address: number) =>
        peer.heard.slice(from).filter((frame) => frame.address === address && frame.code === poll).length;
      await waitUntil('their first quiet polls', () => addresses.every((address) => polls(address) >= 2));
    },
  };
}

const serialLine = (path: string): OsdpBusConfig['line'] => ({
  id: identifier<'line'>('line-1'),
  kind: 'serial',
  path,
  baud: 115_200,
});

const tcpLine = (port: number): OsdpBusConfig['line'] => ({
  id: identifier<'line'>('line-1'),
  kind: 'tcp',
  host: '127.0.0.1',
  port,
  baud: 115_200,
});

/** A bench over a pty, opened, with everything that must be closed. */
export async function openPtyBench(
  readers: readonly PeerReader[],
  parts: Partial<OsdpBusPorts> & { readonly pollMs?: number; readonly devices?: readonly OsdpDeviceConfig[] } = {},
): Promise<OsdpBench & { readonly cable: PtyPair; readonly close: () => Promise<void> }> {
  const { devices = readers.map((reader) => deviceConfig(reader)), ...ports } = parts;
  const cable = await openPtyPair();
  const peer = new OsdpPeer(readers);
  await peer.attach(cable.far);
  const bench = createBench(cable.near, peer, devices, ports);
  bench.bus.open((event) => bench.events.push(event));
  const close = async () => {
    await bench.bus.close();
    await peer.detach();
    await cable.close();
  };
  return { ...bench, cable, close };
}
