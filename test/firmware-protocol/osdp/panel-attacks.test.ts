import { describe, expect, it } from 'vitest';
import { encodeFrame, type Frame, type FrameParts, type Sequence } from '#protocol/osdp/frame.ts';
import { encodeCommand, encodeReply, type Reply } from '#protocol/osdp/message.ts';
import type { PeripheralConfig } from '#protocol/osdp/peripheral-port.ts';
import { defaultKey, messageMac } from '#protocol/osdp/secure-channel.ts';
import {
  arrives,
  card,
  type Fate,
  frameOf,
  otherKey,
  plainPanel,
  plainReader,
  readerCapabilities,
  readerIdentity,
  readerKey,
  release,
  SessionBench,
  securePanel,
  secureReader,
} from './session-bench.ts';

/** Somebody sits in the line between panel and reader and can drop, change, repeat and invent messages. */
const empty = new Uint8Array(0);
const copy = (bytes: Uint8Array) => [{ bytes, delayMs: 0 }];

/** A reply in plain to that command. */
function plainReply(
  to: Pick<Frame, 'address' | 'sequence'>,
  reply: Reply,
  sequence: Sequence = to.sequence,
): Uint8Array {
  const parts: FrameParts = {
    address: to.address,
    isReply: true,
    sequence,
    check: 'crc',
    security: undefined,
    ...encodeReply(reply),
  };
  return encodeFrame(parts);
}

/** Changes replies of one code; commands and other replies pass. */
const changing =
  (code: number, change: (frame: Frame) => readonly Uint8Array[]): Fate =>
  (direction, bytes) => {
    const frame = frameOf(bytes)[0];
    if (direction !== 'to-panel' || frame?.code !== code) return copy(bytes);
    return change(frame).flatMap(copy);
  };

const nak = (reason: number): Reply => ({ kind: 'nak', reason, details: empty });
const commandsInPlain = (bench: SessionBench) =>
  new Set(bench.fromPanel().flatMap((frame) => (frame.security === undefined ? [frame.code] : [])));
const secured = (bench: SessionBench) => bench.said('online').map(({ channel }) => channel);
const cards = (bench: SessionBench) => bench.said('event').filter(({ reply }) => reply.kind === 'card');
const online = () => new SessionBench(securePanel, secureReader).until('online').run(300);

