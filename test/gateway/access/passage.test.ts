import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { waitUntil } from '../../fakes/wait-until.ts';
import { openDesk, removeDesk, type TestDesk } from './test-desk.ts';

let desk: TestDesk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(async () => {
  await desk.close();
  removeDesk(desk.folder);
});

describe('a passage', () => {
  test('is told in order, under one request id', async () => {
    const granted = await desk.decided(() => desk.swipe('front', 'aiko'));
    await waitUntil('the door to be released', () => desk.stateOf('front') === 'released');
    desk.openLeaf('front', true);
    desk.openLeaf('front', false);
    desk.relock('front');
    await desk.eventually('its end', (e) => e.kind === 'lock.secured' && e.requestId === granted.requestId);
    const story = (await desk.entries()).filter(({ requestId }) => requestId === granted.requestId);
    expect(story.map(({ kind }) => kind)).toEqual([
      'access.requested',
      'access.granted',
      'lock.released',
      'door.opened',
      'door.closed',
      'lock.secured',
    ]);
    expect(desk.releases('front')).toMatchObject([{ requestId: granted.requestId, ms: 2_000 }]);
  });
});
