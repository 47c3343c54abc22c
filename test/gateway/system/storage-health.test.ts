import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import {
  flashBytesPerDay,
  judgeStorage,
  keepSamples,
  readStorageHealth,
  type WriteSample,
} from '#gateway/system/storage-health.ts';

const hour = 3_600_000;

it('reads a real disk', () => {
  const health = readStorageHealth(tmpdir());
  expect(health.totalBytes).toBeGreaterThan(health.freeBytes);
  expect(['ok', 'low', 'full']).toContain(health.state);
});

it('names a folder that does not answer', () => {
  expect(readStorageHealth('/nowhere/at/all').state).toBe('unreachable');
});

it('names a disk by what can still be done with it', () => {
  expect(judgeStorage(2 ** 30, true)).toBe('ok');
  expect(judgeStorage(2 ** 25, true)).toBe('low');
  expect(judgeStorage(2 ** 19, true)).toBe('full');
  expect(judgeStorage(2 ** 30, false)).toBe('read-only');
});

it('tells bytes per day from a day of samples, one an hour', () => {
  let samples: readonly WriteSample[] = [];
  for (let minute = 0; minute <= 48 * 60; minute += 1) {
    samples = keepSamples(samples, { at: minute * 60_000, bytes: minute * 1_000 });
  }
  expect(samples.length).toBeLessThanOrEqual(26);
  expect(flashBytesPerDay(samples)).toBe(1_440_000);
});

it('says nothing of the first minute', () => {
  expect(flashBytesPerDay([])).toBeUndefined();
  expect(
    flashBytesPerDay([
      { at: 0, bytes: 0 },
      { at: 1_000, bytes: 9_000 },
    ]),
  ).toBeUndefined();
  expect(
    flashBytesPerDay([
      { at: 0, bytes: 0 },
      { at: hour, bytes: 10 },
    ]),
  ).toBe(240);
});
