import { afterEach, describe, expect, test } from 'vitest';
import { commandDoor } from '#gateway/access/command-desk.ts';
import type { CommandedMode, DoorCommand } from '#gateway/door/door-input.ts';
import { identifier } from '#shared/identifier.ts';
import { waitUntil } from '../../fakes/wait-until.ts';
import { board, deskFacility, fireInput, pointOf } from './desk-facility.ts';
import { type DeskOptions, importInto, openDesk, removeDesk, type TestDesk } from './test-desk.ts';

let desk: TestDesk;
const opened = async (options: DeskOptions = {}) => {
  desk = await openDesk(options);
};
afterEach(async () => {
  await desk.close();
  removeDesk(desk.folder);
});

const minute = 60_000;
const command = (door: string, asked: DoorCommand) => commandDoor(identifier(door), asked, desk.desk.commands);
const mode = (door: string, asked: CommandedMode) => command(door, { kind: 'mode', mode: asked });
const modeOf = (door: string) => desk.desk.doors.find(identifier(door))?.state.mode;
const locksSent = (door: string) =>
  desk.sent.flatMap(({ command: sent }) =>
    sent.kind !== 'feedback' && sent.lock.output === pointOf(door) ? [sent.kind] : [],
  );

/** The facility's clock shows that many minutes past noon, a Thursday. */
async function goTo(minutes: number): Promise<void> {
  desk.clock.advance(minutes * minute);
  await desk.time.refresh();
  desk.desk.tick();
}

describe('free hours', () => {
  test('begin and end by the facility’s clock', async () => {
    await opened();
    await goTo(59);
    expect(modeOf('shop')?.isScheduledFree).toBe(false);
    await goTo(1);
    expect(modeOf('shop')?.isScheduledFree).toBe(true);
    await waitUntil('the lock', () => locksSent('shop').includes('free'));
    expect(desk.lampsOf('shop').at(-1)).toBe('free');
    await goTo(4 * 60);
    expect(modeOf('shop')?.isScheduledFree).toBe(false);
    await waitUntil('the lock', () => locksSent('shop').at(-1) === 'secure');
  });

  test('that an operator ended stay ended until they begin again', async () => {
    await opened();
    await goTo(60);
    expect((await mode('shop', 'controlled')).answer).toBe('accepted');
    await goTo(5);
    await goTo(5);
    expect(modeOf('shop')?.isScheduledFree).toBe(false);
    await goTo(4 * 60 - 10);
    await goTo(20 * 60);
    expect(modeOf('shop')?.isScheduledFree).toBe(true);
  });

  test('end when nobody knows the time any more', async () => {
    let kernel: 'synchronized' | 'unsynchronized' = 'synchronized';
    await opened({ kernel: () => kernel });
    await goTo(60);
    expect(modeOf('shop')?.isScheduledFree).toBe(true);
    kernel = 'unsynchronized';
    await desk.time.refresh();
    desk.clock.advance(7 * 24 * 60 * minute);
    desk.desk.tick();
    expect(modeOf('shop')?.isScheduledFree).toBe(false);
  });

  test('wait for the first person where one must come', async () => {
    await opened();
    await goTo(60);
    expect(modeOf('morning')?.isScheduledFree).toBe(false);
    await desk.decided(() => desk.swipe('morning', 'opener'));
    await waitUntil('the release', () => desk.stateOf('morning') === 'released');
    desk.openLeaf('morning', true);
    desk.desk.tick();
    expect(modeOf('morning')?.isScheduledFree).toBe(true);
  });

  test('are known at once after a restart, and nothing that is so already is sent', async () => {
    await opened();
    await goTo(60);
    await waitUntil('the lock', () => locksSent('shop').includes('free'));
    const { folder, clock } = desk;
    await desk.close();
    await opened({ folder, clock, outputs: [pointOf('shop')] });
    expect(modeOf('shop')?.isScheduledFree).toBe(true);
    expect(desk.stateOf('shop')).toBe('released');
    expect(locksSent('shop')).toEqual([]);
  });
});

