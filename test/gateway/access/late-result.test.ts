import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDesk, removeDesk, type TestDesk } from './test-desk.ts';

let desk: TestDesk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(async () => {
  await desk.close();
  removeDesk(desk.folder);
});

test('a lock that answered long after it was asked says so in its entry, and only then', async () => {
  desk.answer = () => {
    desk.clock.advance(1_500);
    return { kind: 'done' };
  };
  const late = await desk.decided(() => desk.swipe('front', 'aiko'));
  const of = (requestId: unknown) =>
    desk.eventually('the lock', (entry) => entry.kind === 'lock.released' && entry.requestId === requestId);
  expect((await of(late.requestId)).body['lateMs']).toBe(1_500);
  desk.answer = () => ({ kind: 'done' });
  desk.relock('front');
  const prompt = await desk.decided(() => desk.swipe('front', 'aiko'));
  expect((await of(prompt.requestId)).body).not.toHaveProperty('lateMs');
});
