import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepClock } from '#gateway/clock/trusted-clock.ts';
import {
  type ClockEffect,
  type ClockEvidence,
  createClock,
  nextClockDeadline,
  readClock,
  type TrustedClock,
} from '#gateway/clock/trusted-clock-state.ts';
import { monoMs, wallMs } from '#shared/instant.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const epoch = 1_800_000_000_000;

/** A gateway on a bench: true time runs with the monotonic clock, sources may say otherwise. */
class ClockBench {
  clock: TrustedClock;
  at = 10 * second;
  readonly effects: ClockEffect[] = [];

  constructor(floor?: number) {
    this.clock = createClock(floor === undefined ? undefined : wallMs(floor));
  }

  /** What the time really is. */
  get truth(): number {
    return epoch + this.at;
  }

  take(evidence: ClockEvidence): readonly ClockEffect[] {
    const { clock, effects } = stepClock(this.clock, monoMs(this.at), evidence);
    this.clock = clock;
    this.effects.push(...effects);
    return effects;
  }

  ntp(offByMs = 0, isSynchronized = true): readonly ClockEffect[] {
    return this.take({ kind: 'ntp', wall: wallMs(this.truth + offByMs), isSynchronized });
  }

  signed(offByMs = 0, tookMs = 200): readonly ClockEffect[] {
    return this.take({ kind: 'signed', wall: wallMs(this.truth + offByMs), tookMs });
  }

  local(kind: 'rtc' | 'technician', offByMs = 0): readonly ClockEffect[] {
    return this.take({ kind, wall: wallMs(this.truth + offByMs) });
  }

  pass(ms: number): void {
    this.at += ms;
  }

  /** Ticks when asked, and reads. */
  read() {
    const due = nextClockDeadline(this.clock);
    if (due !== undefined && due <= this.at) this.take({ kind: 'tick' });
    const { state, now, errorMs } = readClock(this.clock, monoMs(this.at));
    return { state, offByMs: now === undefined ? undefined : now - this.truth, errorMs };
  }
}

const kinds = (effects: readonly ClockEffect[]) => effects.map(({ kind }) => kind);
const trustedBy = (source: 'ntp' | 'signed' | 'rtc' | 'technician'): ClockBench => {
  const bench = new ClockBench();
  if (source === 'ntp') bench.ntp();
  else if (source === 'signed') bench.signed();
  else bench.local(source);
  return bench;
};

describe('a clock after boot', () => {
  it('knows nothing, whatever the machine’s wall clock says', () => {
    const bench = new ClockBench();
    bench.ntp(0, false);
    expect(bench.read()).toEqual({ state: 'untrusted', offByMs: undefined, errorMs: 0 });
    expect(bench.effects).toEqual([]);
  });

  it.each([
    ['ntp', 1_000],
    ['signed', 1_000],
    ['rtc', 10_000],
    ['technician', 30_000],
  ] as const)('is trusted by %s, within %i ms', (source, errorMs) => {
    expect(trustedBy(source).read()).toEqual({ state: 'trusted', offByMs: 0, errorMs });
  });

  it('does not believe a time before its floor, and raises an alarm', () => {
    const bench = new ClockBench(epoch + hour);
    expect(kinds(bench.ntp())).toEqual(['alarm']);
    expect(bench.read().state).toBe('untrusted');
    expect(kinds(bench.local('rtc'))).toEqual(['refused']);
    expect(bench.read().state).toBe('untrusted');
    bench.pass(hour);
    expect(kinds(bench.ntp())).toEqual(['changed', 'alarm']);
    expect(bench.read().state).toBe('trusted');
  });

  it('lets a signed time lower the floor, and says so', () => {
    const bench = new ClockBench(epoch + day);
    expect(bench.signed()).toMatchObject([
      { kind: 'jumped', what: 'floor', byMs: 10 * second - day },
      { kind: 'floor', floor: epoch + 10 * second },
      { kind: 'changed', from: 'untrusted', to: 'trusted' },
    ]);
    expect(bench.read()).toMatchObject({ state: 'trusted', offByMs: 0 });
  });
});

