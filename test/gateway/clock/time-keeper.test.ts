import { afterEach, describe, expect, test } from 'vitest';
import { TimeKeeper, type TimePorts, type TimeSources } from '#gateway/clock/time-keeper.ts';
import type { ClockEffect } from '#gateway/clock/trusted-clock-state.ts';
import { monoMs, wallMs } from '#shared/instant.ts';

const noon = Date.UTC(2026, 0, 15, 3);
const hour = 3_600_000;
const keepers: TimeKeeper[] = [];
afterEach(() => {
  for (const keeper of keepers.splice(0)) keeper.close();
});

function keep(sources: TimeSources, ports: Partial<TimePorts> = {}) {
  const told: ClockEffect[] = [];
  const at = { mono: 1_000, wall: noon };
  const time = new TimeKeeper(undefined, sources, {
    now: () => monoMs(at.mono),
    wall: () => wallMs(at.wall),
    readKernel: async () => 'synchronized',
    tell: (effect) => told.push(effect),
    ...ports,
  });
  keepers.push(time);
  const advance = (ms: number) => {
    at.mono += ms;
    at.wall += ms;
  };
  return { time, told, at, advance };
}

describe('the kernel’s time', () => {
  test('is trusted while the kernel says that it is synchronized', async () => {
    const { time } = keep({ ntp: 'kernel', rtc: false });
    expect(time.read().state).toBe('untrusted');
    await time.refresh();
    expect(time.read()).toMatchObject({ state: 'trusted', now: noon });
    expect(time.stamp()).toEqual({ at: noon, clockState: 'trusted' });
  });

  test.each([
    ['does not say so', () => Promise.resolve('unsynchronized' as const)],
    ['cannot be asked', () => Promise.resolve('unknown' as const)],
    ['fails when asked', () => Promise.reject(new Error('no bus'))],
  ])('is no evidence where the kernel %s', async (_, readKernel) => {
    const { time } = keep({ ntp: 'kernel', rtc: false }, { readKernel });
    await time.refresh();
    expect(time.read()).toMatchObject({ state: 'untrusted', now: undefined });
    expect(time.stamp()).toEqual({ at: noon, clockState: 'untrusted' });
  });

  test('does not follow a wall clock that was stepped', async () => {
    const { time, at, told } = keep({ ntp: 'kernel', rtc: false });
    await time.refresh();
    at.wall += hour;
    expect(time.read().now).toBe(noon);
    await time.refresh();
    expect(time.read().now).toBe(noon);
    expect(told).toContainEqual(expect.objectContaining({ kind: 'jumped', what: 'machine', byMs: hour }));
  });
});

describe('a battery clock', () => {
  test('is believed at the start and not offered again while it is', async () => {
    const { time, told, advance } = keep({ ntp: 'none', rtc: true });
    await time.refresh();
    expect(time.read().state).toBe('trusted');
    for (let minutes = 0; minutes < 60; minutes += 1) {
      advance(60_000);
      await time.refresh();
    }
    expect(told.filter(({ kind }) => kind === 'refused')).toEqual([]);
  });

  test('is asked again when nothing else is left', async () => {
    const { time, advance } = keep({ ntp: 'none', rtc: true });
    await time.refresh();
    advance(10 * 24 * hour);
    expect(time.read().state).toBe('untrusted');
    time.take({ kind: 'tick' });
    await time.refresh();
    expect(time.read().state).toBe('trusted');
  });
});

test('a technician is told whether the time was taken', async () => {
  const { time } = keep({ ntp: 'none', rtc: false });
  expect(time.take({ kind: 'technician', wall: wallMs(noon) })).not.toContainEqual(
    expect.objectContaining({ kind: 'refused' }),
  );
  const known = keep({ ntp: 'assume', rtc: false });
  await known.time.refresh();
  const effects = known.time.take({ kind: 'technician', wall: wallMs(noon + hour) });
  expect(effects).toContainEqual({ kind: 'refused', source: 'technician', why: 'the time is known' });
});

test('nothing is told after the end', async () => {
  let answer: (state: 'synchronized') => void = () => {};
  const asked = new Promise<'synchronized'>((done) => {
    answer = done;
  });
  const { time, told } = keep({ ntp: 'kernel', rtc: false }, { readKernel: () => asked });
  const refreshed = time.refresh();
  time.close();
  answer('synchronized');
  await refreshed;
  expect(told).toEqual([]);
});
