import { describe, expect, it } from 'vitest';
import {
  arrives,
  gatewayConfig,
  identity,
  isLost,
  LinkBench,
  linkKey,
  lockConfig,
  otherKey,
  release,
} from './link-bench.ts';

const releases = (bench: LinkBench) => bench.executions.filter(({ command }) => command.kind === 'release');

describe('a link without trouble', () => {
  it('comes on line with the identity of the lock, and stays there', () => {
    const bench = new LinkBench().online();
    expect(bench.said('online')).toMatchObject([{ identity }]);
    bench.run(600_000);
    expect(bench.said('offline')).toEqual([]);
    expect(bench.said('alarm')).toEqual([]);
    expect(bench.did('session')).toHaveLength(1);
  });

  it('carries out a release once and says so', () => {
    const bench = new LinkBench().online();
    const id = bench.command(release(5_000));
    bench.run(60_000);
    expect(releases(bench)).toHaveLength(1);
    expect(releases(bench)[0]?.command).toMatchObject({ ms: 5_000 });
    expect(bench.outcome(id)).toEqual({ kind: 'done' });
  });

  it('answers each command for itself, eight under way and eight waiting, and refuses the next', () => {
    const bench = new LinkBench().online();
    const ids = Array.from({ length: 17 }, (_, index) => bench.command(release(1_000 + index)));
    bench.run(5_000);
    expect(ids.slice(0, 16).map((id) => bench.outcome(id)?.kind)).toEqual(Array(16).fill('done'));
    expect(bench.outcome(ids[16] ?? 0)).toEqual({ kind: 'not-executed', reason: 'busy' });
    expect(releases(bench)).toHaveLength(16);
  });

  it('answers a question with what the lock says', () => {
    const bench = new LinkBench().online();
    const query = bench.command({ kind: 'query' });
    const slot = bench.command({ kind: 'slots-read', slot: 7 });
    bench.run(1_000);
    expect(bench.outcome(query)).toMatchObject({ kind: 'done', answer: { kind: 'status', bolt: 'secured' } });
    expect(bench.outcome(slot)).toMatchObject({ kind: 'done', answer: { kind: 'slot', slot: 7, isSet: false } });
  });

  it('says of each refusal of the lock what it was', () => {
    for (const result of ['jammed', 'busy', 'low-battery', 'unsupported', 'fault'] as const) {
      const bench = new LinkBench().online();
      bench.behaviour = () => ({ result, takesMs: 5 });
      const id = bench.command(release());
      const question = bench.command({ kind: 'slots-read', slot: 1 });
      bench.run(1_000);
      expect(bench.outcome(id)).toEqual({ kind: 'refused', result });
      expect(bench.outcome(question)).toEqual({ kind: 'refused', result });
    }
  });

  it('tells a card with the time at which it was read', () => {
    const bench = new LinkBench().online();
    bench.run(10_000);
    const readAt = bench.now - 300;
    bench.tell({ kind: 'card', ageMs: 300, bits: Uint8Array.of(0xab, 0xc0), unusedBits: 6 });
    bench.run(100);
    const [told] = bench.said('told').filter(({ message }) => message.kind === 'card');
    expect(told?.happenedAt).toBeLessThanOrEqual(readAt);
    expect(told?.happenedAt).toBeGreaterThan(readAt - 100);
  });

  it('renews the session after a day without losing a command or its place on line', () => {
    const pace = { keepAliveMs: 60_000, offlineAfterMs: 180_000 };
    const bench = new LinkBench({ gateway: { ...gatewayConfig, pace } }).online();
    const ids: number[] = [];
    for (let hour = 0; hour < 50; hour += 1) {
      bench.run(3_600_000 - 5);
      ids.push(bench.command(release()), bench.command(release()));
    }
    bench.run(5_000);
    expect(bench.did('session').length).toBe(3);
    expect(ids.map((id) => bench.outcome(id)?.kind)).toEqual(Array(100).fill('done'));
    expect(bench.said('offline')).toEqual([]);
    expect(releases(bench)).toHaveLength(100);
  });
});