describe('stepping the machine’s wall clock', () => {
  it('changes nothing but the journal while the kernel is not synchronized', () => {
    const bench = trustedBy('ntp');
    bench.pass(minute);
    expect(bench.ntp(7 * day, false)).toEqual([
      { kind: 'jumped', what: 'machine', byMs: 7 * day },
      { kind: 'changed', from: 'trusted', to: 'holdover', why: 'network time lost' },
    ]);
    expect(bench.read()).toMatchObject({ state: 'holdover', offByMs: 0 });
    bench.ntp(-7 * day, false);
    expect(bench.read()).toMatchObject({ state: 'holdover', offByMs: 0 });
  });

  it('is believed from the network only when it still says so ten seconds later', () => {
    const bench = trustedBy('ntp');
    bench.pass(minute);
    bench.ntp(2 * hour);
    expect(bench.read()).toMatchObject({ state: 'holdover', offByMs: 0 });
    bench.pass(9_999);
    bench.ntp(2 * hour);
    expect(bench.read()).toMatchObject({ state: 'holdover', offByMs: 0 });
    bench.pass(1);
    expect(bench.ntp(2 * hour)).toContainEqual({ kind: 'jumped', what: 'anchor', byMs: 2 * hour });
    expect(bench.read()).toMatchObject({ state: 'trusted', offByMs: 2 * hour });
  });

  it('that comes and goes is forgotten', () => {
    const bench = trustedBy('ntp');
    bench.pass(minute);
    bench.ntp(2 * hour);
    bench.pass(minute);
    bench.ntp();
    expect(bench.read()).toMatchObject({ state: 'trusted', offByMs: 0 });
  });

  it('backwards, before the floor, is never believed from the network', () => {
    const bench = trustedBy('ntp');
    for (let tries = 0; tries < 5; tries += 1) {
      bench.pass(minute);
      bench.ntp(-day);
    }
    expect(bench.read()).toMatchObject({ state: 'holdover', offByMs: 0 });
  });
});

describe('holdover', () => {
  it('begins when evidence is a quarter of an hour old, and ends when the clock may be a minute wrong', () => {
    const bench = trustedBy('ntp');
    bench.pass(15 * minute - 1);
    expect(bench.read().state).toBe('trusted');
    bench.pass(1);
    expect(bench.read()).toMatchObject({ state: 'holdover', offByMs: 0, errorMs: 1_090 });
    // (60 s − 1 s) / 100 ppm.
    bench.pass(590_000 * second - 15 * minute);
    expect(bench.read()).toMatchObject({ state: 'holdover', errorMs: 60_000 });
    bench.pass(10_001);
    expect(bench.read().state).toBe('untrusted');
    expect(kinds(bench.effects)).toContain('alarm');
  });

  it('is never longer than 6.9 days, by any source', () => {
    for (const source of ['ntp', 'signed', 'rtc', 'technician'] as const) {
      const bench = trustedBy(source);
      bench.pass(6.95 * day);
      expect(bench.read().state).toBe('untrusted');
    }
  });

  it('counts even where nobody ticks', () => {
    const { clock } = trustedBy('ntp');
    expect(readClock(clock, monoMs(8 * day)).state).toBe('untrusted');
    expect(readClock(clock, monoMs(day)).state).toBe('holdover');
  });

  it('ends with new evidence, and the alarm with it', () => {
    const bench = trustedBy('ntp');
    bench.pass(8 * day);
    bench.read();
    expect(bench.ntp()).toContainEqual({ kind: 'alarm', change: 'clear', code: 'CLOCK_DOUBTED', why: 'ntp' });
    expect(bench.read()).toMatchObject({ state: 'trusted', offByMs: 0 });
  });
});

describe('network time against signed time', () => {
  it('that differ by more than a minute leave nothing to trust, and raise an alarm', () => {
    const bench = trustedBy('ntp');
    bench.signed();
    bench.pass(minute);
    expect(bench.ntp(61 * second)).toMatchObject([
      { kind: 'jumped', what: 'machine' },
      { kind: 'changed', from: 'trusted', to: 'untrusted' },
      { kind: 'alarm', change: 'raise', code: 'CLOCK_DOUBTED' },
    ]);
    bench.pass(minute);
    bench.signed();
    expect(bench.read().state).toBe('untrusted');
  });

  it('is found from either side', () => {
    const bench = new ClockBench();
    bench.ntp(2 * hour);
    bench.pass(second);
    bench.signed();
    expect(bench.read().state).toBe('untrusted');
  });

  it('that agree again are trusted again', () => {
    const bench = trustedBy('ntp');
    bench.signed();
    bench.pass(minute);
    bench.ntp(hour);
    bench.pass(minute);
    bench.ntp();
    expect(bench.read()).toMatchObject({ state: 'trusted', offByMs: 0 });
  });

  it('leaves signed time alone once the kernel gives up the network’s', () => {
    const bench = trustedBy('ntp');
    bench.signed();
    bench.pass(minute);
    bench.ntp(hour);
    bench.ntp(hour, false);
    expect(bench.read()).toMatchObject({ state: 'trusted', offByMs: 0 });
  });

  it('may differ by up to a minute', () => {
    const bench = trustedBy('ntp');
    bench.signed();
    bench.ntp(60 * second);
    expect(bench.read().state).toBe('trusted');
  });
});

