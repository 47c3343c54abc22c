import { describe, expect, it } from 'vitest';
import { beginClock, happenedAt, hearClock, type LockClock, uptimeNotAfter } from '#protocol/link/lock-clock.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

describe('the clock of a lock', () => {
  it('is known as well as the way was short', () => {
    // Asked at 1 000, answered with uptime 500 at 1 040: the lock started between 500 and 540.
    const clock = beginClock(1_000, 1_040, 500);
    expect(clock).toEqual({ earliest: 500, latest: 540, at: 1_040 });
    expect(uptimeNotAfter(clock, 1_040, 2_040)).toBe(1_500);
    expect(happenedAt(clock, 600, 50)).toBe(990);
  });

  it('is known better after a quicker answer, and no worse after a slow one', () => {
    const clock = hearClock(beginClock(0, 1_000, 500), 1_010, 990, 1_000);
    expect(clock.latest - clock.earliest).toBeLessThan(15);
    const slow = hearClock(clock, 6_000, 1_100);
    expect(slow.latest - slow.earliest).toBeLessThan(30);
  });

  it('never puts a deadline later, nor an event younger, than the truth', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      const random = seededRandom(seed);
      const rate = 1 + (random() - 0.5) / 500;
      const bootedAt = Math.floor(random() * 1_000);
      const uptimeAt = (instant: number): number => Math.floor((instant - bootedAt) * rate);
      let now = 5_000;
      let clock: LockClock | undefined;
      for (let round = 0; round < 100; round += 1) {
        const askedAt = now;
        const heardAt = askedAt + random() * 800;
        now = heardAt + random() * 800;
        const uptime = uptimeAt(heardAt);
        const isAnswer = random() < 0.5;
        if (clock === undefined) clock = beginClock(askedAt, now, uptime);
        else clock = hearClock(clock, now, uptime, isAnswer ? askedAt : undefined);
        const deadline = now + random() * 5_000;
        // At the deadline the lock's clock has passed what was written, but for its drift since and one tick.
        expect(uptimeNotAfter(clock, now, deadline)).toBeLessThanOrEqual(
          uptimeAt(deadline) + (deadline - now) / 900 + 1,
        );
        expect(happenedAt(clock, uptime, 0)).toBeLessThanOrEqual(heardAt + 1 / rate + 1);
        now += random() * 20_000;
      }
    }
  });

  it('begins anew where a lock counts worse than allowed', () => {
    const clock = hearClock(beginClock(1_000, 1_010, 500), 11_000, 9_000, 10_990);
    expect(clock).toEqual({ earliest: 1_990, latest: 2_000, at: 11_000 });
    const unasked = hearClock(beginClock(1_000, 1_010, 500), 11_000, 11_000);
    expect(unasked.latest).toBe(0);
    expect(unasked.earliest).toBeCloseTo(-30, 0);
  });

  it('writes no deadline before the lock started', () => {
    expect(uptimeNotAfter(beginClock(1_000, 1_010, 5), 1_010, 900)).toBe(0);
  });
});
