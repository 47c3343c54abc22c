import { expect, it } from 'vitest';
import { newsFilter } from '#gateway/system/news-filter.ts';
import { monoMs } from '#shared/instant.ts';

it('lets the same news through once an hour, and other news at once', () => {
  let now = 0;
  const isNews = newsFilter(() => monoMs(now), 3_600_000);
  const said: number[] = [];
  for (now = 0; now < 7_300_000; now += 2_000) if (isNews('the key is missing')) said.push(now);
  expect(said).toEqual([0, 3_600_000, 7_200_000]);
  expect(isNews('the key is exposed')).toBe(true);
  expect(isNews('the key is exposed')).toBe(false);
  expect(isNews('the key is missing')).toBe(true);
});