describe('somebody who tries to make encryption optional', () => {
  it('by refusing the handshake gets no plain speech, an alarm, and no reader', () => {
    const bench = new SessionBench(securePanel, secureReader);
    bench.fate = changing(0x76, (frame) => [plainReply(frame, nak(5))]);
    bench.run(30_000);
    expect(commandsInPlain(bench)).toEqual(new Set([0x61, 0x62]));
    expect(secured(bench)).toEqual([]);
    expect(bench.alarms()).toEqual(['DEVICE_KEY_MISMATCH']);
    expect(bench.said('offline').map(({ reason }) => reason)).toEqual(['key-mismatch']);
  });

  it('by keeping the handshake from the reader gets an alarm', () => {
    const bench = new SessionBench(securePanel, secureReader);
    bench.fate = (direction, bytes) =>
      direction === 'to-reader' && frameOf(bytes)[0]?.code === 0x76 ? [] : copy(bytes);
    bench.run(30_000);
    expect(commandsInPlain(bench)).toEqual(new Set([0x61, 0x62]));
    expect(bench.alarms()).toEqual(['DEVICE_SECURITY_LOST']);
  });

  it('by a capability reply that denies it changes nothing but gives himself away', () => {
    const bench = new SessionBench(securePanel, secureReader);
    const denial = { kind: 'capabilities', capabilities: readerCapabilities(false) } as const;
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      const isPlainAnswer = direction === 'to-panel' && frame?.code === 0x46 && frame.security === undefined;
      return copy(isPlainAnswer ? plainReply(frame, denial) : bytes);
    };
    bench.run(2_000);
    expect(secured(bench)).toEqual(['secure']);
    expect(bench.alarms()).toEqual(['DEVICE_MESSAGE_FORGED', 'DEVICE_SECURITY_LOST']);
    expect(bench.said('online')[0]?.capabilities.capabilities).toEqual(readerCapabilities(true));
  });

  it('by leaving encryption out of the capabilities is found out inside the session', () => {
    const bench = new SessionBench(securePanel, secureReader);
    const silent = readerCapabilities(true).filter((entry) => entry.function !== 9);
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      const isPlainAnswer = direction === 'to-panel' && frame?.code === 0x46 && frame.security === undefined;
      return copy(isPlainAnswer ? plainReply(frame, { kind: 'capabilities', capabilities: silent }) : bytes);
    };
    bench.run(2_000);
    expect(secured(bench)).toEqual(['secure']);
    expect(bench.alarms()).toEqual(['DEVICE_MESSAGE_FORGED']);
  });

  it('by saying a read in plain inside the session is heard by nobody', () => {
    const bench = online();
    bench.fate = changing(0x40, (frame) => [plainReply(frame, card(7))]);
    bench.run(500);
    bench.fate = arrives;
    bench.run(2_000);
    expect(cards(bench)).toEqual([]);
    expect(bench.alarms()).toContain('DEVICE_SECURITY_LOST');
    expect(bench.panel.status?.kind).toBe('online');
  });

  it('by saying a read in plain at sequence 0, as if restarted, is heard by nobody', () => {
    const bench = online();
    bench.fate = changing(0x40, (frame) => [plainReply(frame, card(7), 0)]);
    bench.run(5_000);
    expect(cards(bench)).toEqual([]);
    expect(bench.said('discarded')).toEqual([]);
    expect(bench.alarms()).toEqual(['DEVICE_MESSAGE_FORGED']);
  });

  it('by offering the public key instead of the reader’s gets an alarm and no channel', () => {
    const rogue: PeripheralConfig = { ...secureReader, key: otherKey, isInstallMode: true };
    const bench = new SessionBench(securePanel, rogue);
    const select = (bytes: Uint8Array, value: number) => {
      const frame = frameOf(bytes)[0];
      if (frame?.security === undefined || frame.code !== 0x76) return bytes;
      return encodeFrame({ ...frame, security: { type: frame.security.type, data: Uint8Array.of(value) } });
    };
    // Asks the reader for the public key, and says to the panel what is true.
    bench.fate = (direction, bytes) => copy(direction === 'to-reader' ? select(bytes, 0) : bytes);
    bench.run(5_000);
    expect(bench.alarms()).toEqual(['DEVICE_KEY_MISMATCH', 'DEVICE_SECURITY_LOST']);
    // And hides it.
    bench.fate = (direction, bytes) => copy(select(bytes, direction === 'to-reader' ? 0 : 1));
    bench.run(20_000);
    expect(secured(bench)).toEqual([]);
  });
});

describe('keys somebody could know', () => {
  it('open no session when the reader answers under all zeros', () => {
    const bench = new SessionBench(securePanel, { ...secureReader, key: new Uint8Array(16) });
    bench.run(10_000);
    expect(secured(bench)).toEqual([]);
    expect(bench.alarms()).toEqual(['DEVICE_KEY_MISMATCH']);
  });

  it.each([
    ['all zeros', new Uint8Array(16)],
    ['the public key', defaultKey],
  ])('are no keys when configured: %s', (_name, key) => {
    const bench = new SessionBench({ ...securePanel, security: { mode: 'secure', key } }, { ...secureReader, key });
    bench.run(10_000);
    expect(commandsInPlain(bench)).toEqual(new Set([0x61, 0x62]));
    expect(bench.fromPanel().some((frame) => frame.code === 0x76)).toBe(false);
    expect(bench.said('offline').map(({ reason }) => reason)).toEqual(['security-required']);
  });

  it.each([
    ['all zeros', new Uint8Array(16)],
    ['the public key', defaultKey],
    ['the key it has', readerKey],
  ])('are never given to a reader: %s', (_name, key) => {
    const bench = online();
    bench.tell({ kind: 'open-install', at: bench.now, until: bench.now + 60_000, key });
    bench.tell({ kind: 'rekey', at: bench.now, key });
    bench.run(5_000);
    expect(bench.did('key-set')).toEqual([]);
    expect(bench.said('install-closed').map(({ reason }) => reason)).toEqual(['unsuitable', 'unsuitable']);
  });
});

