import { describe, expect, it } from 'vitest';
import { encodeFrame } from '#protocol/osdp/frame.ts';
import { queueLimit } from '#protocol/osdp/panel-session.ts';
import type { PeripheralConfig } from '#protocol/osdp/peripheral-port.ts';
import {
  arrives,
  card,
  type Fate,
  frameOf,
  isLost,
  otherKey,
  plainPanel,
  plainReader,
  readerIdentity,
  readerKey,
  release,
  SessionBench,
  securePanel,
  secureReader,
} from './session-bench.ts';

const codes = (bench: SessionBench) => bench.fromPanel().map(({ code }) => code);
const outcomes = (bench: SessionBench) => bench.said('command-done').map(({ id, outcome }) => [id, outcome.kind]);
const { key: _key, ...unkeyed } = secureReader;
const factory: PeripheralConfig = { ...unkeyed, requireSecure: false, isInstallMode: true };
const waiting = { ...securePanel, security: { mode: 'secure', key: undefined } } as const;

/** Loses what the panel sends under one command code. */
const losing =
  (code: number): Fate =>
  (direction, bytes) =>
    direction === 'to-reader' && frameOf(bytes)[0]?.code === code ? [] : [{ bytes, delayMs: 0 }];

describe('a connection', () => {
  it('in plain goes from identity and capabilities to status and polls', () => {
    const bench = new SessionBench(plainPanel, plainReader).run(300);
    expect(codes(bench).slice(0, 6)).toEqual([0x61, 0x62, 0x60, 0x64, 0x65, 0x67]);
    expect(bench.said('online')[0]).toMatchObject({ channel: 'plain', identity: readerIdentity });
  });

  it('with a key shows the handshake, then asks identity and capabilities again under it', () => {
    const bench = new SessionBench(securePanel, secureReader).run(300);
    expect(codes(bench).slice(0, 9)).toEqual([0x61, 0x62, 0x76, 0x77, 0x61, 0x62, 0x60, 0x64, 0x65]);
    const sequences = bench.fromPanel().map(({ sequence }) => sequence);
    expect(sequences.slice(0, 9)).toEqual([0, 1, 0, 1, 2, 3, 1, 2, 3]);
    expect(bench.said('online')).toMatchObject([{ channel: 'secure' }]);
  });

  it('with a key speaks plain only for identity and capabilities', () => {
    const bench = new SessionBench(securePanel, secureReader).run(5_000);
    const plain = bench.fromPanel().filter(({ security }) => security === undefined);
    expect(new Set(plain.map(({ code }) => code))).toEqual(new Set([0x61, 0x62]));
  });

  it('finds a reader that answers ID only after a POLL', () => {
    const bench = new SessionBench(plainPanel, plainReader);
    let isAwake = false;
    bench.fate = (direction, bytes) => {
      const code = frameOf(bytes)[0]?.code;
      if (direction === 'to-reader' && code === 0x60) isAwake = true;
      return isAwake ? [{ bytes, delayMs: 0 }] : [];
    };
    bench.run(4_000);
    expect(bench.said('online')).toHaveLength(1);
  });

  it('asks no status of a reader that has none to give', () => {
    const capabilities = secureReader.capabilities.filter((entry) => ![1, 13].includes(entry.function));
    const bench = new SessionBench(securePanel, { ...secureReader, capabilities }).run(300);
    expect(codes(bench)).not.toContain(0x65);
    expect(codes(bench)).not.toContain(0x67);
    expect(codes(bench)).toContain(0x64);
  });

  it('tells the reader once how long a message it may send', () => {
    const bench = new SessionBench(securePanel, secureReader).run(1_000);
    expect(codes(bench).filter((code) => code === 0x7b)).toHaveLength(1);
    expect(codes(bench).indexOf(0x7b)).toBeGreaterThan(codes(bench).indexOf(0x67));
  });

  it.each([
    ['an unknown command', 3],
    ['a record it cannot process', 9],
    ['one that needs a session', 6],
  ])('goes on with a reader that refuses to be told so as %s', (_, reason) => {
    const bench = new SessionBench(plainPanel, plainReader);
    let isTold = false;
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      if (direction === 'to-reader') isTold = frame?.code === 0x7b;
      if (frame === undefined || direction === 'to-reader' || !isTold) return [{ bytes, delayMs: 0 }];
      return [{ bytes: encodeFrame({ ...frame, code: 0x41, data: Uint8Array.of(reason) }), delayMs: 0 }];
    };
    bench.run(10_000);
    expect(codes(bench).filter((code) => code === 0x7b)).toHaveLength(1);
    expect(bench.said('online')).toHaveLength(1);
    expect(bench.said('offline')).toEqual([]);
    expect(bench.alarms()).toEqual([]);
  });

  it('of a reader that demands a session where plain is configured is said to need one', () => {
    const bench = new SessionBench(plainPanel, { ...secureReader, requireSecure: true }).run(20_000);
    expect(bench.said('offline').map(({ reason }) => reason)).toEqual(['security-required']);
  });

  it('without a key waits for an operator, and says so once', () => {
    const bench = new SessionBench(waiting, factory).run(30_000);
    expect(new Set(codes(bench))).toEqual(new Set([0x61, 0x62]));
    expect(bench.said('offline').map(({ reason }) => reason)).toEqual(['security-required']);
  });

  it('of a plain reader with another serial alarms and does not come about', () => {
    const bench = new SessionBench(plainPanel, { ...plainReader, identity: { ...readerIdentity, serial: 2 } });
    bench.run(20_000);
    expect(bench.alarms()).toEqual(['DEVICE_IDENTITY_CHANGED']);
    expect(bench.said('offline').map(({ reason }) => reason)).toEqual(['identity-changed']);
  });

  it('keeps a reader whose firmware was updated', () => {
    const firmware = { major: 9, minor: 9, build: 9 };
    const bench = new SessionBench(securePanel, { ...secureReader, identity: { ...readerIdentity, firmware } });
    bench.run(500);
    expect(bench.said('online')).toHaveLength(1);
    expect(bench.alarms()).toEqual([]);
  });
});

