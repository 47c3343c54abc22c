/** A man in the middle of the line, over real TCP: whatever he tries opens nothing, gives nothing away, and alarms. */
import { describe, expect, it, type TestContext } from 'vitest';
import type { DeviceCommand } from '#gateway/device/driver.ts';
import { encodeFrame, type Frame, type FrameParts } from '#protocol/osdp/frame.ts';
import { encodeReply, type Reply } from '#protocol/osdp/message.ts';
import type { AlarmCode } from '#shared/code.ts';
import { identifier } from '#shared/identifier.ts';
import { later } from '#shared/instant.ts';
import { benchNow, createBench, deviceAt, deviceConfig, keyAt } from '../../../fakes/osdp-bench.ts';
import { OsdpPeer, type PeerReader } from '../../../fakes/osdp-peer.ts';
import { waitUntil } from '../../../fakes/wait-until.ts';
import { openWireTap } from '../../../fakes/wire-tap.ts';

const reader: PeerReader = { address: 1, key: keyAt(1), serial: 1_001 };
const enrolled = { vendor: '4b414e', model: '7', serial: '1001', firmware: '1.2.3' };
const card = Uint8Array.of(0xbd, 0xd9, 0x37, 0x40);
const cardReply: Reply = { kind: 'card', reader: 0, format: 1, bitCount: 26, bytes: card };
const release: DeviceCommand = {
  kind: 'release',
  requestId: identifier<'request'>('request-1'),
  lock: { output: 0, release: 'energise' },
  ms: 3_000,
};
/** All that may be said to a keyed reader in plain: who are you, what can you, and the handshake. */
const innocent = [0x61, 0x62, 0x76, 0x77];
const { KANNUKI_FULL } = process.env;
const isFull = KANNUKI_FULL === '1';
const replays = isFull ? 12 : 3;
const poll = 0x60;
const capabilities = 0x62;
const challenge = 0x76;

/** A forged answer in plain to a command. */
const forge = (command: Frame, reply: Reply, parts: Partial<FrameParts> = {}) =>
  encodeFrame({
    address: command.address,
    isReply: true,
    sequence: command.sequence,
    check: 'crc',
    security: undefined,
    ...encodeReply(reply),
    ...parts,
  });
const nak = (reason: number): Reply => ({ kind: 'nak', reason, details: new Uint8Array(0) });

/** A keyed reader, its panel, and somebody between them. */
async function takeStage({ onTestFinished }: TestContext) {
  /** The last command that passed, for answering in the reader's place. */
  let lastCommand: Frame | undefined;
  const peer = new OsdpPeer([reader]);
  const tap = await openWireTap(await peer.listen());
  const device = deviceConfig(reader, { expectedIdentity: enrolled, allowsInstall: true });
  const bench = createBench(tap.port, peer, [device], { pollMs: 20 });
  onTestFinished(async () => {
    await bench.bus.close();
    await tap.close();
    await peer.detach();
  });
  const open = () => bench.bus.open((event) => bench.events.push(event));
  const alarms = () => bench.told('alarm').map((event) => event.code);
  const alarmed = (...codes: readonly AlarmCode[]) =>
    waitUntil(`one of ${codes}`, () => codes.some((code) => alarms().includes(code)));
  /** Answers in the reader's place where `fake` has an answer; lets the rest through. */
  const answerWith = (fake: (command: Frame) => Uint8Array | undefined) => {
    tap.tamper = (direction, frame) => {
      if (direction === 'command') {
        const answer = fake(frame);
        if (answer === undefined) return [frame.bytes];
        tap.inject('panel', answer);
        return [];
      }
      return [frame.bytes];
    };
  };
  /** Changes replies to the commands of one code, or all. */
  const changeReplies = (change: (reply: Frame, command: Frame) => Uint8Array) => {
    tap.tamper = (direction, frame) => {
      if (direction === 'command') lastCommand = frame;
      return direction === 'reply' && lastCommand !== undefined ? [change(frame, lastCommand)] : [frame.bytes];
    };
  };
  const commandsSaid = () => tap.seen.filter(({ direction }) => direction === 'command').map(({ frame }) => frame);
  const nothingLeaked = () => {
    for (const frame of commandsSaid()) {
      if (frame.security === undefined) expect(innocent).toContain(frame.code);
      if (frame.security?.type === 0x11 || frame.security?.type === 0x13) expect(frame.security.data[0]).toBe(1);
    }
  };
  const noOpens = async () => {
    const attempt = await bench.bus.command(deviceAt(1), release, later(benchNow(), 300));
    if (bench.stateOf(1) !== 'online') expect(attempt.kind).not.toBe('done');
    expect(bench.told('card')).toEqual([]);
    nothingLeaked();
    expect(peer.keyOf(1)).toBe(keyAt(1));
    expect(commandsSaid().filter((frame) => frame.code === 0x75)).toEqual([]);
  };

  return { peer, tap, bench, open, alarms, alarmed, answerWith, changeReplies, commandsSaid, nothingLeaked, noOpens };
}

