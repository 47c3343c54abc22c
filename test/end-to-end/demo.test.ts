/**
 * The demonstration from its first start to its end by force, as its users meet it.
 *
 * The cases are one day in order: while the link to the cloud is cut, what needs no cloud is tried, so that the lease of a
 * card runs out meanwhile.
 */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { EntryView } from '#gateway/control/entry-view.ts';
import { readStrikeRecord } from '#gateway/simulator/strike-record.ts';
import { cardBits } from '../../tools/demo-people.ts';
import { waitUntil } from '../fakes/wait-until.ts';
import { type Card, cardOf, delivered, forgetContact, until } from './demo-cloud.ts';
import { demoFolder, isRunning, type RunningDemo, removeFolder, runProgram, startDemo } from './running-demo.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });
/** A card that the test issues: it lives by the cloud, and longer than the gateway waits for an answer of it. */
const visitor = { card: { format: 'H10301', facility: 73, number: 10_099 }, leaseMs: 30_000 };
const visitorBits = cardBits(visitor.card) ?? '';
let demo: RunningDemo;
const dir = demoFolder();
beforeAll(async () => {
  demo = await startDemo(dir);
});
afterAll(async () => {
  await demo.stop();
  removeFolder(dir);
});

const codeOf = (views: readonly EntryView[]) =>
  views
    .flatMap(({ entry }) => (['access.granted', 'access.refused'].includes(entry.kind) ? [entry.body['code']] : []))
    .at(-1);
const stateOf = (door: string) => demo.doors().get(door)?.state;
const atRest = (door: string) => waitUntil(`${door} to be secured`, () => stateOf(door) === 'secured');
/** By the journal: the last word about a device. */
const isOnline = (device: string) =>
  demo.entries().findLast(({ entry }) => entry.kind.startsWith('device.o') && entry.body['device'] === device)?.entry
    .kind !== 'device.offline';
const requestOf = (views: readonly EntryView[]) => views.find(({ entry }) => entry.requestId !== null)?.entry.requestId;
const storyOf = (requestId: string | null | undefined) =>
  demo
    .entries()
    .filter(({ entry }) => entry.requestId === requestId)
    .map(({ entry }) => entry.kind);