describe('a reader that falls silent', () => {
  it('gets the same bytes, three times quickly, then once a second, and is off line after eight seconds', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.fate = isLost;
    const from = bench.sent.length;
    const at = bench.now;
    bench.until('offline');
    const tries = bench.sent.slice(from);
    expect(new Set(tries.slice(0, -1).map(({ bytes }) => Buffer.from(bytes).toString('hex'))).size).toBe(1);
    const gaps = tries.slice(1).map((sent, index) => sent.at - (tries[index]?.at ?? 0));
    expect(gaps.slice(0, 3).every((gap) => gap >= 200 && gap < 300)).toBe(true);
    expect(gaps.slice(3, -1).every((gap) => gap >= 1_000 && gap < 1_300)).toBe(true);
    const offline = bench.said('offline')[0];
    expect(offline?.reason).toBe('silent');
    expect((offline?.seenAt ?? 0) - at).toBeGreaterThan(7_500);
    expect((offline?.seenAt ?? 0) - at).toBeLessThan(9_000);
  });

  it('is probed once a second, falling to once in five', () => {
    const bench = new SessionBench(plainPanel, plainReader);
    bench.cutPower();
    bench.run(120_000);
    const probes = bench.sent.map(({ at }) => at);
    const gaps = probes.slice(1).map((at, index) => at - (probes[index] ?? 0));
    expect(gaps[0]).toBeGreaterThanOrEqual(1_000);
    expect(gaps[0]).toBeLessThan(1_300);
    expect(Math.max(...gaps)).toBeLessThan(5_300);
    expect(gaps.slice(-10).every((gap) => gap >= 5_000)).toBe(true);
    expect(bench.said('transmit').every(({ role }) => role === 'probe')).toBe(true);
  });

  it.each([500, 3_000, 9_000, 60_000, 600_000])(
    'is back within six seconds of its power, after %i ms without',
    (offMs) => {
      for (const [panel, reader] of [
        [securePanel, secureReader],
        [plainPanel, plainReader],
      ] as const) {
        const bench = new SessionBench(panel, reader).run(11_000);
        bench.cutPower();
        bench.run(offMs);
        bench.restorePower();
        const at = bench.now;
        bench.until('online');
        expect(bench.said('online')).toHaveLength(2);
        expect((bench.said('online')[1]?.seenAt ?? Number.POSITIVE_INFINITY) - at).toBeLessThan(6_000);
      }
    },
  );

  it('says off line once, whatever goes on', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.cutPower();
    bench.run(300_000);
    expect(bench.said('offline')).toHaveLength(1);
  });
});