describe('the install window', () => {
  const unkeyed: PeripheralConfig = { ...secureReader, requireSecure: false, isInstallMode: true };
  const { key: _key, ...factory } = unkeyed;
  const waiting = { ...securePanel, security: { mode: 'secure', key: undefined } } as const;

  it('closes by itself: a reader that comes too late is not given the key', () => {
    const bench = new SessionBench(waiting, factory);
    bench.cutPower();
    bench.tell({ kind: 'open-install', at: bench.now, until: bench.now + 60_000, key: otherKey });
    expect(bench.alarms()).toEqual(['INSTALL_WINDOW_OPEN']);
    bench.run(61_000);
    const closedAt = bench.now;
    bench.restorePower();
    bench.run(60_000);
    expect(bench.said('install-closed').map(({ reason }) => reason)).toEqual(['expired']);
    expect(bench.did('key-set')).toEqual([]);
    const challenges = bench.sent.filter(({ at, bytes }) => at >= closedAt && frameOf(bytes)[0]?.code === 0x76);
    expect(challenges).toEqual([]);
  });

  it('serves one reader once: the next factory reader in its place gets nothing', () => {
    const bench = new SessionBench(waiting, factory).run(100);
    bench.tell({ kind: 'open-install', at: bench.now, until: bench.now + 600_000, key: otherKey });
    bench.until('key-installed').run(1_000);
    expect(bench.did('key-set')).toHaveLength(1);
    bench.swapReader(factory);
    bench.run(60_000);
    expect(bench.did('key-set')).toHaveLength(1);
    expect(bench.alarms()).toContain('DEVICE_KEY_MISMATCH');
    const selects = bench
      .fromPanel()
      .flatMap((frame) => (frame.security?.type === 0x11 ? [frame.security.data[0]] : []));
    expect(selects.filter((select) => select === 0)).toHaveLength(1);
  });

  it('ends a key on its way: KEYSET is not even repeated once it is over', () => {
    const bench = new SessionBench(waiting, factory);
    bench.fate = (direction, bytes) =>
      direction === 'to-reader' && frameOf(bytes)[0]?.code === 0x75 ? [] : copy(bytes);
    bench.run(100);
    const until = bench.now + 300;
    bench.tell({ kind: 'open-install', at: bench.now, until, key: otherKey });
    bench.run(10_000);
    const keys = bench.sent.filter(({ bytes }) => frameOf(bytes)[0]?.code === 0x75);
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.every(({ at }) => at < until)).toBe(true);
  });

  it('never lets a key out in plain, nor under the public key after it closed', () => {
    const bench = new SessionBench(waiting, factory);
    const isKey = (bytes: Uint8Array) => frameOf(bytes)[0]?.code === 0x75;
    bench.fate = (direction, bytes) => (direction === 'to-reader' && isKey(bytes) ? [] : copy(bytes));
    bench.run(100);
    bench.tell({ kind: 'open-install', at: bench.now, until: bench.now + 1_500, key: otherKey });
    bench.run(30_000);
    const keys = bench.sent.filter(({ bytes }) => isKey(bytes));
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.every(({ bytes }) => frameOf(bytes)[0]?.security?.type === 0x17)).toBe(true);
    expect(keys.every(({ at }) => at < 1_000 + 200 + 1_500)).toBe(true);
  });
});

describe('replay', () => {
  it('of a read is not a second read, and alarms', () => {
    const bench = online();
    bench.present(card(9));
    bench.run(300);
    expect(cards(bench)).toHaveLength(1);
    const read = bench.sent.find(
      ({ direction, bytes }) => direction === 'to-panel' && frameOf(bytes)[0]?.code === 0x50,
    );
    expect(read).toBeDefined();
    bench.fate = (direction, bytes) => copy(direction === 'to-panel' && read !== undefined ? read.bytes : bytes);
    bench.run(3_000);
    bench.fate = arrives;
    bench.run(6_000);
    expect(cards(bench)).toHaveLength(1);
    expect(bench.alarms()).toContain('DEVICE_MESSAGE_FORGED');
    expect(bench.panel.status?.kind).toBe('online');
  });

  it('of a whole earlier session opens no session', () => {
    const bench = online();
    bench.present(card(9));
    bench.run(300);
    const recorded = bench.sent.slice();
    bench.cutPower();
    bench.run(12_000);
    // Each command gets what the reader once answered to the same.
    const answerTo = (bytes: Uint8Array): Uint8Array | undefined => {
      const command = frameOf(bytes)[0];
      const at = recorded.findIndex((sent) => {
        const frame = frameOf(sent.bytes)[0];
        const isSame = frame?.code === command?.code && frame?.sequence === command?.sequence;
        return sent.direction === 'to-reader' && isSame;
      });
      return recorded[at + 1]?.bytes;
    };
    bench.fate = (direction, bytes) => {
      if (direction === 'to-panel') return copy(bytes);
      const reply = answerTo(bytes);
      if (reply !== undefined) bench.inject('to-panel', reply, 16);
      return [];
    };
    const opened = bench.said('online').length;
    bench.run(30_000);
    expect(bench.said('online')).toHaveLength(opened);
    expect(cards(bench)).toHaveLength(1);
    expect(bench.alarms()).toContain('DEVICE_KEY_MISMATCH');
  });

  it('of a release moves nothing at the reader', () => {
    const bench = online();
    bench.command(release);
    bench.run(300);
    const order = bench.sent.find(
      ({ direction, bytes }) => direction === 'to-reader' && frameOf(bytes)[0]?.code === 0x68,
    );
    for (let tries = 0; tries < 20 && order !== undefined; tries += 1) {
      bench.inject('to-reader', order.bytes);
      bench.run(150);
    }
    expect(order).toBeDefined();
    expect(bench.did('output')).toHaveLength(1);
  });
});

