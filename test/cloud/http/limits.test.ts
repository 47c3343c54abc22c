import { afterAll, expect, it } from 'vitest';
import { createCallerLimit } from '#cloud/http/caller-limit.ts';
import { RequestRefused } from '#cloud/http/problem.ts';
import { openTestCloud } from './test-cloud.ts';

const cloud = await openTestCloud({ limits: { perAddress: 40, perCaller: 15 } });
afterAll(() => cloud.close());
const { call } = cloud;

it('lets one person ask only so often a minute, and says when to come back', async () => {
  const owner = await cloud.owner('lena');
  const answers = [];
  for (let index = 0; index < 16; index += 1) answers.push(await call({ as: owner.token, url: '/v1/me' }));
  expect(answers.slice(0, 15).every(({ status }) => status === 200)).toBe(true);
  expect(answers[15]).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect(Number(answers[15]?.headers['retry-after'])).toBeGreaterThan(0);
});

it('lets one address ask only so often, whoever it says it is, and tells health all the same', async () => {
  const answers = [];
  for (let index = 0; index < 60; index += 1) answers.push(await call({ as: `guess-${index}`, url: '/v1/me' }));
  expect(answers.some(({ status }) => status === 401)).toBe(true);
  expect(answers.at(-1)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  expect((await call({ url: '/health' })).status).toBe(200);
});

it('counts anew with each minute, and forgets who came in the last one', () => {
  let now = 0;
  const count = createCallerLimit(2, () => now);
  const isRefused = (actor: string) => {
    try {
      count(actor);
      return false;
    } catch (error) {
      expect(error).toBeInstanceOf(RequestRefused);
      return true;
    }
  };
  expect([isRefused('a'), isRefused('a'), isRefused('a'), isRefused('b')]).toEqual([false, false, true, false]);
  now = 59_999;
  expect(isRefused('a')).toBe(true);
  now = 60_000;
  expect([isRefused('a'), isRefused('a'), isRefused('a')]).toEqual([false, false, true]);
});