describe('the demonstration', () => {
  test('is ready with every reader on a secure channel', () => {
    expect(demo.ready.status.facility?.name).toBe('Kannuki House');
    expect(demo.ready.status.devices).toHaveLength(8);
    for (const device of demo.ready.status.devices)
      expect(device).toMatchObject({ state: 'online', channel: 'secure' });
  });

  test('lets a valid card in, and its journal tells the whole story under one request', async () => {
    await atRest('office');
    const { out, err } = await runProgram(['tools/swipe.ts', '--json', '--dir', dir, 'office', 'aiko']);
    expect(err).toBe('');
    const shown = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as EntryView);
    expect(codeOf(shown)).toBe('GRANTED');
    const request = requestOf(shown);
    const story = ['access.requested', 'access.granted', 'lock.released', 'door.opened', 'door.closed', 'lock.secured'];
    await waitUntil('the door to be secured again', () => storyOf(request).includes('lock.secured'));
    expect(storyOf(request).filter((kind) => story.includes(kind))).toEqual(story);
    expect((await demo.status()).journal.state).toBe('available');
  });

  test('is told by the cloud who may enter, and tells it since when that is so at the door', async () => {
    const api = await demo.api();
    const card = await cardOf(api, 'aiko');
    for (const [verb, code] of [
      ['suspend', 'CREDENTIAL_SUSPENDED'],
      ['restore', 'GRANTED'],
    ] as const) {
      await api.post(`credentials/${card.id}/${verb}`, {});
      await delivered(api, card.id, 'effective_at_door');
      await atRest('office');
      expect(codeOf(await demo.swipe('office', 'aiko'))).toBe(code);
    }
  });

  test('takes a one-time card once', async () => {
    const api = await demo.api();
    expect(await cardOf(api, 'noor')).toMatchObject({ leaseMs: 60_000 });
    await atRest('office');
    expect(codeOf(await demo.swipe('office', 'noor'))).toBe('GRANTED');
    await atRest('office');
    expect(codeOf(await demo.swipe('office', 'noor'))).toBe('USES_EXHAUSTED');
  });

  test('goes on without the cloud, which says that it is out of reach', async () => {
    const api = await demo.api();
    const grants = [{ door: 'office' }];
    const issued = await api.post<{ item: Card }>('credentials', { ...visitor, holder: 'kenji', grants });
    await delivered(api, issued.item.id, 'effective_at_door');
    await until('the visitor to be let in', async () => {
      await atRest('office');
      return codeOf(await demo.swipe('office', visitorBits)) === 'GRANTED';
    });
    expect((await demo.partition('3600')).code).toBe(0);
    await waitUntil('the link to be cut', () => demo.isCut());
    await atRest('office');
    expect(codeOf(await demo.swipe('office', 'aiko'))).toBe('GRANTED');
    const { id } = await cardOf(api, 'lena');
    await api.post(`credentials/${id}/suspend`, {});
    await forgetContact(dir);
    await delivered(api, id, 'unreachable');
  });

  test.each([
    { who: 'sara', door: 'office', code: 'CREDENTIAL_REVOKED' },
    { who: 'yuki', door: 'office', code: 'CREDENTIAL_SUSPENDED' },
    { who: 'lena', door: 'office', code: 'CREDENTIAL_NOT_YET_VALID' },
    { who: 'tomas', door: 'office', code: 'DOOR_NOT_GRANTED' },
    { who: '10101010101010101010101010', door: 'office', code: 'CREDENTIAL_MALFORMED' },
    { who: '10111101110110010011011101', door: 'office', code: 'CREDENTIAL_UNKNOWN' },
    { who: '99999', door: 'office', code: 'CREDENTIAL_UNKNOWN' },
  ])('refuses $who at the $door: $code', async ({ who, door, code }) => {
    expect(codeOf(await demo.swipe(door, who))).toBe(code);
  });

  test('lets one of two people in by the time of day', async () => {
    const codes = [codeOf(await demo.swipe('office', 'mei')), codeOf(await demo.swipe('office', 'kenji'))];
    expect(codes.toSorted()).toEqual(['GRANTED', 'OUTSIDE_SCHEDULE']);
  });

  test('asks for the PIN after the card, and takes only the holder’s own', async () => {
    await atRest('locker-room');
    const shown = await demo.swipe('locker-room', 'tomas', 'tomas:pin');
    expect(shown.map(({ entry }) => entry.kind)).toContain('access.challenged');
    expect(codeOf(shown)).toBe('GRANTED');
    await atRest('locker-room');
    expect(codeOf(await demo.swipe('locker-room', 'tomas', 'mei:pin'))).toBe('SECOND_FACTOR_WRONG');
  });

  test('opens for a duress PIN as for any other, and raises a silent alarm', async () => {
    await atRest('locker-room');
    expect(codeOf(await demo.swipe('locker-room', 'aiko', 'aiko:duress'))).toBe('GRANTED');
    await waitUntil('the alarm', () =>
      demo.entries().some(({ entry }) => entry.kind === 'alarm.raised' && entry.body['code'] === 'DURESS'),
    );
  });

  test('wants two people at the server room, and each to leave before coming back', async () => {
    await atRest('server-room');
    expect(codeOf(await demo.swipe('server-room', 'aiko'))).toBe('ESCORT_REQUIRED');
    const shown = await demo.swipe('server-room', 'mei');
    expect(codeOf(shown)).toBe('GRANTED');
    await waitUntil('somebody to walk in', () => storyOf(requestOf(shown)).includes('door.opened'));
    await atRest('server-room');
    expect(codeOf(await demo.swipe('server-room', 'mei'))).toBe('ANTI_PASSBACK');
  });

  test('in lockdown opens only for who overrides it', async () => {
    await atRest('office');
    expect((await demo.gateway('mode', 'office', 'lockdown')).code).toBe(0);
    expect(codeOf(await demo.swipe('office', 'aiko'))).toBe('DOOR_LOCKED_DOWN');
    expect(codeOf(await demo.swipe('office', 'brigade'))).toBe('GRANTED');
    expect((await demo.gateway('mode', 'office', 'controlled')).code).toBe(0);
  });

  test('gives no command while the fire input is active', async () => {
    await demo.cut('main-entrance', 'fire');
    await waitUntil('the fire to be known', () => demo.doors().get('main-entrance')?.mode === 'fire');
    expect(codeOf(await demo.swipe('main-entrance', 'brigade'))).toBe('FIRE_ACTIVE');
    await demo.cut('main-entrance', 'clear-fire');
    await waitUntil('the fire to be over', () => demo.doors().get('main-entrance')?.mode !== 'fire');
  });

  test('tells a door that was forced from one left by the exit button', async () => {
    await atRest('office');
    await atRest('locker-room');
    const before = demo.entries().length;
    const seen = (door: string) =>
      demo
        .entries()
        .slice(before)
        .filter(({ entry }) => entry.door === door)
        .map(({ entry: { kind, body } }) => (kind === 'alarm.raised' ? `${kind} ${body['code']}` : kind));
    /** Also a door that somebody of the case before still walks through falls closed. */
    const hasClosedAfter = (door: string, kind: string) => {
      const kinds = seen(door);
      return kinds.includes(kind) && kinds.indexOf('door.closed', kinds.indexOf(kind)) >= 0;
    };
    expect(await demo.cut('office', 'exit')).toMatchObject({ code: 0 });
    expect(await demo.cut('locker-room', 'force')).toMatchObject({ code: 0 });
    await waitUntil(
      'both doors to fall closed',
      () => hasClosedAfter('office', 'exit.requested') && hasClosedAfter('locker-room', 'alarm.raised DOOR_FORCED'),
      20_000,
      () => JSON.stringify([seen('office'), seen('locker-room')]),
    );
    expect(seen('office').filter((kind) => kind === 'exit.requested')).toHaveLength(1);
    expect(seen('office').filter((kind) => kind.startsWith('alarm.raised'))).toEqual([]);
    expect(seen('locker-room').filter((kind) => kind.startsWith('alarm.raised'))).toHaveLength(1);
  });

  test('opens nothing for a replayed card read', async () => {
    await atRest('office');
    const released = () => readStrikeRecord(`${dir}/site`, 'office').filter(({ cause }) => cause === 'command').length;
    const before = released();
    await demo.cut('office-reader', 'replay', '40');
    await waitUntil('the replay to be noticed', () =>
      demo
        .entries()
        .some(({ entry }) => entry.kind === 'alarm.raised' && entry.body['code'] === 'DEVICE_MESSAGE_FORGED'),
    );
    expect(released()).toBe(before);
    await demo.cut('office-reader', 'heal');
    await waitUntil('the reader to be on line', () => isOnline('office-reader'));
  });

  test('says that a lock is out of reach, and is back soon after its board is plugged in', async () => {
    await atRest('office');
    await demo.cut('office-board');
    await waitUntil('the board to be missed', () => stateOf('office') === 'unknown');
    expect(codeOf(await demo.swipe('office', 'aiko'))).toBe('LOCK_UNREACHABLE');
    await demo.cut('office-board', 'plug');
    await atRest('office');
  });

  test('lets nobody in by a lease that ran out, and catches up when the link is whole', async () => {
    const api = await demo.api();
    const hasRunOut = async () => {
      const { cloud } = await demo.status();
      return Number(cloud?.contactAgeMs) > visitor.leaseMs;
    };
    await until('the lease to run out', hasRunOut);
    expect(codeOf(await demo.swipe('office', visitorBits))).toBe('REPLICA_STALE');
    const { id } = await cardOf(api, 'lena');
    expect((await demo.partition('mend')).code).toBe(0);
    await delivered(api, id, 'effective_at_door');
    await inContact(visitor.leaseMs);
    await atRest('office');
    expect(codeOf(await demo.swipe('office', visitorBits))).toBe('GRANTED');
  });

  test('refuses a card that ended since it was issued', async () => {
    const { validUntil } = await cardOf(await demo.api(), 'ivan');
    const end = Date.parse(validUntil ?? '');
    await waitUntil('the card to end', () => Date.now() > end, 60_000);
    expect(codeOf(await demo.swipe('office', 'ivan'))).toBe('CREDENTIAL_EXPIRED');
  });

  test('names what exists when something does not', async () => {
    expect(await demo.cut('lobby')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/No 'lobby' here.*doors: main-entrance, office/s),
    });
    const swipe = (...words: string[]) => runProgram(['tools/swipe.ts', '--dir', dir, ...words]);
    expect(await swipe('lobby', 'aiko')).toMatchObject({
      code: 2,
      err: expect.stringContaining("no door 'lobby'; doors: main-entrance, office"),
    });
    expect(await swipe('office', 'bob')).toMatchObject({
      code: 2,
      err: expect.stringContaining("no person 'bob'; people: aiko"),
    });
  });

  test('says so when it already runs', async () => {
    const second = await runProgram(['tools/demo.ts', '--dir', dir, '--language', 'en']);
    expect(second).toMatchObject({ code: 1, err: expect.stringContaining(`process ${demo.process.pid}`) });
  });

  test('released no lock without a granted request or a command in its journal', async () => {
    const entries = demo.entries().map(({ entry }) => entry);
    for (const door of ['office', 'locker-room', 'main-entrance']) {
      const releases = readStrikeRecord(`${dir}/site`, door).filter(({ cause, isOn }) => cause === 'command' && isOn);
      const grants = entries.filter((entry) => entry.door === door && entry.kind === 'access.granted');
      expect(releases.length).toBeLessThanOrEqual(grants.length);
    }
    expect((await demo.gateway('verify-journal')).code).toBe(0);
  });

  test('starts again with what it knew, and pulses no lock', async () => {
    expect(await demo.stop()).toBe(0);
    for (const pid of demo.ready.pids) expect(isRunning(pid)).toBe(false);
    const before = new Map(
      ['office', 'locker-room'].map((door) => [door, readStrikeRecord(`${dir}/site`, door).length]),
    );
    demo = await startDemo(dir);
    await atRest('office');
    for (const [door, length] of before) {
      const since = readStrikeRecord(`${dir}/site`, door).slice(length);
      expect(since.filter(({ isOn }) => isOn)).toEqual([]);
    }
    await inContact(60_000);
    expect(codeOf(await demo.swipe('office', 'noor'))).toBe('USES_EXHAUSTED');
  });

  test('takes everything it started with it when it is killed', async () => {
    const ended = once(demo.process, 'exit');
    demo.process.kill('SIGKILL');
    await ended;
    await waitUntil('its processes to end', () => demo.ready.pids.every((pid) => !isRunning(pid)));
    demo = await startDemo(dir);
    expect(demo.ready.status.devices.every((device) => device.state === 'online')).toBe(true);
  });
});

/** The gateway has heard the cloud so lately that leases hold which are shorter than this by a good part. */
const inContact = (leaseMs: number) =>
  until('the gateway to hear the cloud', async () => {
    const { cloud } = await demo.status();
    return Number(cloud?.contactAgeMs) < leaseMs * 0.8;
  });
