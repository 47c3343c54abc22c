import { afterEach, describe, expect, test } from 'vitest';
import { pins } from './desk-facility.ts';
import { type DeskOptions, openDesk, removeDesk, type TestDesk } from './test-desk.ts';

let desk: TestDesk;
const opened = async (options: DeskOptions = {}) => {
  desk = await openDesk(options);
};
afterEach(async () => {
  await desk.close();
  removeDesk(desk.folder);
});

const wrongPin = () => desk.decided(() => desk.type('front', `${pins.wrong}#`));

describe('card and PIN', () => {
  test('let the holder in, under the request of the PIN', async () => {
    await opened();
    const challenge = await desk.decided(() => desk.swipe('vault', 'aiko'));
    expect(challenge).toMatchObject({ kind: 'access.challenged', body: { holder: 'aiko' } });
    desk.type('vault', pins.aiko.slice(0, 3));
    const granted = await desk.decided(() => desk.type('vault', `${pins.aiko.slice(3)}#`));
    expect(granted).toMatchObject({ kind: 'access.granted', body: { flags: [] } });
    expect(granted.requestId).not.toBe(challenge.requestId);
    expect(desk.releases('vault')).toHaveLength(1);
  });

  test('belong together for fifteen seconds, and a PIN that comes later is none', async () => {
    await opened();
    await desk.decided(() => desk.swipe('vault', 'aiko'));
    desk.clock.advance(15_100);
    const late = (await desk.entries()).length;
    desk.type('vault', `${pins.aiko}#`);
    // A PIN of its own now: of a credential that has no grant here.
    const alone = await desk.eventually('a decision', (e) => e.seq > late && e.kind === 'access.refused');
    expect(alone.body['code']).toBe('DOOR_NOT_GRANTED');
    expect(desk.releases('vault')).toEqual([]);
  });

  test('look like any grant with a duress PIN, and raise the silent alarm', async () => {
    await opened();
    await desk.decided(() => desk.swipe('vault', 'aiko'));
    const granted = await desk.decided(() => desk.type('vault', `${pins.duress}#`));
    expect(granted).toMatchObject({ kind: 'access.granted', body: { flags: ['duress'] } });
    expect(desk.lampsOf('vault').filter((signal) => signal !== 'idle')).toEqual(['enter-pin', 'granted']);
    const alarm = await desk.eventually('the alarm', ({ body }) => body['code'] === 'DURESS');
    expect(alarm).toMatchObject({ kind: 'alarm.raised', door: 'vault', requestId: granted.requestId });
    // Silent: nothing stands on a board that somebody could see over a shoulder.
    expect(desk.desk.alarms.list()).toEqual([]);
    expect(desk.desk.doors.shells.flatMap(({ alarms }) => alarms)).toEqual([]);
  });

  test('raise the alarm for a duress card that is refused, too', async () => {
    await opened();
    await desk.decided(() => desk.swipe('dawn', 'duress'));
    await desk.eventually('the alarm', (e) => e.body['code'] === 'DURESS' && e.door === 'dawn');
    expect(desk.lampsOf('dawn').at(-1)).toBe('refused');
  });

  test('are forgotten when the reader goes away between them', async () => {
    await opened();
    await desk.decided(() => desk.swipe('vault', 'aiko'));
    desk.leave('reader-vault');
    desk.arrive('reader-vault');
    const alone = await desk.decided(() => desk.type('vault', `${pins.aiko}#`));
    expect(alone.body['code']).toBe('DOOR_NOT_GRANTED');
  });
});