describe.concurrent('a man in the middle of the line', () => {
  it('cannot make encryption optional by refusing the handshake', async (context) => {
    const { tap, bench, open, alarmed, answerWith, commandsSaid, noOpens } = await takeStage(context);
    answerWith((command) => (command.code === challenge ? forge(command, nak(5)) : undefined));
    open();
    await alarmed('DEVICE_KEY_MISMATCH', 'DEVICE_SECURITY_LOST');
    tap.inject('panel', forge(commandsSaid().at(-1) as Frame, cardReply));
    expect(bench.stateOf(1)).not.toBe('online');
    await noOpens();
  });

  it('cannot make encryption optional by swallowing the handshake', async (context) => {
    const { tap, bench, open, alarmed, noOpens } = await takeStage(context);
    tap.tamper = (direction, frame) => (direction === 'command' && frame.code === challenge ? [] : [frame.bytes]);
    open();
    await alarmed('DEVICE_SECURITY_LOST');
    expect(bench.stateOf(1)).not.toBe('online');
    await noOpens();
  });

  it('cannot lower security by a capability reply', async (context) => {
    const { bench, open, alarmed, changeReplies, noOpens } = await takeStage(context);
    changeReplies((reply, command) => {
      const isPlainCapabilities = command.code === capabilities && command.security === undefined;
      const none: Reply = { kind: 'capabilities', capabilities: [{ function: 9, level: 0, count: 0 }] };
      return isPlainCapabilities ? forge(command, none) : reply.bytes;
    });
    open();
    await alarmed('DEVICE_SECURITY_LOST');
    await bench.online(1);
    expect(bench.told('online')).toMatchObject([{ channel: 'secure' }]);
    await noOpens();
  });

  it('cannot find an install mode that was left on', async (context) => {
    const { open, alarmed, changeReplies, noOpens } = await takeStage(context);
    changeReplies((reply, command) => {
      const installing: Reply = { kind: 'capabilities', capabilities: [{ function: 9, level: 1, count: 1 }] };
      if (command.code === capabilities && command.security === undefined) return forge(command, installing);
      return command.code === challenge ? forge(command, nak(6)) : reply.bytes;
    });
    open();
    await alarmed('DEVICE_KEY_MISMATCH', 'DEVICE_SECURITY_LOST');
    await noOpens();
  });

  it('cannot lead the panel to the public key by offering it', async (context) => {
    const { bench, open, alarmed, changeReplies, noOpens } = await takeStage(context);
    changeReplies((reply, command) =>
      command.code === challenge
        ? forge(
            command,
            { kind: 'ack' },
            { code: reply.code, data: reply.data, security: { type: 0x12, data: Uint8Array.of(0) } },
          )
        : reply.bytes,
    );
    open();
    await alarmed('DEVICE_SECURITY_LOST', 'DEVICE_KEY_MISMATCH');
    expect(bench.stateOf(1)).not.toBe('online');
    await noOpens();
  });

  it.for<[string, string]>([
    ['the key of zeros', '00'.repeat(16)],
    ['the public key', '303132333435363738393a3b3c3d3e3f'],
    ['another key', keyAt(7)],
  ])('cannot sit there with a reader that holds %s', async ([, key], context) => {
    const { peer } = await takeStage(context);
    await peer.detach();
    const fake = new OsdpPeer([{ ...reader, key, isInstallMode: true }]);
    const fakeTap = await openWireTap(await fake.listen());
    const other = createBench(fakeTap.port, fake, [deviceConfig(reader, { allowsInstall: true })]);
    other.bus.open((event) => other.events.push(event));
    await waitUntil('the alarm', () => other.told('alarm').length > 0);
    expect(other.told('alarm').map((event) => event.code)).toContain('DEVICE_KEY_MISMATCH');
    fake.swipe(1, 26, card);
    expect(other.told('card')).toEqual([]);
    expect(other.stateOf(1)).not.toBe('online');
    expect(fakeTap.seen.some(({ frame }) => frame.code === 0x75 && !frame.isReply)).toBe(false);
    await other.bus.close();
    await fakeTap.close();
    await fake.detach();
  });

  it('cannot read a key: none is sent outside the window that an operator opened', async (context) => {
    const { bench, open, answerWith, commandsSaid, nothingLeaked } = await takeStage(context);
    open();
    await bench.online(1);
    let storms = 0;
    answerWith((command) => {
      if (command.code !== poll || storms >= 5) return undefined;
      storms += 1;
      return forge(command, nak(6));
    });
    await waitUntil('five provocations', () => storms === 5);
    await bench.online(1);
    expect(commandsSaid().filter((frame) => frame.code === 0x75)).toEqual([]);
    nothingLeaked();
  });

  it('cannot replay a card', async (context) => {
    const { peer, tap, bench, open, alarmed, changeReplies, nothingLeaked } = await takeStage(context);
    open();
    await bench.online(1);
    peer.swipe(1, 26, card);
    await waitUntil('the card', () => bench.told('card').length === 1);
    const recorded = tap.seen.findLast(({ frame }) => frame.isReply && frame.code === 0x50)?.frame;
    expect(recorded).toBeDefined();
    changeReplies((reply, command) => {
      const isSameTurn = recorded !== undefined && command.code === poll && reply.sequence === recorded.sequence;
      return isSameTurn ? recorded.bytes : reply.bytes;
    });
    await alarmed('DEVICE_MESSAGE_FORGED');
    expect(bench.told('card')).toHaveLength(1);
    nothingLeaked();
  });

  it('cannot replay a release at the reader', async (context) => {
    const { peer, tap, bench, open, commandsSaid } = await takeStage(context);
    open();
    await bench.online(1);
    expect(await bench.bus.command(deviceAt(1), release, later(benchNow(), 2_000))).toEqual({ kind: 'done' });
    const recorded = commandsSaid().findLast((frame) => frame.code === 0x68)?.bytes;
    expect(recorded).toBeDefined();
    expect(peer.orders).toHaveLength(1);
    for (let count = 0; count < replays; count += 1) {
      const heard = peer.heard.length;
      if (recorded !== undefined) tap.inject('reader', recorded);
      await waitUntil('the replay to arrive', () => peer.heard.length > heard + 1);
    }
    expect(peer.orders).toHaveLength(1);
  });

  it('cannot put a card into a session in plain', async (context) => {
    const { bench, open, alarmed, answerWith, noOpens } = await takeStage(context);
    open();
    await bench.online(1);
    answerWith((command) => (command.code === poll ? forge(command, cardReply) : undefined));
    await alarmed('DEVICE_SECURITY_LOST');
    await noOpens();
  });

  it('cannot change a bit of a card', async (context) => {
    const { peer, tap, bench, open, alarmed, noOpens } = await takeStage(context);
    open();
    await bench.online(1);
    tap.tamper = (direction, frame) => {
      if (direction === 'command' || frame.code !== 0x50) return [frame.bytes];
      const { address, isReply, sequence, check, security, code } = frame;
      const data = frame.data.map((byte, index) => (index === 0 ? byte ^ 1 : byte));
      return [encodeFrame({ address, isReply, sequence, check, security, code, data }, () => frame.mac ?? data)];
    };
    peer.swipe(1, 26, card);
    await alarmed('DEVICE_MESSAGE_FORGED');
    await noOpens();
  });

  it.for<[string, Reply]>([
    ['refusals', nak(6)],
    ['refusals of security', nak(5)],
    ['broken sequences', nak(4)],
    ['other errors', nak(3)],
  ])('cannot open anything by a storm of %s', async ([, reply], context) => {
    const { bench, open, alarmed, answerWith, noOpens } = await takeStage(context);
    open();
    await bench.online(1);
    let answered = 0;
    answerWith((command) => {
      if (command.security === undefined || command.security.type < 0x15) return undefined;
      answered += 1;
      return forge(command, reply);
    });
    await alarmed('DEVICE_SECURITY_LOST', 'DEVICE_MESSAGE_FORGED');
    expect(answered).toBeGreaterThan(0);
    await noOpens();
  });

  it.runIf(isFull)('cannot keep a reader busy for ever without it being said', async (context) => {
    const { bench, open, answerWith, noOpens } = await takeStage(context);
    open();
    await bench.online(1);
    answerWith((command) =>
      command.security === undefined ? undefined : forge(command, { kind: 'busy' }, { sequence: 0 }),
    );
    await waitUntil('the reader to be given up', () => bench.stateOf(1) === 'offline', 25_000);
    await noOpens();
  });

  it('cannot stay for long once the line is clean again', async (context) => {
    const { tap, bench, open, alarmed, answerWith } = await takeStage(context);
    answerWith((command) => (command.code === challenge ? forge(command, nak(5)) : undefined));
    open();
    await alarmed('DEVICE_KEY_MISMATCH', 'DEVICE_SECURITY_LOST');
    tap.tamper = (_, frame) => [frame.bytes];
    await bench.online(1);
    expect(await bench.bus.command(deviceAt(1), release, later(benchNow(), 2_000))).toEqual({ kind: 'done' });
  });
});
