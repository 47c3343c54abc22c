import { type DriverBench, driverContract } from '../../../contracts/driver-contract.ts';
import { benchNow, createBench, deviceAt, deviceConfig, keyAt } from '../../../fakes/osdp-bench.ts';
import { OsdpPeer, type PeerReader } from '../../../fakes/osdp-peer.ts';
import { openPtyPair } from '../../../fakes/pty-pair.ts';

const keyed: PeerReader = { address: 3, key: keyAt(3) };
const plain: PeerReader = { address: 3 };
const absent: PeerReader = { address: 9, key: keyAt(9) };

const common = (peer: OsdpPeer) => ({
  now: benchNow,
  present: deviceAt(3),
  absent: deviceAt(9),
  lock: { output: 0, release: 'energise' } as const,
  swipe: (bitCount: number, bytes: Uint8Array) => peer.swipe(3, bitCount, bytes),
  outputOrders: () => peer.orders,
});

async function overPty(reader: PeerReader): Promise<DriverBench> {
  const cable = await openPtyPair();
  await cable.unplug();
  const peer = new OsdpPeer([reader]);
  const { bus } = createBench(cable.near, peer, [deviceConfig(reader), deviceConfig(absent)]);
  return {
    ...common(peer),
    driver: bus,
    plug: async () => {
      await cable.plug();
      await peer.attach(cable.far);
    },
    unplug: async () => {
      await peer.detach();
      await cable.unplug();
    },
    close: async () => {
      await bus.close();
      await peer.detach();
      await cable.close();
    },
  };
}

async function overTcp(reader: PeerReader): Promise<DriverBench> {
  const peer = new OsdpPeer([reader]);
  const port = await peer.listen();
  await peer.detach();
  const { bus } = createBench(port, peer, [deviceConfig(reader), deviceConfig(absent)]);
  return {
    ...common(peer),
    driver: bus,
    plug: async () => void (await peer.listen(port)),
    unplug: () => peer.detach(),
    close: async () => {
      await bus.close();
      await peer.detach();
    },
  };
}

driverContract('a secured OSDP bus on a serial line', () => overPty(keyed));
driverContract('a secured OSDP bus behind a converter', () => overTcp(keyed));
driverContract('a plain OSDP bus on a serial line', () => overPty(plain));
