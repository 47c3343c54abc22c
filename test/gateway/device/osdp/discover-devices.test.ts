import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { discoverDevices, type Place, type Progress, relocateDevice } from '#gateway/device/osdp/discover-devices.ts';
import { benchNow } from '../../../fakes/osdp-bench.ts';
import { OsdpPeer, type PeerReader } from '../../../fakes/osdp-peer.ts';
import { openPtyPair, type PtyPair } from '../../../fakes/pty-pair.ts';

const comReply = 0x54;

describe('finding readers on an unknown line', () => {
  let cable: PtyPair;
  let peer: OsdpPeer;
  beforeEach(async () => {
    cable = await openPtyPair();
  });
  afterEach(async () => {
    await peer.detach();
    await cable.close();
  });

  /** Readers that hear only their own rate: a pty carries none, so they look at what the panel's end is set to. */
  const attach = async (baud: number, ...readers: readonly PeerReader[]) => {
    peer = new OsdpPeer(readers);
    const ownBaud = () =>
      peer.effects.reduce((rate, effect) => (effect.kind === 'communication' ? effect.baud : rate), baud);
    peer.isHearing = () =>
      Number(execFileSync('stty', ['-F', cable.near, 'speed'], { encoding: 'utf8' })) === ownBaud();
    await peer.attach(cable.far);
  };
  const line = () => ({ id: 'line-1', kind: 'serial', path: cable.near, baud: 9_600 }) as const;
  const search = (parts: { addresses?: readonly number[]; isAlone?: boolean; signal?: AbortSignal }) => {
    const progress: Progress[] = [];
    const found = discoverDevices(
      {
        line: line(),
        bauds: [9_600, 38_400, 115_200],
        addresses: parts.addresses ?? [],
        isAlone: parts.isAlone ?? false,
        onProgress: (step) => progress.push(step),
        signal: parts.signal ?? new AbortController().signal,
      },
      benchNow,
    );
    return { found, progress };
  };

  it('finds a reader at its rate and address, with who it is', async () => {
    await attach(38_400, { address: 5, serial: 77 });
    const { found, progress } = search({ addresses: [5] });
    expect(await found).toEqual([
      { address: 5, baud: 38_400, identity: { vendor: '4b414e', model: '7', serial: '77', firmware: '1.2.3' } },
    ]);
    expect(progress.map(({ tried, total }) => `${tried}/${total}`)).toEqual(['1/6', '2/6', '3/6', '4/6', '5/6', '6/6']);
    expect(progress.at(-1)?.place).toEqual({ address: 0, baud: 115_200 });
  });

  it('finds a reader that is alone at an address nobody knows', async () => {
    await attach(115_200, { address: 42 });
    const [reader, ...others] = await search({ isAlone: true }).found;
    expect(reader).toMatchObject({ address: 0x7f, baud: 115_200, identity: { serial: '1042' } });
    expect(others).toEqual([]);
  });

  it('finds every reader of a line with several, and asks none of them by broadcast', async () => {
    await attach(9_600, { address: 0 }, { address: 1 }, { address: 2, key: '11'.repeat(16) });
    const found = await search({ addresses: [1, 2, 3] }).found;
    expect(found.map(({ address }) => address)).toEqual([1, 2, 0]);
    expect(peer.heard.map((frame) => frame.address)).not.toContain(0x7f);
  });

  it('changes nothing at a reader', async () => {
    await attach(9_600, { address: 0, key: '11'.repeat(16) });
    await search({}).found;
    expect(peer.heard.map((frame) => [frame.code, frame.sequence])).toEqual([[0x61, 0]]);
    expect(peer.effects.map((effect) => effect.kind)).toEqual(['transmit']);
  });

  it('stops when told', async () => {
    await attach(115_200, { address: 0 });
    const end = new AbortController();
    end.abort();
    const { found, progress } = search({ signal: end.signal });
    expect(await found).toEqual([]);
    expect(progress).toEqual([]);
  });

  const from: Place = { address: 0, baud: 9_600 };
  const to: Place = { address: 9, baud: 115_200 };
  const relocate = () => relocateDevice(line(), from, to, benchNow);

  it('moves a reader and believes it only where it answers', async () => {
    await attach(9_600, { address: 0 });
    expect(await relocate()).toMatchObject({ kind: 'moved', place: to, identity: { serial: '1000' } });
    expect(await relocate()).toEqual({ kind: 'lost' });
  });

  it('finds a moved reader although its word about it was garbled', async () => {
    await attach(9_600, { address: 0 });
    peer.deliver = (_, bytes) => [
      { bytes: bytes[5] === comReply ? bytes.map((byte) => byte ^ 0x55) : bytes, afterMs: 0 },
    ];
    expect(await relocate()).toMatchObject({ kind: 'moved', place: to });
  });

  it('says that a reader refuses to move', async () => {
    await attach(9_600, { address: 0, allowsCommunication: false });
    expect(await relocate()).toEqual({ kind: 'stayed', reason: 'refused' });
  });

  it('says that a reader stayed although it agreed', async () => {
    await attach(9_600, { address: 0 });
    const { isHearing } = peer;
    peer.isHearing = () => isHearing() || peer.effects.some((effect) => effect.kind === 'communication');
    // It announces the new values and goes on at the old ones: its session is put back as it was.
    peer.deliver = (_, bytes) => {
      if (bytes[5] === comReply) setImmediate(() => peer.setPower(0, true));
      return [{ bytes, afterMs: 0 }];
    };
    expect(await relocate()).toEqual({ kind: 'stayed', reason: 'not-applied' });
  });
});
