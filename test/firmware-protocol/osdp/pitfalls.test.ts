import { describe, expect, it } from 'vitest';
import { fragmentRoom } from '#protocol/osdp/file-transfer.ts';
import { encodeFrame, type Frame, type Sequence } from '#protocol/osdp/frame.ts';
import { createFrameParser, parseFrames } from '#protocol/osdp/frame-parser.ts';
import { encodeCommand, encodeReply, type Reply } from '#protocol/osdp/message.ts';
import {
  arrives,
  card,
  type Fate,
  frameOf,
  isLost,
  otherKey,
  plainPanel,
  plainReader,
  readerCapabilities,
  release,
  SessionBench,
  securePanel,
  secureReader,
} from './session-bench.ts';

/** What goes wrong between real panels and real readers, one test for each entry of the list. */
const empty = new Uint8Array(0);
const copy = (bytes: Uint8Array) => [{ bytes, delayMs: 0 }];
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const nak = (reason: number): Reply => ({ kind: 'nak', reason, details: empty });
const reply = (to: Frame, what: Reply, sequence: Sequence = to.sequence): Uint8Array =>
  encodeFrame({
    address: to.address,
    isReply: true,
    sequence,
    check: 'crc',
    security: undefined,
    ...encodeReply(what),
  });

const secure = () => new SessionBench(securePanel, secureReader).run(500);
const plain = () => new SessionBench(plainPanel, plainReader).run(500);
const offlines = (bench: SessionBench) => bench.said('offline').map(({ reason }) => reason);
const reads = (bench: SessionBench) => bench.said('event').filter((event) => event.reply.kind === 'card').length;
const sentUnder = (bench: SessionBench, code: number) =>
  bench.sent.filter(({ direction, bytes }) => direction === 'to-reader' && frameOf(bytes)[0]?.code === code);

/** Changes the first replies for which it can, then passes everything. */
function once(change: (frame: Frame) => Uint8Array | undefined, times = 1): Fate {
  let left = times;
  return (direction, bytes) => {
    const frame = frameOf(bytes)[0];
    const changed = direction === 'to-panel' && left > 0 && frame !== undefined ? change(frame) : undefined;
    if (changed === undefined) return copy(bytes);
    left -= 1;
    return copy(changed);
  };
}