describe('a line that goes down', () => {
  it('ends the conversation and answers for every command', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.command(release);
    bench.command(release);
    bench.tell({ kind: 'line-down', at: bench.now });
    expect(bench.said('offline').map(({ reason }) => reason)).toEqual(['line-down']);
    expect(outcomes(bench)).toEqual([
      [1, 'not-executed'],
      [2, 'not-executed'],
    ]);
    bench.run(1_000);
    expect(bench.said('online')).toHaveLength(2);
    expect(bench.did('output')).toEqual([]);
  });
});

describe('commands', () => {
  it('come before polls, in order, and are answered for one by one', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    const from = bench.sent.length;
    bench.command(release);
    bench.command({ kind: 'buzzer', reader: 0, tone: 'default', onTenths: 1, offTenths: 1, count: 1 });
    bench.run(100);
    expect(codes(bench).slice(from / 2, from / 2 + 3)).toEqual([0x68, 0x6a, 0x60]);
    expect(outcomes(bench)).toEqual([
      [1, 'accepted'],
      [2, 'accepted'],
    ]);
  });

  it('are refused while the reader is not on line, and never kept for it', () => {
    const bench = new SessionBench(securePanel, secureReader);
    bench.command(release);
    bench.run(1_000);
    bench.cutPower();
    bench.until('offline');
    bench.command(release);
    bench.restorePower();
    bench.run(10_000);
    const reasons = bench.said('command-done').map(({ outcome }) => outcome);
    expect(reasons).toEqual([
      { kind: 'not-executed', reason: 'offline' },
      { kind: 'not-executed', reason: 'offline' },
    ]);
    expect(bench.did('output')).toEqual([]);
  });

  it('are limited to eight waiting', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    for (let count = 0; count < queueLimit + 1; count += 1) bench.command(release);
    expect(bench.said('command-done').map(({ outcome }) => outcome)).toEqual([
      { kind: 'not-executed', reason: 'busy' },
    ]);
  });

  it('whose time is over before their turn are not sent', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.command(release, 100);
    bench.command(release, 0);
    bench.now += 200;
    bench.run(300);
    expect(bench.said('command-done').map(({ outcome }) => outcome)).toEqual([
      { kind: 'not-executed', reason: 'expired' },
      { kind: 'not-executed', reason: 'expired' },
    ]);
    expect(codes(bench)).not.toContain(0x68);
  });

  it('that nobody answers are not sent again after their deadline, and their outcome is unknown', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.fate = losing(0x68);
    bench.command(release, 500);
    const end = bench.now + 500;
    bench.run(3_000);
    const tries = bench.sent.filter(({ bytes }) => frameOf(bytes)[0]?.code === 0x68);
    expect(tries.length).toBeGreaterThan(1);
    expect(tries.every(({ at }) => at < end)).toBe(true);
    expect(outcomes(bench)).toEqual([[1, 'unknown']]);
    expect(bench.panel.status?.kind).toBe('online');
  });

  it('whose answer was lost are answered by the repeat and carried out once', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    let lost = 0;
    bench.fate = (direction, bytes) => {
      if (direction === 'to-reader' || lost >= 2) return [{ bytes, delayMs: 0 }];
      lost += 1;
      return [];
    };
    bench.command(release);
    bench.run(1_000);
    expect(outcomes(bench)).toEqual([[1, 'accepted']]);
    expect(bench.did('output')).toHaveLength(1);
  });

  it('a reader cannot do are refused with its reason and change nothing else', () => {
    const capabilities = secureReader.capabilities.filter((entry) => entry.function !== 6);
    const bench = new SessionBench(securePanel, { ...secureReader, capabilities }).run(500);
    bench.command({ kind: 'text', reader: 0, mode: 'permanent', seconds: 0, row: 1, column: 1, text: 'hello' });
    bench.run(500);
    expect(bench.said('command-done')[0]?.outcome).toEqual({ kind: 'refused', nak: 3 });
    expect(bench.said('offline')).toEqual([]);
  });

  it('that move a reader to another address take the session along', () => {
    const bench = new SessionBench(securePanel, { ...secureReader, allowsCommunication: true }).run(500);
    bench.command({ kind: 'set-communication', address: 7, baud: 38_400 });
    bench.run(2_000);
    expect(bench.said('communication')).toMatchObject([{ address: 7, baud: 38_400 }]);
    expect(bench.said('online')).toHaveLength(2);
    expect(bench.fromPanel().at(-1)?.address).toBe(7);
  });
});