describe('a command that takes long', () => {
  const slow = (ms: number, takesMs: number) => (command: { readonly kind: string; readonly ms?: number }) => ({
    result: 'done' as const,
    takesMs: command.ms === ms ? takesMs : 5,
  });

  it('keeps its place in the memory of the lock, however many others pass it', () => {
    const bench = new LinkBench().online();
    bench.behaviour = slow(777, 20_000);
    const id = bench.command(release(777), 60_000);
    const others: number[] = [];
    for (let count = 0; count < 60; count += 1) {
      others.push(bench.command(release(1_000 + count), 1_000));
      bench.run(200);
    }
    bench.run(20_000);
    expect(bench.outcome(id)).toEqual({ kind: 'done' });
    expect(releases(bench).filter(({ command }) => command.kind === 'release' && command.ms === 777)).toHaveLength(1);
    const kinds = others.map((other) => bench.outcome(other)?.kind);
    expect(kinds.filter((kind) => kind === 'done').length).toBeGreaterThan(25);
    expect(new Set(kinds)).toEqual(new Set(['done', 'not-executed']));
  });

  it('is not taken along into a new session: its outcome is unknown, and it is not sent again', () => {
    const bench = new LinkBench().online();
    bench.behaviour = slow(777, 15_000);
    const id = bench.command(release(777), 60_000);
    bench.command({ kind: 'key-rotate', key: otherKey });
    bench.run(60_000);
    expect(bench.did('session')).toHaveLength(2);
    expect(bench.outcome(id)).toEqual({ kind: 'unknown' });
    expect(releases(bench)).toHaveLength(1);
    expect(bench.said('offline')).toEqual([]);
  });
});

describe('a lock that sleeps', () => {
  const pace = { keepAliveMs: Number.POSITIVE_INFINITY, offlineAfterMs: Number.POSITIVE_INFINITY };

  it('is not asked for signs of life, and obeys in the same session hours later, whichever way its clock drifts', () => {
    for (const rate of [0.9995, 1.0005]) {
      const bench = new LinkBench({ gateway: { ...gatewayConfig, pace }, rate }).online();
      bench.run(1_000);
      const before = bench.sent.length;
      bench.run(20 * 3_600_000);
      expect(bench.sent.length).toBe(before);
      const asked = bench.now;
      const id = bench.command(release());
      bench.run(1_000);
      expect(bench.outcome(id)).toEqual({ kind: 'done' });
      expect((releases(bench)[0]?.at ?? 0) - asked).toBeLessThan(100);
      expect(bench.did('session')).toHaveLength(1);
    }
  });

  it('that does not answer when it is asked for its clock is not sent the command at all', () => {
    const bench = new LinkBench({ gateway: { ...gatewayConfig, pace } }).online();
    bench.run(20 * 3_600_000);
    bench.fate = isLost;
    const id = bench.command(release());
    bench.run(10_000);
    expect(bench.outcome(id)).toEqual({ kind: 'not-executed', reason: 'expired' });
    expect(releases(bench)).toHaveLength(0);
  });
});

describe('a lost or late packet', () => {
  it('does not run a release twice when its answer is lost', () => {
    const bench = new LinkBench().online();
    let lost = 3;
    bench.fate = (direction, bytes) => {
      if (direction === 'to-lock' || lost === 0) return arrives(direction, bytes);
      lost -= 1;
      return [];
    };
    const id = bench.command(release());
    bench.run(10_000);
    expect(lost).toBe(0);
    expect(releases(bench)).toHaveLength(1);
    expect(bench.outcome(id)).toEqual({ kind: 'done' });
  });

  it('learns after the deadline that a release was carried out, whose answers were lost until then', () => {
    const bench = new LinkBench().online();
    bench.fate = (direction, bytes) => (direction === 'to-lock' ? arrives(direction, bytes) : []);
    const id = bench.command(release(), 1_000);
    bench.run(3_000);
    bench.fate = arrives;
    bench.run(3_000);
    expect(bench.outcome(id)).toEqual({ kind: 'done' });
    expect(releases(bench)).toHaveLength(1);
  });

  it('never runs a release that arrives after its lifetime, and says that it did not run', () => {
    const bench = new LinkBench().online();
    bench.fate = (direction, bytes) =>
      direction === 'to-lock' ? [{ bytes, delayMs: 1_500 }] : arrives(direction, bytes);
    const id = bench.command(release(), 1_000);
    bench.run(10_000);
    expect(releases(bench)).toHaveLength(0);
    expect(bench.outcome(id)).toEqual({ kind: 'not-executed', reason: 'expired' });
  });

  it('says unknown where nothing came back at all', () => {
    const bench = new LinkBench().online();
    bench.fate = isLost;
    const id = bench.command(release(), 1_000);
    bench.run(60_000);
    expect(bench.outcome(id)).toEqual({ kind: 'unknown' });
    expect(bench.said('offline')).toMatchObject([{ reason: 'silent' }]);
  });

  it('takes a read that was long on its way for as old as it is', () => {
    const bench = new LinkBench().online();
    bench.run(12_000);
    const readAt = bench.now;
    bench.fate = (_direction, bytes) => [{ bytes, delayMs: 3_000 }];
    bench.tell({ kind: 'keys', ageMs: 0, keys: '1234#' });
    bench.fate = arrives;
    bench.run(6_000);
    const [told] = bench.said('told').filter(({ message }) => message.kind === 'keys');
    expect(told?.happenedAt ?? bench.now).toBeLessThanOrEqual(readAt);
  });
});

