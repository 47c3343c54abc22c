/** A command is taken up once, whatever becomes of the process: what the history has is never begun again. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { enrol, HandRelay } from '../../fakes/hand-relay.ts';
import { SigningCloud } from '../../fakes/signing-cloud.ts';
import { atRest, openDoor, type RunningDoor } from '../operate/running-door.ts';
import { doorRows } from './door-rows.ts';

let door: RunningDoor;
let cloud: SigningCloud;
let relay: HandRelay;

beforeEach(async () => {
  door = await openDoor();
  cloud = new SigningCloud();
  await enrol(door.client, cloud);
  relay = await HandRelay.open(`${door.dir}/run`);
  for (const chunk of await cloud.snapshot(doorRows([], cloud.lookupKey), { cursor: 10 }))
    await relay.deliver('chunk', chunk);
  await atRest(door);
});
afterEach(async () => {
  relay.close();
  await door.remove();
});

async function restart(): Promise<void> {
  relay.close();
  await door.stop();
  door = await openDoor(door);
  relay = await HandRelay.open(`${door.dir}/run`);
  await expect
    .poll(
      () =>
        relay.ask('feed').then(
          ({ after }) => after,
          () => 0,
        ),
      { timeout: 20_000 },
    )
    .toBe(10);
}

/** As the cloud offers it with every poll until it hears of its end: the same id under the nonce of that poll. */
async function offered(id: string): Promise<string> {
  const { nonce } = await relay.ask('feed');
  const what = { act: 'release', door: 'hall' };
  return await relay.outcome('command', await cloud.command({ id, nonce, what }));
}

it('does no command again after a restart that is offered anew for a question of now', async () => {
  expect(await offered('cmd-1')).toBe('obeyed');
  await restart();
  expect(await offered('cmd-1')).toBe('duplicate');
  expect(await offered('cmd-2')).toBe('obeyed');
  await restart();
  expect([await offered('cmd-1'), await offered('cmd-2')]).toEqual(['duplicate', 'duplicate']);
  const taken = (await door.entries()).filter(({ kind }) => kind === 'command.received');
  expect(taken.map(({ requestId }) => requestId).filter((id) => id?.startsWith('cmd-'))).toEqual(['cmd-1', 'cmd-2']);
});