describe('busy readers', () => {
  const busyFrom = (bench: SessionBench, times: number, sequence: 0 | undefined): Fate => {
    let left = times;
    return (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      if (direction === 'to-panel' || left === 0 || frame === undefined) return [{ bytes, delayMs: 0 }];
      left -= 1;
      bench.inject('to-panel', busyFrame(frame.address, sequence ?? frame.sequence), 16);
      return [];
    };
  };
  const busyFrame = (address: number, sequence: number): Uint8Array => {
    const sum = Uint8Array.of(0x53, 0x80 | address, 7, 0, sequence, 0x79);
    return Uint8Array.from([...sum, 0x100 - (sum.reduce((total, byte) => total + byte, 0) & 0xff)]);
  };

  it.each([
    ['at sequence 0', 0 as const],
    ['at the command’s sequence', undefined],
  ])('in plain %s are asked the same bytes again, later', (_name, sequence) => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.fate = busyFrom(bench, 3, sequence);
    const from = bench.sent.length;
    bench.command(release, 5_000);
    bench.run(3_000);
    const tries = bench.sent.slice(from).filter(({ bytes }) => frameOf(bytes)[0]?.code === 0x68);
    expect(tries).toHaveLength(4);
    expect(new Set(tries.map(({ bytes }) => Buffer.from(bytes).toString('hex'))).size).toBe(1);
    expect((tries[1]?.at ?? 0) - (tries[0]?.at ?? 0)).toBeGreaterThanOrEqual(200);
    expect(outcomes(bench)).toEqual([[1, 'accepted']]);
    expect(bench.said('offline')).toEqual([]);
  });

  it('for ever are given up', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.fate = busyFrom(bench, Number.POSITIVE_INFINITY, 0);
    bench.command(release, 60_000);
    bench.run(30_000);
    expect(outcomes(bench)).toEqual([[1, 'unknown']]);
    expect(bench.said('offline').length).toBeGreaterThan(0);
    bench.fate = arrives;
    bench.run(10_000);
    expect(bench.panel.status?.kind).toBe('online');
  });
});