describe('a restart', () => {
  it('of the lock loses no later command and repeats no former one', () => {
    const bench = new LinkBench().online();
    bench.fate = (direction, bytes) => (direction === 'to-lock' ? arrives(direction, bytes) : []);
    const lost = bench.command(release(), 5_000);
    bench.run(50);
    bench.restartLock();
    bench.fate = arrives;
    bench.run(15_000);
    expect(bench.outcome(lost)).toEqual({ kind: 'unknown' });
    expect(releases(bench)).toHaveLength(1);
    expect(bench.gateway.status.kind).toBe('online');
    const id = bench.command(release());
    bench.run(1_000);
    expect(bench.outcome(id)).toEqual({ kind: 'done' });
  });

  it('of the lock is noticed within seconds when something is asked of it', () => {
    const bench = new LinkBench().online();
    bench.run(2_000);
    bench.restartLock();
    bench.command(release());
    bench.until(() => bench.did('session').length === 2);
    expect(bench.did('session')).toHaveLength(2);
    expect(bench.now).toBeLessThan(5_000 + 2_000 + 5_000);
  });

  it('of the gateway sends nothing but a handshake and a question', () => {
    const bench = new LinkBench().online();
    bench.fate = isLost;
    bench.command(release(), 30_000);
    bench.restartGateway();
    bench.fate = arrives;
    const before = bench.sent.length;
    bench.online().run(20_000);
    expect(releases(bench)).toHaveLength(0);
    expect(bench.sent.slice(before).filter(({ direction }) => direction === 'to-lock').length).toBeLessThan(6);
  });

  it('of the transport is not taken for a reason to send again', () => {
    const bench = new LinkBench().online();
    bench.fate = isLost;
    const id = bench.command(release(), 30_000);
    bench.tellGateway({ kind: 'down', at: bench.now });
    expect(bench.outcome(id)).toEqual({ kind: 'unknown' });
    expect(bench.said('offline')).toMatchObject([{ reason: 'line-down' }]);
    bench.fate = arrives;
    bench.run(10_000);
    bench.tellGateway({ kind: 'reachable', at: bench.now });
    bench.online().run(20_000);
    expect(releases(bench)).toHaveLength(0);
    expect(bench.gateway.status.kind).toBe('online');
  });
});

