import { expect, it } from 'vitest';
import { later } from '#shared/instant.ts';
import { benchNow, keyAt, openPtyBench } from '../../../fakes/osdp-bench.ts';
import { waitUntil } from '../../../fakes/wait-until.ts';

/** A bus whose clock can leap, as it does for a process that was kept from running. */
async function openLeaping() {
  let leaptMs = 0;
  const bench = await openPtyBench([{ address: 1, key: keyAt(1) }], { now: () => later(benchNow(), leaptMs) });
  await bench.online(1);
  const leap = (ms: number) => {
    leaptMs += ms;
  };
  return { bench, leap };
}

it('a process that stood still asks its readers anew, and says of none that it was gone', async () => {
  const { bench, leap } = await openLeaping();
  // An answer that is on its way while the process stands still keeps the session alive: not every freeze ends one.
  for (let freeze = 0; freeze < 50 && bench.told('online', 1).length < 4; freeze += 1) {
    const heard = bench.peer.heard.length;
    leap(10_000);
    await waitUntil('the reader to be asked', () => bench.peer.heard.length > heard + 15);
  }
  expect(bench.told('online', 1)).toHaveLength(4);
  await bench.online(1);
  expect(bench.told('offline', 1)).toEqual([]);
  await bench.close();
});

it('a reader that stays silent after it is said to be gone, once', async () => {
  const { bench, leap } = await openLeaping();
  bench.peer.setPower(1, false);
  leap(10_000);
  await waitUntil('its session to end', () => bench.stateOf(1) === 'offline');
  for (let step = 0; step < 5; step += 1) {
    const heard = bench.peer.heard.length;
    leap(2_000);
    await waitUntil('another try', () => bench.peer.heard.length > heard || bench.told('offline', 1).length > 0);
  }
  await waitUntil('it to be said', () => bench.told('offline', 1).length > 0);
  expect(bench.told('offline', 1)).toMatchObject([{ reason: 'silent' }]);
  await bench.close();
});