describe('installing a key', () => {
  it('takes the public key once, sets the key, proves it and closes the window', () => {
    const bench = new SessionBench(waiting, factory).run(100);
    bench.tell({ kind: 'open-install', at: bench.now, until: bench.now + 60_000, key: otherKey });
    bench.run(1_000);
    expect(bench.did('key-set').map(({ key }) => Buffer.from(key).toString('hex'))).toEqual([
      Buffer.from(otherKey).toString('hex'),
    ]);
    const handshakes = bench
      .fromPanel()
      .flatMap(({ security, sequence, code }) => (security?.type === 0x11 ? [[security.data[0], sequence, code]] : []));
    expect(handshakes).toEqual([
      [0, 0, 0x76],
      [1, 0, 0x76],
    ]);
    expect(bench.said('key-installed')).toMatchObject([{ key: otherKey, identity: readerIdentity }]);
    expect(bench.said('install-closed')).toMatchObject([{ reason: 'installed' }]);
    expect(bench.said('online')).toMatchObject([{ channel: 'secure' }]);
  });

  it('of a reader already in session goes over that session, without the public key', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.tell({ kind: 'open-install', at: bench.now, until: bench.now + 60_000, key: otherKey });
    bench.run(1_000);
    expect(bench.said('key-installed')).toHaveLength(1);
    const selects = bench.fromPanel().flatMap(({ security }) => (security?.type === 0x11 ? [security.data[0]] : []));
    expect(selects).toEqual([1, 1]);
    expect(bench.said('offline')).toEqual([]);
  });

  it('accepts the operator’s new reader in the place of the enrolled one', () => {
    const identity = { ...readerIdentity, serial: 77 };
    const bench = new SessionBench(securePanel, { ...factory, identity }).run(2_000);
    expect(bench.said('offline').at(-1)?.reason).toBe('identity-changed');
    bench.tell({ kind: 'open-install', at: bench.now, until: bench.now + 60_000, key: otherKey });
    bench.run(2_000);
    expect(bench.said('key-installed')).toMatchObject([{ identity: { serial: 77 } }]);
    expect(bench.panel.status?.kind).toBe('online');
  });

  it('survives a power cut at every step, on either side, with the old key or the new', () => {
    const steps = new SessionBench(securePanel, secureReader).run(500);
    steps.tell({ kind: 'rekey', at: steps.now, key: otherKey });
    const from = steps.sent.length;
    steps.until('key-installed');
    const messages = steps.sent.length - from;
    expect(messages).toBeGreaterThan(8);
    for (let cutAfter = 0; cutAfter <= messages; cutAfter += 1) {
      const bench = new SessionBench(securePanel, secureReader).run(500);
      let passed = 0;
      bench.fate = (_direction, bytes) => {
        passed += 1;
        return passed <= cutAfter ? [{ bytes, delayMs: 0 }] : [];
      };
      bench.tell({ kind: 'rekey', at: bench.now, key: otherKey });
      bench.run(1_500);
      bench.cutPower();
      bench.fate = arrives;
      bench.restorePower();
      // The panel restarts too, with what its owner had stored beforehand.
      const isInstalled = bench.said('key-installed').length > 0;
      const key = isInstalled ? otherKey : readerKey;
      const security = { mode: 'secure', key, ...(!isInstalled && { candidate: otherKey }) } as const;
      const next = new SessionBench({ ...securePanel, security }, secureReader);
      next.reader = bench.reader;
      next.run(5_000);
      expect(next.panel.status?.kind).toBe('online');
    }
  });

  it('goes on after a lost acknowledgement, in the same process', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    let isCut = false;
    bench.fate = (direction, bytes) => {
      const isAnswerToKey = direction === 'to-panel' && bench.panel.stage.kind === 'set-key' && !isCut;
      return isAnswerToKey ? [] : [{ bytes, delayMs: 0 }];
    };
    bench.tell({ kind: 'rekey', at: bench.now, key: otherKey });
    bench.run(400);
    isCut = true;
    bench.cutPower();
    bench.restorePower();
    bench.run(10_000);
    expect(bench.said('key-installed')).toMatchObject([{ key: otherKey }]);
    expect(bench.panel.status?.kind).toBe('online');
  });

  it('that the reader refuses is said, and the old key stays', () => {
    const bench = new SessionBench(securePanel, { ...secureReader, acceptsKeys: false }).run(500);
    bench.tell({ kind: 'rekey', at: bench.now, key: otherKey });
    bench.run(2_000);
    expect(bench.said('install-closed').map(({ reason }) => reason)).toEqual(['refused']);
    expect(bench.said('key-installed')).toEqual([]);
    expect(bench.panel.status?.kind).toBe('online');
  });

  it('that a factory reader refuses closes the window and leaves the reader unused', () => {
    const bench = new SessionBench(waiting, { ...factory, acceptsKeys: false }).run(100);
    bench.tell({ kind: 'open-install', at: bench.now, until: bench.now + 60_000, key: otherKey });
    bench.run(20_000);
    expect(bench.said('install-closed').map(({ reason }) => reason)).toEqual(['refused']);
    expect(bench.said('online')).toEqual([]);
    expect(bench.fromPanel().filter(({ code }) => code === 0x75)).toHaveLength(1);
  });
});

describe('a key whose fate is uncertain', () => {
  const thirdKey = Uint8Array.from({ length: 16 }, (_, index) => 0xa0 + index);

  it('stays worth trying when an operator offers another: no reader is shut out', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    // The reader takes the second key, and everything after is lost.
    bench.fate = (direction, bytes) =>
      direction === 'to-panel' && bench.panel.stage.kind === 'set-key' ? [] : [{ bytes, delayMs: 0 }];
    bench.tell({ kind: 'rekey', at: bench.now, key: otherKey });
    bench.run(50);
    expect(bench.reader.key).toEqual(otherKey);
    bench.tell({ kind: 'rekey', at: bench.now, key: thirdKey });
    bench.fate = arrives;
    bench.run(20_000);
    expect(bench.reader.key).toEqual(thirdKey);
    expect(bench.said('key-installed').at(-1)?.key).toEqual(thirdKey);
    expect(bench.panel.status?.kind).toBe('online');
    expect(bench.alarms()).toEqual([]);
  });

  it('is given up when KEYSET is never answered, and the reader goes on with the key it has', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.fate = losing(0x75);
    bench.tell({ kind: 'rekey', at: bench.now, key: otherKey });
    bench.run(60_000);
    expect(bench.said('install-closed').map(({ reason }) => reason)).toEqual(['refused']);
    expect(bench.panel.status?.kind).toBe('online');
    expect(bench.reader.key).toEqual(readerKey);
  });
});