describe('a handshake without the key', () => {
  it('ends before the panel shows its own proof', () => {
    const bench = new SessionBench(securePanel, { ...secureReader, key: otherKey }).run(20_000);
    expect(bench.fromPanel().some(({ code }) => code === 0x76)).toBe(true);
    expect(bench.fromPanel().some(({ code }) => code === 0x77)).toBe(false);
  });

  it('opens nothing when only the last answer is wrong', () => {
    const bench = new SessionBench(securePanel, secureReader);
    bench.fate = changing(0x78, (frame) => [
      encodeFrame({ ...frame, data: frame.data.map((byte, at) => (at === 15 ? byte ^ 1 : byte)) }),
    ]);
    bench.run(20_000);
    expect(secured(bench)).toEqual([]);
    expect(bench.alarms()).toEqual(['DEVICE_KEY_MISMATCH']);
  });
});

describe('forgery', () => {
  it('of data that does not decrypt ends the session, even under a good MAC', () => {
    const bench = online();
    bench.fate = changing(0x50, (frame) => {
      const { channel } = bench.panel.link;
      const commandMac = bench.panel.exchange?.commandMac;
      if (channel === undefined || commandMac === undefined) throw new Error('no session');
      const data = new Uint8Array(16).fill(7);
      return [encodeFrame({ ...frame, data }, (covered) => messageMac(channel.keys, commandMac, covered))];
    });
    bench.present(card(3));
    bench.run(2_000);
    expect(cards(bench)).toEqual([]);
    expect(bench.alarms()).toEqual(['DEVICE_MESSAGE_FORGED']);
  });

  it('of one bit in the MAC of a release moves nothing at the reader', () => {
    const bench = online();
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      if (direction === 'to-panel' || frame?.mac === undefined || frame.code !== 0x68) return copy(bytes);
      const mac = frame.mac.map((byte, at) => (at === 0 ? byte ^ 1 : byte));
      return copy(encodeFrame(frame, () => mac));
    };
    bench.command(release);
    bench.run(2_000);
    expect(bench.did('output')).toEqual([]);
    expect(bench.said('command-done').map(({ outcome }) => outcome.kind)).toEqual(['unknown']);
  });

  it('of a security block where no session is, is no answer', () => {
    const bench = new SessionBench(plainPanel, plainReader);
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      if (direction === 'to-reader' || frame === undefined) return copy(bytes);
      return copy(encodeFrame({ ...frame, security: { type: 0x16, data: empty } }, () => new Uint8Array(4)));
    };
    bench.run(20_000);
    expect(bench.said('online')).toEqual([]);
    expect(bench.said('offline').map(({ reason }) => reason)).toEqual(['silent']);
  });

  it('of one bit in an encrypted read ends the session with an alarm', () => {
    const bench = online();
    bench.fate = changing(0x50, (frame) => {
      const data = frame.data.slice();
      data[0] = (data[0] ?? 0) ^ 1;
      return [encodeFrame({ ...frame, data }, () => frame.mac ?? empty)];
    });
    bench.present(card(3));
    bench.run(2_000);
    expect(cards(bench)).toEqual([]);
    expect(bench.alarms()).toEqual(['DEVICE_MESSAGE_FORGED']);
  });

  it('of the identity in plain is found out inside the session', () => {
    const bench = new SessionBench(securePanel, secureReader);
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      const isPlainAnswer = direction === 'to-panel' && frame?.code === 0x45 && frame.security === undefined;
      return copy(isPlainAnswer ? plainReply(frame, { ...readerIdentity, serial: 1 }) : bytes);
    };
    bench.run(1_000);
    expect(secured(bench)).toEqual(['secure']);
    expect(bench.said('online')[0]?.identity).toEqual(readerIdentity);
    expect(bench.alarms()).toEqual(['DEVICE_MESSAGE_FORGED']);
  });

  it('of a release in plain, or with a guessed MAC, moves nothing at the reader', () => {
    const bench = online();
    const order = encodeCommand(release);
    for (const sequence of [0, 1, 2, 3] as const) {
      const parts = { address: 0, isReply: false, sequence, check: 'crc', ...order } as const;
      bench.inject('to-reader', encodeFrame({ ...parts, security: undefined }));
      bench.run(300);
      const guessed = { ...parts, security: { type: 0x17, data: empty }, data: new Uint8Array(16) };
      bench.inject(
        'to-reader',
        encodeFrame(guessed, () => Uint8Array.of(1, 2, 3, 4)),
      );
      bench.run(300);
    }
    expect(bench.did('output')).toEqual([]);
    bench.run(10_000);
    expect(bench.panel.status?.kind).toBe('online');
  });
});