describe('a signed time', () => {
  it('that took more than five seconds is refused', () => {
    const bench = new ClockBench();
    expect(bench.signed(0, 5_001)).toEqual([{ kind: 'refused', source: 'signed', why: 'the answer took too long' }]);
    bench.signed(0, 5_000);
    expect(bench.read()).toMatchObject({ state: 'trusted', errorMs: 5_000 });
  });
});

describe('a battery clock or a technician', () => {
  it('is not asked where the network’s time is known', () => {
    const bench = trustedBy('ntp');
    expect(kinds(bench.local('technician', hour))).toEqual(['refused']);
    expect(kinds(bench.local('rtc', hour))).toEqual(['refused']);
    expect(bench.read()).toMatchObject({ offByMs: 0, errorMs: 1_000 });
  });

  it('may not contradict signed time', () => {
    const bench = trustedBy('signed');
    bench.pass(hour);
    bench.read();
    expect(kinds(bench.local('technician', hour))).toEqual(['refused']);
  });

  it('may correct a clock in holdover, if a technician', () => {
    const bench = trustedBy('rtc');
    bench.pass(day);
    bench.read();
    bench.local('technician', 5 * second);
    expect(bench.read()).toMatchObject({ state: 'trusted', offByMs: 5 * second });
  });
});

describe('the floor', () => {
  it('rises while trusted, every ten minutes at most, and not in holdover', () => {
    const bench = trustedBy('ntp');
    const floors = () => bench.effects.flatMap((effect) => (effect.kind === 'floor' ? [effect.floor - epoch] : []));
    for (let minutes = 0; minutes < 25; minutes += 1) {
      bench.pass(minute);
      bench.ntp();
    }
    expect(floors()).toEqual([10 * second, 10 * second + 10 * minute, 10 * second + 20 * minute]);
    bench.ntp(0, false);
    bench.pass(hour);
    bench.take({ kind: 'tick' });
    expect(floors()).toHaveLength(3);
  });
});

describe('whatever the sources say', () => {
  const evidence: fc.Arbitrary<ClockEvidence> = fc.oneof(
    fc.record({
      kind: fc.constant('ntp' as const),
      wall: fc.integer({ min: -2 * day, max: 2 * day }).map((off) => wallMs(epoch + off)),
      isSynchronized: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('signed' as const),
      wall: fc.integer({ min: -day, max: day }).map((off) => wallMs(epoch + off)),
      tookMs: fc.integer({ min: 0, max: 6_000 }),
    }),
    fc.record({
      kind: fc.constantFrom('rtc' as const, 'technician' as const),
      wall: fc.integer({ min: -2 * day, max: 2 * day }).map((off) => wallMs(epoch + off)),
    }),
    fc.constant({ kind: 'tick' as const }),
  );
  const script = fc.array(fc.tuple(fc.integer({ min: 0, max: 2 * day }), evidence), { maxLength: 40 });

  it('a usable clock has a time and a bound of at most a minute; only signed time lowers the floor; alarms alternate', () => {
    fc.assert(
      fc.property(script, (steps) => {
        let clock = createClock(wallMs(epoch));
        let at = 0;
        let isAlarmed = false;
        for (const [ms, taken] of steps) {
          at += ms;
          const before = clock;
          const { clock: after, effects } = stepClock(before, monoMs(at), taken);
          const fact = readClock(after, monoMs(at));
          if (fact.state === 'untrusted') expect(fact.now).toBeUndefined();
          else expect(Number.isSafeInteger(fact.now) && fact.errorMs <= minute).toBe(true);
          if (taken.kind !== 'signed') expect(after.floor ?? 0).toBeGreaterThanOrEqual(before.floor ?? 0);
          if (taken.kind === 'tick') expect(readClock(before, monoMs(at))).toEqual(fact);
          for (const effect of effects) {
            if (effect.kind !== 'alarm') continue;
            expect(effect.change === 'raise').toBe(!isAlarmed);
            isAlarmed = effect.change === 'raise';
          }
          clock = after;
        }
      }),
      { numRuns: process.env['KANNUKI_FULL'] === '1' ? 5_000 : 300 },
    );
  });
});