describe('the pitfalls of OSDP', () => {
  it('1: a late reply to an earlier try is not taken for the answer to the next command', () => {
    const bench = plain();
    bench.flushes = false;
    let isFirst = true;
    bench.fate = (direction, bytes) => {
      if (direction === 'to-reader' || !isFirst) return copy(bytes);
      isFirst = false;
      return [{ bytes, delayMs: 210 }];
    };
    bench.command(release);
    bench.run(2_000);
    expect(bench.said('command-done').map(({ outcome }) => outcome.kind)).toEqual(['accepted']);
    expect(bench.did('output')).toHaveLength(1);
    expect(offlines(bench)).toEqual([]);
  });

  it('1: in a session both answers to a repeated command may arrive without a suspicion', () => {
    const bench = secure();
    bench.flushes = false;
    let count = 0;
    bench.fate = (direction, bytes) => {
      count += Number(direction === 'to-panel');
      // The first answer comes after the repeat has left, the second one during the next exchange.
      const isLate = direction === 'to-panel' && count <= 2;
      return [{ bytes, delayMs: isLate ? 205 : 0 }];
    };
    bench.run(3_000);
    expect(bench.alarms()).toEqual([]);
    expect(offlines(bench)).toEqual([]);
    expect(bench.said('transmit').filter(({ role }) => role === 'repeat').length).toBeGreaterThan(0);
  });

  it('2: a repeat has the same bytes', () => {
    const bench = secure();
    bench.fate = isLost;
    const from = bench.sent.length;
    bench.run(3_000);
    expect(new Set(bench.sent.slice(from).map(({ bytes }) => hex(bytes))).size).toBe(1);
    expect(bench.sent.length - from).toBeGreaterThan(3);
  });

  it('3: every try with another key begins at sequence 0 with a fresh number', () => {
    const security = {
      mode: 'secure',
      key: Uint8Array.from({ length: 16 }, (_, n) => n + 1),
      candidate: otherKey,
    } as const;
    const bench = new SessionBench({ ...securePanel, security }, { ...secureReader, key: otherKey }).run(1_000);
    const challenges = bench.fromPanel().filter(({ security: block }) => block?.type === 0x11);
    expect(challenges.map(({ sequence }) => sequence)).toEqual([0, 0]);
    expect(new Set(challenges.map(({ data }) => hex(data))).size).toBe(2);
    expect(bench.said('key-installed')).toMatchObject([{ key: otherKey }]);
  });

  it('4: BUSY outside the session repeats the bytes, BUSY inside it asks anew', () => {
    const bench = secure();
    let isBusy = true;
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      if (direction === 'to-panel' || frame?.code !== 0x68 || !isBusy) return copy(bytes);
      isBusy = false;
      bench.inject('to-panel', reply(frame, { kind: 'busy' }, 0), 16);
      return [];
    };
    bench.command(release, 5_000);
    bench.run(2_000);
    expect(new Set(sentUnder(bench, 0x68).map(({ bytes }) => hex(bytes))).size).toBe(1);
    // Inside the session: the reader's own state answers once with BUSY under its MAC.
    const inside = secure();
    const present = { kind: 'busy' } as unknown as Parameters<typeof inside.present>[0];
    inside.present(present);
    inside.run(2_000);
    expect(offlines(inside)).toEqual([]);
    expect(inside.panel.busyAnswers).toBe(0);
    inside.command(release);
    inside.run(500);
    expect(inside.said('command-done').map(({ outcome }) => outcome.kind)).toEqual(['accepted']);
  });

  it('5: a plain NAK 1 does not end the session', () => {
    const bench = secure();
    bench.fate = once((frame) => reply(frame, nak(1)), 2);
    bench.run(2_000);
    expect(offlines(bench)).toEqual([]);
    expect(bench.alarms()).toEqual([]);
  });

  it('6: the ACK to a key may come in plain', () => {
    const bench = secure();
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      const isAck = direction === 'to-panel' && bench.panel.stage.kind === 'set-key' && frame?.code === 0x40;
      return copy(isAck ? reply(frame, { kind: 'ack' }) : bytes);
    };
    bench.tell({ kind: 'rekey', at: bench.now, key: otherKey });
    bench.run(2_000);
    expect(bench.said('key-installed')).toMatchObject([{ key: otherKey }]);
  });

  it('7: there is no way back to plain speech or the public key', () => {
    const bench = new SessionBench(securePanel, { ...plainReader, isInstallMode: true }).run(60_000);
    expect(bench.fromPanel().every(({ code }) => [0x61, 0x62, 0x76].includes(code))).toBe(true);
    expect(bench.fromPanel().every(({ security }) => security === undefined || security.data[0] === 1)).toBe(true);
    expect(bench.said('online')).toEqual([]);
  });

  it('8: an answer for another key than asked is refused', () => {
    const bench = new SessionBench(securePanel, secureReader);
    bench.fate = once((frame) =>
      frame.security?.type === 0x12
        ? encodeFrame({ ...frame, security: { type: 0x12, data: Uint8Array.of(0) } })
        : undefined,
    );
    bench.run(500);
    expect(bench.said('online')).toEqual([]);
    expect(bench.alarms()).toContain('DEVICE_SECURITY_LOST');
  });

  it.each([
    [0xff, false],
    [0, true],
    [1, true],
  ])('9: a proof answered with status %i counts: %s', (status, counts) => {
    const bench = new SessionBench(securePanel, secureReader);
    bench.fate = once((frame) =>
      frame.security?.type === 0x14
        ? encodeFrame({ ...frame, security: { type: 0x14, data: Uint8Array.of(status) } })
        : undefined,
    );
    bench.run(500);
    expect(bench.said('online')).toHaveLength(counts ? 1 : 0);
  });

  it('10: replies in either check are taken', () => {
    for (const [panel, reader] of [
      [securePanel, { ...secureReader, check: 'checksum' }],
      [plainPanel, { ...plainReader, check: 'checksum' }],
      [
        { ...plainPanel, check: 'checksum' },
        { ...plainReader, check: 'crc' },
      ],
    ] as const) {
      const bench = new SessionBench(panel, reader).run(1_000);
      expect(bench.panel.status?.kind).toBe('online');
    }
  });

  it('11: the handshake and the session are never under a checksum', () => {
    const bench = new SessionBench({ ...securePanel, check: 'checksum' }, secureReader).run(1_000);
    const secured = bench.fromPanel().filter(({ security }) => security !== undefined);
    expect(secured.length).toBeGreaterThan(5);
    expect(secured.every(({ check }) => check === 'crc')).toBe(true);
    expect(bench.fromPanel()[0]?.check).toBe('checksum');
  });

  it('12: reads from before a reconnection open nothing', () => {
    const bench = secure();
    bench.fate = isLost;
    bench.until('offline');
    bench.present(card(1));
    bench.present(card(2));
    bench.fate = arrives;
    bench.run(8_000);
    expect(bench.said('discarded')).toHaveLength(2);
    expect(reads(bench)).toBe(0);
    bench.present(card(3));
    bench.run(300);
    expect(reads(bench)).toBe(1);
  });

  it('13: a NAK to a command, or to a POLL, is not off line', () => {
    const bench = plain();
    bench.fate = once((frame) => (frame.code === 0x40 ? reply(frame, nak(9)) : undefined), 3);
    bench.run(1_000);
    expect(offlines(bench)).toEqual([]);
  });

  it('14: a damaged reply is not off line', () => {
    for (const bench of [plain(), secure()]) {
      bench.fate = once(({ bytes }) => bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)), 3);
      bench.run(2_000);
      expect(offlines(bench)).toEqual([]);
    }
  });

  it('15: a reader that restarted is met again at once', () => {
    for (const bench of [plain(), secure()]) {
      bench.cutPower();
      bench.restorePower();
      const at = bench.now;
      bench.until('online');
      expect((bench.said('online')[1]?.seenAt ?? Number.POSITIVE_INFINITY) - at).toBeLessThan(500);
    }
  });

  it('16: capabilities never lower security', () => {
    const bench = new SessionBench(securePanel, { ...secureReader, capabilities: readerCapabilities(false) }).run(
      1_000,
    );
    expect(bench.said('online')).toMatchObject([{ channel: 'secure' }]);
    expect(bench.alarms()).toEqual(['DEVICE_SECURITY_LOST']);
  });

  it('17: a card is told by its bit count, whatever format the reader claims', () => {
    const bench = secure();
    bench.present({ kind: 'card', reader: 0, format: 0, bitCount: 26, bytes: Uint8Array.of(0xbd, 0xd9, 0x37, 0x40) });
    bench.run(300);
    const read = bench.said('event').find((event) => event.reply.kind === 'card');
    expect(read?.reply).toMatchObject({ format: 0, bitCount: 26 });
  });

  it('18: an absent reader asks for little of the line', () => {
    const bench = plain();
    bench.cutPower();
    bench.run(20_000);
    const from = bench.sent.length;
    bench.run(60_000);
    expect(bench.sent.length - from).toBeLessThanOrEqual(13);
  });

  it('19: a temporary lamp does not touch the permanent one, and nothing is cancelled by accident', () => {
    const pattern = { onTenths: 1, offTenths: 0, onColor: 'green', offColor: 'green' } as const;
    const { data } = encodeCommand({
      kind: 'led',
      records: [
        {
          reader: 0,
          led: 0,
          temporary: { action: 'set', ...pattern, timerTenths: 30 },
          permanent: { action: 'nothing' },
        },
      ],
    });
    expect(hex(data)).toBe('00000201000202' + '1e00' + '0000000000');
    const permanent = encodeCommand({
      kind: 'led',
      records: [{ reader: 0, led: 0, temporary: { action: 'nothing' }, permanent: { action: 'set', ...pattern } }],
    });
    expect(permanent.data[2]).toBe(0);
  });

  it('20: a lamp or buzzer without any on-time cannot be asked for', () => {
    const dark = { action: 'set', onTenths: 0, offTenths: 0, onColor: 'red', offColor: 'red' } as const;
    const records = [{ reader: 0, led: 0, temporary: { action: 'nothing' }, permanent: dark } as const];
    expect(() => encodeCommand({ kind: 'led', records })).toThrow(RangeError);
    const mute = { kind: 'buzzer', reader: 0, tone: 'default', onTenths: 0, offTenths: 0, count: 1 } as const;
    expect(() => encodeCommand(mute)).toThrow(RangeError);
  });

  it('21, 22, 23: messages cut anywhere, clumped, holding 0x53 and mixed with our own echo come out whole', () => {
    const parts = { address: 0, sequence: 1, check: 'crc', security: undefined } as const;
    const ours = encodeFrame({ ...parts, isReply: false, ...encodeCommand({ kind: 'poll' }) });
    const read: Reply = { kind: 'card', reader: 0, format: 0x53, bitCount: 32, bytes: Uint8Array.of(0x53, 0x53, 8, 0) };
    const theirs = encodeFrame({ ...parts, isReply: true, ...encodeReply(read) });
    const stream = Uint8Array.from([0xff, ...ours, 0xff, ...theirs, 0x53, 0xff, ...theirs]);
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const first = parseFrames(createFrameParser('replies'), stream.subarray(0, cut));
      const second = parseFrames(first.state, stream.subarray(cut));
      const frames = [...first.frames, ...second.frames].map(({ bytes }) => hex(bytes));
      expect(frames).toEqual([hex(theirs), hex(theirs)]);
      expect([...first.foreign, ...second.foreign]).toHaveLength(1);
    }
  });

  it('24: after a change of address the reader is met at the address it named, from sequence 0', () => {
    const bench = new SessionBench(plainPanel, { ...plainReader, allowsCommunication: true }).run(500);
    bench.command({ kind: 'set-communication', address: 9, baud: 9_600 });
    bench.run(1_000);
    const moved = bench.fromPanel().filter(({ address }) => address === 9);
    expect(moved[0]).toMatchObject({ sequence: 0, code: 0x61 });
    expect(bench.panel.status?.kind).toBe('online');
  });

  it('25: a file fragment never makes a frame longer than the reader takes', () => {
    for (const isSecured of [false, true]) {
      for (let longest = 40; longest <= 1_440; longest += 1) {
        const room = fragmentRoom(longest, isSecured);
        const data = isSecured ? (Math.floor((11 + room) / 16) + 1) * 16 : 11 + room;
        const frame = isSecured ? 5 + 2 + 1 + data + 4 + 2 : 5 + 1 + data + 2;
        expect(frame).toBeLessThanOrEqual(longest);
      }
    }
  });

  it('26: unknown replies and capabilities are tolerated', () => {
    const odd = [{ function: 200, level: 9, count: 9 }, ...secureReader.capabilities];
    const bench = new SessionBench(securePanel, { ...secureReader, capabilities: odd }).run(500);
    expect(bench.panel.status?.kind).toBe('online');
    const other = plain();
    other.fate = once((frame) => encodeFrame({ ...frame, code: 0x6f, data: Uint8Array.of(1, 2) }));
    other.run(500);
    expect(offlines(other)).toEqual([]);
    expect(other.said('event').map((event) => event.reply.kind)).toContain('unknown');
  });

  it('27: one reader’s restart leaves its neighbours’ sessions alone', () => {
    const one = secure();
    const other = secure();
    const before = other.panel;
    one.cutPower();
    one.restorePower();
    one.run(1_000);
    expect(other.panel).toBe(before);
    expect(one.said('online')).toHaveLength(2);
  });

  it('28: an answer forgets the misses before it', () => {
    const bench = secure();
    // Three lost out of four, for a minute: never eight seconds without an answer.
    let count = 0;
    bench.fate = (direction, bytes) => {
      if (direction === 'to-reader') return copy(bytes);
      count += 1;
      return count % 4 === 0 ? copy(bytes) : [];
    };
    bench.run(60_000);
    expect(offlines(bench)).toEqual([]);
  });
});