describe('an operator', () => {
  test('releases a door once, with one story under one request', async () => {
    await opened();
    const { answer, requestId } = await command('side', { kind: 'release', ms: 700 });
    expect(answer).toBe('accepted');
    expect(desk.releases('side')).toMatchObject([{ requestId, ms: 700 }]);
    await desk.eventually('the lock', (e) => e.kind === 'lock.released' && e.requestId === requestId);
    const [first] = (await desk.entries()).filter((e) => e.requestId === requestId);
    expect(first).toMatchObject({ kind: 'command.received', body: { command: 'release', ms: 700 } });
  });

  test('is told of a door that is not there, and nothing is written', async () => {
    await opened();
    const before = (await desk.entries()).length;
    expect((await command('attic', { kind: 'release' })).answer).toBe('DOOR_NOT_FOUND');
    expect((await desk.entries()).length).toBe(before);
  });

  test('is refused by a journal that is late, and no door moves', async () => {
    let isLate = false;
    await opened({
      journal: (real) => ({
        append: (entries, state) =>
          isLate
            ? Promise.resolve({ kind: 'unavailable', state: { kind: 'failed', detail: 'late' } })
            : real.append(entries, state),
        note: (entries, state) => real.note(entries, state),
        state: () => real.state(),
        loadState: () => real.loadState(),
        read: (query) => real.read(query),
        follow: (listener) => real.follow(listener),
        close: () => real.close(),
      }),
    });
    isLate = true;
    expect((await command('side', { kind: 'release' })).answer).toBe('JOURNAL_UNAVAILABLE');
    expect((await mode('side', 'lockdown')).answer).toBe('JOURNAL_UNAVAILABLE');
    expect(locksSent('side')).toEqual([]);
    expect(modeOf('side')?.commanded).toBe('controlled');
  });

  test('whose command waited too long for the disk is refused as stale', async () => {
    await opened({
      journal: (real) => ({
        append: async (entries, state) => {
          const result = await real.append(entries, state);
          if (entries.some(({ kind }) => kind === 'command.received')) desk.clock.advance(2_500);
          return result;
        },
        note: (entries, state) => real.note(entries, state),
        state: () => real.state(),
        loadState: () => real.loadState(),
        read: (query) => real.read(query),
        follow: (listener) => real.follow(listener),
        close: () => real.close(),
      }),
    });
    const { answer, requestId } = await command('side', { kind: 'release' });
    expect(answer).toBe('REQUEST_STALE');
    await desk.eventually('the refusal', (e) => e.kind === 'command.refused' && e.requestId === requestId);
    expect(desk.releases('side')).toEqual([]);
  });

  test('refused by the door gets one entry of it', async () => {
    await opened();
    await mode('side', 'lockdown');
    const { answer, requestId } = await command('side', { kind: 'release' });
    expect(answer).toBe('DOOR_LOCKED_DOWN');
    await desk.eventually('the refusal', (e) => e.kind === 'command.refused' && e.requestId === requestId);
    const refusals = (await desk.entries()).filter((e) => e.kind === 'command.refused');
    expect(refusals).toHaveLength(1);
  });

  test('locks down for good: over a restart, before any card', async () => {
    await opened();
    expect((await mode('side', 'lockdown')).answer).toBe('accepted');
    expect((await mode('shop', 'free')).answer).toBe('accepted');
    const { folder, clock } = desk;
    await desk.close();
    await opened({ folder, clock });
    expect(modeOf('side')?.commanded).toBe('lockdown');
    expect(modeOf('shop')?.commanded).toBe('free');
    expect((await desk.decided(() => desk.swipe('side', 'aiko'))).body['code']).toBe('DOOR_LOCKED_DOWN');
    expect(desk.lampsOf('side')).toContain('lockdown');
  });

  test('gives no command to a door in fire', async () => {
    await opened();
    desk.input(fireInput, true);
    expect((await command('front', { kind: 'release' })).answer).toBe('FIRE_ACTIVE');
    expect((await mode('front', 'lockdown')).answer).toBe('FIRE_ACTIVE');
    const alarm = await desk.eventually('the alarm', ({ body }) => body['code'] === 'FIRE');
    expect(alarm.door).toBe('front');
    desk.input(fireInput, false);
    expect((await command('front', { kind: 'release' })).answer).toBe('accepted');
  });
});