describe('a storm of refusals', () => {
  it.each([4, 5, 6])('NAK %i in plain for a minute: no event, an alarm, and back when it is over', (reason) => {
    const bench = online();
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      return copy(direction === 'to-panel' && frame?.security !== undefined ? plainReply(frame, nak(reason)) : bytes);
    };
    bench.present(card(4));
    bench.run(60_000);
    expect(cards(bench)).toEqual([]);
    expect(commandsInPlain(bench)).toEqual(new Set([0x61, 0x62]));
    expect(bench.alarms().length).toBeGreaterThan(0);
    bench.fate = arrives;
    bench.run(10_000);
    expect(bench.panel.status?.kind).toBe('online');
  });

  it('NAK 1 or BUSY for a minute: no event, said to be off line or forged, and back when it is over', () => {
    for (const reply of [nak(1), { kind: 'busy' } as const]) {
      const bench = online();
      bench.fate = (direction, bytes) => {
        const frame = frameOf(bytes)[0];
        return copy(direction === 'to-panel' && frame !== undefined ? plainReply(frame, reply) : bytes);
      };
      bench.run(60_000);
      expect(bench.said('offline').length).toBeGreaterThan(0);
      expect(cards(bench)).toEqual([]);
      bench.fate = arrives;
      bench.run(10_000);
      expect(bench.panel.status?.kind).toBe('online');
    }
  });

  it('sends little: a reader whose session is ended again and again leaves the line to its neighbours', () => {
    const bench = online();
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      return copy(direction === 'to-panel' && frame?.security !== undefined ? plainReply(frame, nak(4)) : bytes);
    };
    const before = bench.fromPanel().length;
    bench.run(60_000);
    expect(bench.fromPanel().length - before).toBeLessThan(100);
  });
});

describe('another reader in the place of the enrolled one', () => {
  const stranger = { ...readerIdentity, serial: 99 };

  it('without the key alarms twice and is never given one', () => {
    const bench = online();
    bench.swapReader({ ...secureReader, key: otherKey, identity: stranger, isInstallMode: true });
    bench.present(card(1));
    bench.run(60_000);
    expect(bench.alarms()).toEqual(expect.arrayContaining(['DEVICE_IDENTITY_CHANGED', 'DEVICE_KEY_MISMATCH']));
    expect(bench.said('offline').at(-1)?.reason).toBe('identity-changed');
    expect(bench.did('key-set')).toEqual([]);
    expect(cards(bench)).toEqual([]);
  });

  it('with the key but another serial does not come on line', () => {
    const bench = online();
    bench.swapReader({ ...secureReader, identity: stranger });
    bench.run(20_000);
    expect(bench.alarms()).toContain('DEVICE_IDENTITY_CHANGED');
    expect(bench.said('online')).toHaveLength(1);
  });
});