describe('somebody else', () => {
  it('without the key is never on line, is an alarm, and is tried less and less, but for ever', () => {
    const bench = new LinkBench({ lock: { ...lockConfig, key: otherKey } });
    bench.run(3_600_000);
    expect(bench.said('online')).toEqual([]);
    expect(bench.said('offline')).toMatchObject([{ reason: 'key-mismatch' }]);
    expect(bench.said('alarm').every(({ code }) => code === 'DEVICE_KEY_MISMATCH')).toBe(true);
    expect(bench.said('alarm').length).toBeGreaterThan(10);
    const last = bench.sent.filter(({ direction }) => direction === 'to-lock').slice(-2);
    expect((last[1]?.at ?? 0) - (last[0]?.at ?? 0)).toBeLessThan(64_000);
    bench.restartLock({ ...lockConfig, key: linkKey });
    bench.run(65_000);
    expect(bench.gateway.status.kind).toBe('online');
  });

  it('with another identity under the same key is refused and is an alarm', () => {
    const bench = new LinkBench({ lock: { ...lockConfig, identity: { ...identity, serial: 'L-0002' } } });
    bench.run(30_000);
    expect(bench.said('online')).toEqual([]);
    expect(bench.said('alarm')[0]).toMatchObject({ code: 'DEVICE_IDENTITY_CHANGED' });
  });

  it('with a new firmware in the same lock is the same lock', () => {
    const bench = new LinkBench({ lock: { ...lockConfig, identity: { ...identity, firmware: '9' } } }).online();
    expect(bench.said('alarm')).toEqual([]);
  });

  it('who repeats every packet opens nothing', () => {
    const bench = new LinkBench().online();
    const id = bench.command(release());
    bench.run(1_000);
    for (let round = 0; round < 3; round += 1) {
      for (const { direction, bytes } of [...bench.sent])
        bench.inject(direction, bytes, Math.floor(bench.random() * 500));
      bench.run(20_000);
      bench.restartLock();
      for (const { direction, bytes } of [...bench.sent])
        bench.inject(direction, bytes, Math.floor(bench.random() * 500));
      bench.run(20_000);
    }
    expect(bench.outcome(id)).toEqual({ kind: 'done' });
    expect(releases(bench)).toHaveLength(1);
    expect(bench.gateway.status.kind).toBe('online');
  });

  it('who speaks up with false handshakes and refusals moves neither end from its session', () => {
    const bench = new LinkBench().online();
    const hello = Uint8Array.from([1, 1, ...bench.entropy(), ...bench.entropy().subarray(0, 16)]);
    for (let second = 0; second < 120; second += 1) {
      bench.inject('to-lock', hello);
      bench.inject('to-gateway', Uint8Array.of(1, 4, second % 3));
      bench.inject('to-gateway', Uint8Array.from([1, 2, ...bench.entropy(), ...bench.entropy()]));
      bench.run(1_000);
    }
    const id = bench.command(release());
    bench.run(1_000);
    expect(bench.outcome(id)).toEqual({ kind: 'done' });
    expect(bench.did('session')).toHaveLength(1);
    expect(bench.said('offline')).toEqual([]);
    const wrongKeys = bench
      .said('told')
      .filter(({ message }) => message.kind === 'event' && message.what === 'wrong-key');
    expect(wrongKeys.length).toBe(2);
  });

  it('who sends many records of no session is an alarm', () => {
    const bench = new LinkBench().online();
    bench.run(120_000);
    for (let count = 0; count < 5; count += 1)
      bench.inject('to-gateway', Uint8Array.from([1, 3, 0, 0, 0, 0, 0, 0, 9, count, ...bench.entropy()]));
    bench.run(1_000);
    expect(bench.said('alarm')).toMatchObject([{ code: 'DEVICE_MESSAGE_FORGED' }]);
    expect(bench.gateway.status.kind).toBe('online');
  });
});

describe('a key', () => {
  const rotated = () => {
    const bench = new LinkBench().online();
    const id = bench.command({ kind: 'key-rotate', key: otherKey });
    return { bench, id };
  };

  it('is rotated in by the next session under it, and the old one is forgotten at both ends', () => {
    const { bench, id } = rotated();
    bench.run(5_000);
    expect(bench.outcome(id)).toEqual({ kind: 'done' });
    expect(bench.said('key-confirmed')).toMatchObject([{ key: otherKey }]);
    expect(bench.did('key-confirmed')).toMatchObject([{ key: otherKey }]);
    bench.restartGateway({ ...gatewayConfig, key: linkKey });
    bench.run(20_000);
    expect(bench.gateway.status).toMatchObject({ kind: 'offline', reason: 'key-mismatch' });
  });

  it('may be lost on the way at any packet, with a restart of either end, and one of both still opens a session', () => {
    for (let lostFrom = 0; lostFrom < 12; lostFrom += 1) {
      for (const restart of ['lock', 'gateway', 'both'] as const) {
        const bench = new LinkBench().online();
        let count = 0;
        bench.fate = (direction, bytes) => (count++ < lostFrom ? arrives(direction, bytes) : []);
        bench.command({ kind: 'key-rotate', key: otherKey });
        bench.run(1_000);
        if (restart !== 'gateway') bench.restartLock();
        const { current, candidate } = bench.gateway.keys;
        if (restart !== 'lock')
          bench.restartGateway({ ...gatewayConfig, key: current, ...(candidate && { candidate }) });
        bench.fate = arrives;
        bench.run(40_000);
        expect({ lostFrom, restart, status: bench.gateway.status }).toMatchObject({ status: { kind: 'online' } });
        expect(bench.said('alarm')).toEqual([]);
      }
    }
  });
});
