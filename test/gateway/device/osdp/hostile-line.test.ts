/** What a person at the reader’s side of the wall can do to the wire: flood it, repeat on it what was said, forget it. */
import { describe, expect, it, type TestContext } from 'vitest';
import type { DeviceCommand } from '#gateway/device/driver.ts';
import { mark } from '#protocol/osdp/frame.ts';
import { identifier } from '#shared/identifier.ts';
import { later } from '#shared/instant.ts';
import { benchNow, createBench, deviceAt, deviceConfig, keyAt, openPtyBench } from '../../../fakes/osdp-bench.ts';
import { OsdpPeer } from '../../../fakes/osdp-peer.ts';
import { waitUntil } from '../../../fakes/wait-until.ts';

const { KANNUKI_FULL } = process.env;
const floodBytes = KANNUKI_FULL === '1' ? 4_000_000 : 1_000_000;
const card = Uint8Array.of(0xbd, 0xd9, 0x37, 0x40);
const release: DeviceCommand = {
  kind: 'release',
  requestId: identifier<'request'>('request-1'),
  lock: { output: 0, release: 'energise' },
  ms: 3_000,
};
const keyed = (address: number) => ({ address, key: keyAt(address) });

describe.concurrent('a hostile line', () => {
  const open = async ({ onTestFinished }: TestContext, address: number) => {
    const bench = await openPtyBench([keyed(address)], { pollMs: 20 });
    onTestFinished(() => bench.close());
    await bench.online(address);
    return bench;
  };
  const tell = (bench: Awaited<ReturnType<typeof open>>, address: number) =>
    bench.bus.command(deviceAt(address), release, later(benchNow(), 2_000));

  it.for<[string, (index: number) => number]>([
    ['beginnings of long messages', (index) => [0x53, 0x81, 0xa0, 0x05, 0x04][index % 5] ?? 0],
    ['nothing but ones', () => 0xff],
    ['nothing but zeros', () => 0x00],
    ['anything', (index) => (Math.imul(index, 2_654_435_761) >>> 13) & 0xff],
  ])(
    'opens nothing when flooded with %s, and leaves other lines alone',
    { timeout: 120_000 },
    async ([, byteAt], context) => {
      const flooded = await open(context, 1);
      const quiet = await open(context, 2);
      const chunk = Uint8Array.from({ length: 4_000 }, (_unused, index) => byteAt(index));
      for (let sent = 0; sent < floodBytes; sent += chunk.length) {
        await flooded.peer.babble(chunk);
        if (sent % (floodBytes / 4) === 0) expect(await tell(quiet, 2)).toEqual({ kind: 'done' });
      }
      quiet.peer.swipe(2, 26, card);
      await waitUntil('a card on the quiet line', () => quiet.told('card', 2).length === 1);
      await flooded.online(1);
      expect(flooded.told('card')).toEqual([]);
      expect(flooded.peer.orders).toEqual([]);
      expect(quiet.told('offline')).toEqual([]);
    },
  );

  it('opens nothing by repeating everything that was ever said', async (context) => {
    const bench = await open(context, 1);
    const recorded: Uint8Array[] = [];
    const end = bench.bus.observe(({ direction, bytes }) => {
      if (direction === 'from-device') recorded.push(bytes.slice());
    });
    bench.peer.swipe(1, 26, card);
    await waitUntil('the card', () => bench.told('card').length === 1);
    expect(await tell(bench, 1)).toEqual({ kind: 'done' });
    end();
    for (let round = 0; round < 20; round += 1) {
      for (const bytes of recorded) await bench.peer.babble(Buffer.concat([Uint8Array.of(mark), bytes]));
    }
    await bench.online(1);
    expect(bench.told('card')).toHaveLength(1);
    expect(bench.peer.orders).toHaveLength(1);
  });

  it('is opened afresh when a converter forgot the connection without a word', async () => {
    const peer = new OsdpPeer([keyed(1)]);
    const bench = createBench(await peer.listen(), peer, [deviceConfig(keyed(1))]);
    bench.bus.open((event) => bench.events.push(event));
    await bench.online(1);
    peer.forgetConnections();
    const heard = peer.heard.length;
    await waitUntil('a word on a new connection', () => peer.heard.length > heard);
    await bench.online(1);
    expect(await bench.bus.command(deviceAt(1), release, later(benchNow(), 2_000))).toEqual({ kind: 'done' });
    await bench.bus.close();
    await peer.detach();
  });
});