describe('a reader with the wrong key', () => {
  it('is not suspected for one late or damaged message', () => {
    const bench = new SessionBench(securePanel, secureReader);
    let isFirst = true;
    bench.fate = (direction, bytes) => {
      const frame = frameOf(bytes)[0];
      const isProof = direction === 'to-panel' && frame?.security?.type === 0x12 && isFirst;
      if (!isProof) return [{ bytes, delayMs: 0 }];
      isFirst = false;
      const data = frame.data.map((byte, index) => (index === 20 ? byte ^ 1 : byte));
      return [{ bytes: encodeFrame({ ...frame, data }), delayMs: 0 }];
    };
    bench.run(3_000);
    expect(bench.alarms()).toEqual([]);
    expect(bench.panel.status?.kind).toBe('online');
  });

  it('alarms and is tried again, slower, up to every five seconds', () => {
    const bench = new SessionBench(securePanel, { ...secureReader, key: otherKey }).run(60_000);
    expect(bench.alarms()).toEqual(['DEVICE_KEY_MISMATCH']);
    const challenges = bench.sent.filter(({ bytes }) => frameOf(bytes)[0]?.code === 0x76).map(({ at }) => at);
    const panelChallenges = challenges.filter((_, index) => index % 2 === 0);
    const gaps = panelChallenges.slice(1).map((at, index) => at - (panelChallenges[index] ?? 0));
    expect(Math.max(...gaps)).toBeLessThan(5_500);
    expect(gaps.at(-1)).toBeGreaterThan(4_900);
    expect(bench.said('alarm').length).toBeLessThanOrEqual(2);
  });

  it('comes on line by itself once it holds the right one', () => {
    const bench = new SessionBench(securePanel, { ...secureReader, key: otherKey }).run(20_000);
    bench.swapReader(secureReader);
    bench.run(6_000);
    expect(bench.panel.status?.kind).toBe('online');
  });
});

describe('events', () => {
  it('from before the connection are discarded and said, later ones are heard', () => {
    for (const [panel, reader] of [
      [securePanel, secureReader],
      [plainPanel, plainReader],
    ] as const) {
      const bench = new SessionBench(panel, reader);
      bench.present(card(1));
      bench.present({ kind: 'keys', reader: 0, keys: Uint8Array.of(0x31) });
      bench.run(500);
      expect(bench.said('discarded').map(({ what }) => what)).toEqual(['card', 'keys']);
      bench.present(card(2));
      bench.run(200);
      const reads = bench.said('event').filter(({ reply }) => reply.kind === 'card');
      expect(reads).toHaveLength(1);
    }
  });

  it('are heard from the moment the reader is said to be on line, however many waited before', () => {
    for (const [panel, reader] of [
      [securePanel, secureReader],
      [plainPanel, plainReader],
    ] as const) {
      const bench = new SessionBench(panel, reader);
      for (let old = 0; old < 20; old += 1) bench.present(card(old));
      bench.until('online');
      expect(bench.said('discarded')).toHaveLength(20);
      bench.present(card(99));
      bench.run(300);
      expect(bench.said('discarded')).toHaveLength(20);
      expect(bench.said('event').filter(({ reply }) => reply.kind === 'card')).toHaveLength(1);
    }
  });

  it('without end do not keep a reader off line, and are not believed before the first silence', () => {
    const bench = new SessionBench(securePanel, secureReader);
    bench.fate = (_direction, bytes) => {
      bench.present(card(1));
      return [{ bytes, delayMs: 0 }];
    };
    bench.run(5_000);
    expect(bench.said('online')).toHaveLength(1);
    expect(bench.said('event').filter(({ reply }) => reply.kind === 'card')).toEqual([]);
    bench.fate = arrives;
    bench.run(2_000);
    bench.present(card(2));
    bench.run(300);
    expect(bench.said('event').filter(({ reply }) => reply.kind === 'card')).toHaveLength(1);
  });

  it('of tamper are heard even then', () => {
    const bench = new SessionBench(securePanel, secureReader);
    bench.present(card(1));
    bench.present({ kind: 'local-status', isTampered: true, hasPowerFailed: false });
    bench.run(500);
    const tampers = bench.said('event').filter(({ reply }) => reply.kind === 'local-status' && reply.isTampered);
    expect(tampers.length).toBeGreaterThan(0);
  });

  it('carry the time they were heard', () => {
    const bench = new SessionBench(securePanel, secureReader).run(500);
    bench.present(card(2));
    bench.run(100);
    const read = bench.said('event').find(({ reply }) => reply.kind === 'card');
    expect(read?.at).toBe(read?.seenAt);
  });
});