describe('an import into the running gateway', () => {
  interface Written {
    readonly doors: readonly { readonly id: string }[];
    readonly readers: readonly { readonly door: string }[];
    readonly grants: readonly { readonly doors: readonly string[] }[];
  }
  const written = deskFacility() as Written;
  const change = (id: string, more: object) =>
    written.doors.map((door) => (door.id === id ? { ...door, ...more } : door));

  test('leaves alone what did not change, in the middle of a passage', async () => {
    await opened();
    const shell = desk.desk.doors.find(identifier('front'));
    const { requestId } = await desk.decided(() => desk.swipe('front', 'aiko'));
    await waitUntil('the release', () => desk.stateOf('front') === 'released');
    desk.openLeaf('front', true);
    await importInto(desk.replica, deskFacility({ doors: change('side', { name: 'Renamed' }) }));
    expect(desk.desk.doors.find(identifier('front'))).toBe(shell);
    expect(desk.stateOf('front')).toBe('open');
    desk.openLeaf('front', false);
    desk.relock('front');
    await desk.eventually('its end', (e) => e.kind === 'lock.secured' && e.requestId === requestId);
  });

  test('begins a changed door anew from what its devices last said, and sends nothing', async () => {
    await opened();
    await mode('side', 'lockdown');
    const sent = locksSent('side').length;
    const lamps = desk.lampsOf('side').length;
    await importInto(desk.replica, deskFacility({ doors: change('side', { strikeMs: 3_000 }) }));
    expect(desk.stateOf('side')).toBe('secured');
    expect(modeOf('side')?.commanded).toBe('lockdown');
    expect(locksSent('side')).toHaveLength(sent);
    expect(desk.lampsOf('side').slice(lamps)).toEqual(['lockdown']);
  });

  test('of a door that stands free by its hours sends nothing', async () => {
    await opened();
    await goTo(60);
    await waitUntil('the lock', () => locksSent('shop').includes('free'));
    const sent = locksSent('shop').length;
    await importInto(desk.replica, deskFacility({ doors: change('shop', { name: 'Renamed' }) }));
    expect(desk.stateOf('shop')).toBe('released');
    expect(locksSent('shop')).toHaveLength(sent);
  });

  test('tells to its end what a replaced door had begun, and that its alarms are over', async () => {
    await opened();
    desk.openLeaf('side', true);
    await desk.eventually('the alarm', (e) => e.body['code'] === 'DOOR_FORCED' && e.kind === 'alarm.raised');
    let answer = () => {};
    const answered = new Promise<void>((done) => {
      answer = done;
    });
    desk.answer = async () => {
      await answered;
      return { kind: 'done' };
    };
    const { requestId } = await desk.decided(() => desk.swipe('front', 'aiko'));
    await waitUntil('the command', () => desk.releases('front').length === 1);
    const both = change('front', { name: 'A' }).map((door) => (door.id === 'side' ? { ...door, name: 'B' } : door));
    await importInto(desk.replica, deskFacility({ doors: both }));
    answer();
    await desk.eventually('the release', (e) => e.kind === 'lock.released' && e.requestId === requestId);
    await desk.eventually('the end', (e) => e.body['code'] === 'DOOR_FORCED' && e.kind === 'alarm.cleared');
  });

  test('removes a door, whose reader then belongs to none', async () => {
    await opened();
    const rest = written.doors.filter(({ id }) => id !== 'side');
    const grants = written.grants.map((grant) => ({ ...grant, doors: grant.doors.filter((id) => id !== 'side') }));
    const readers = written.readers.filter(({ door }) => door !== 'side');
    await importInto(desk.replica, deskFacility({ doors: rest, readers, grants }));
    expect(desk.stateOf('side')).toBeUndefined();
    expect((await desk.decided(() => desk.swipe('side', 'aiko'))).body['code']).toBe('DOOR_UNKNOWN');
    desk.leave(board);
    desk.arrive(board);
    expect(desk.stateOf('front')).toBe('secured');
  });
});