describe('guessing PINs', () => {
  test('counts a wrong second factor, and locks the reader over a restart', async () => {
    await opened();
    for (let tries = 0; tries < 5; tries += 1) {
      await desk.decided(() => desk.swipe('vault', 'aiko'));
      const { body } = await desk.decided(() => desk.type('vault', `${pins.wrong}#`));
      expect(body['code']).toBe('SECOND_FACTOR_WRONG');
    }
    await desk.eventually('the alarm', ({ body }) => body['code'] === 'READER_LOCKED');
    const { folder, clock } = desk;
    await desk.close();
    await opened({ folder, clock });
    expect(desk.desk.alarms.list()).toMatchObject([
      { subject: { kind: 'reader', id: 'vault' }, code: 'READER_LOCKED' },
    ]);
    await desk.decided(() => desk.swipe('vault', 'aiko'));
    const before = desk.sent.length;
    desk.type('vault', `${pins.aiko}#`);
    // Counted into the episode; seen at the lamp.
    await expect.poll(() => desk.lampsOf('vault').at(-1)).toBe('refused');
    expect(desk.sent.slice(before).map(({ command }) => command.kind)).not.toContain('release');
    desk.clock.advance(60_000);
    desk.desk.tick();
    expect(desk.desk.alarms.list()).toEqual([]);
    await desk.decided(() => desk.swipe('vault', 'aiko'));
    const granted = await desk.decided(() => desk.type('vault', `${pins.aiko}#`));
    expect(granted.kind).toBe('access.granted');
  });

  test('is counted at each reader by itself', async () => {
    await opened();
    for (let tries = 0; tries < 5; tries += 1) await wrongPin();
    await desk.decided(() => desk.swipe('vault', 'aiko'));
    const granted = await desk.decided(() => desk.type('vault', `${pins.aiko}#`));
    expect(granted.kind).toBe('access.granted');
  });

  test('is told from cards that fail: their end does not end the alarm of the PINs', async () => {
    await opened();
    for (let tries = 0; tries < 5; tries += 1) desk.swipe('front', 'stranger');
    for (let tries = 0; tries < 5; tries += 1) await wrongPin();
    await desk.eventually('the alarm', ({ body }) => body['code'] === 'READER_LOCKED');
    desk.clock.advance(59_000);
    desk.swipe('front', 'stranger');
    desk.clock.advance(500);
    desk.desk.tick();
    expect(desk.desk.alarms.list()).toHaveLength(1);
  });
});

describe('a reader that floods', () => {
  test('with unknown cards slows only itself, and fills no journal', async () => {
    await opened();
    const before = (await desk.entries()).length;
    for (let reads = 0; reads < 300; reads += 1) desk.swipe('front', 'stranger');
    await desk.entries();
    expect((await desk.decided(() => desk.swipe('front', 'aiko'))).kind).toBe('access.granted');
    expect((await desk.decided(() => desk.swipe('side', 'aiko'))).kind).toBe('access.granted');
    const after = await desk.entries();
    const refusals = after.slice(before).filter(({ kind }) => kind === 'access.refused');
    expect(refusals.length).toBeLessThanOrEqual(5);
    expect(after.length - before).toBeLessThan(40);
    // The refusal that was withheld from the flood is not shown to whoever came after it.
    expect(desk.lampsOf('front').at(-1)).not.toBe('refused');
  });

  test('with a known card waits for its turn, drops the rest, and says how many once', async () => {
    await opened();
    const before = (await desk.entries()).length;
    for (let reads = 0; reads < 100; reads += 1) desk.swipe('front', 'aiko');
    expect((await desk.decided(() => desk.swipe('side', 'mei'))).kind).toBe('access.granted');
    const dropped = await desk.eventually('the count', ({ kind }) => kind === 'reads.discarded');
    expect(dropped.body).toEqual({ device: 'reader-front', what: 'burst', count: 96 });
    const told = (await desk.entries()).slice(before).filter(({ kind }) => kind === 'reads.discarded');
    expect(told).toHaveLength(1);
  });

  test('with keys types no PIN of more than ten digits', async () => {
    await opened();
    const before = (await desk.entries()).length;
    desk.type('front', '1'.repeat(5_000));
    desk.type('front', '#');
    const { kind } = await desk.decided(() => desk.type('front', `${pins.door}#`));
    expect(kind).toBe('access.granted');
    expect((await desk.entries()).slice(before).filter((e) => e.kind === 'access.requested')).toHaveLength(1);
  });
});

test('an unknown card is forgotten after a minute, asked for or not', async () => {
  await opened();
  await desk.decided(() => desk.swipe('front', 'stranger'));
  expect(desk.desk.reads.list()).toHaveLength(1);
  desk.clock.advance(60_000);
  desk.desk.tick();
  expect(JSON.stringify(desk.desk.reads)).not.toContain('bytes');
  expect(desk.desk.reads.list()).toEqual([]);
});
