import { afterEach, describe, expect, test } from 'vitest';
import { commandDoor } from '#gateway/access/command-desk.ts';
import type { CommandResult } from '#gateway/device/driver.ts';
import type { AppendResult, Journal } from '#gateway/journal/journal.ts';
import { identifier } from '#shared/identifier.ts';
import { waitUntil } from '../../fakes/wait-until.ts';
import { deskFacility, pins, pointOf } from './desk-facility.ts';
import type { DeskOptions } from './test-desk.ts';
import { importInto, openDesk, removeDesk, type TestDesk } from './test-desk.ts';

let desk: TestDesk;
const opened = async (options: DeskOptions = {}) => {
  desk = await openDesk(options);
  return desk;
};
afterEach(async () => {
  await desk.close();
  removeDesk(desk.folder);
});

const codes = async (after = 0) =>
  (await desk.entries())
    .filter(({ kind, seq }) => seq > after && ['access.granted', 'access.refused'].includes(kind))
    .map(({ body }) => body['code']);
const lastSeq = async () => (await desk.entries()).at(-1)?.seq ?? 0;
const uses = () => desk.history.memory.read('uses', 'coin-card');

async function passed(door: string): Promise<void> {
  await waitUntil(`${door} to be released`, () => desk.stateOf(door) === 'released');
  desk.openLeaf(door, true);
  desk.openLeaf(door, false);
  desk.relock(door);
}

/** A disk that ends its commits when the test says so. */
function heldJournal() {
  const waiting: (() => void)[] = [];
  let isHeld = false;
  const around = (real: Journal): Journal => ({
    append: async (entries, state) => {
      if (isHeld) await new Promise<void>((go) => waiting.push(go));
      return real.append(entries, state);
    },
    note: (entries, state) => real.note(entries, state),
    state: () => real.state(),
    loadState: () => real.loadState(),
    read: (query) => real.read(query),
    follow: (listener) => real.follow(listener),
    close: () => real.close(),
  });
  return {
    around,
    hold: () => {
      isHeld = true;
    },
    letGo: () => {
      isHeld = false;
      for (const go of waiting.splice(0)) go();
    },
    waiting: () => waiting.length,
  };
}

/** A disk that does not answer in time: what was handed over is given up. */
function lateJournal(isLate: () => boolean) {
  return (real: Journal): Journal => ({
    append: (entries, state): Promise<AppendResult> =>
      isLate()
        ? Promise.resolve({ kind: 'unavailable', state: { kind: 'failed', detail: 'late' } })
        : real.append(entries, state),
    note: (entries, state) => real.note(entries, state),
    state: () => real.state(),
    loadState: () => real.loadState(),
    read: (query) => real.read(query),
    follow: (listener) => real.follow(listener),
    close: () => real.close(),
  });
}

describe('in the same moment', () => {
  test('the last use opens one of two readers', async () => {
    await opened();
    const before = await lastSeq();
    desk.swipe('front', 'coin');
    desk.swipe('side', 'coin');
    desk.swipe('side', 'coin');
    await waitUntil('a release', () => desk.releases('front').length === 1);
    await desk.eventually('the refusals', (e) => e.body['code'] === 'USES_EXHAUSTED');
    expect((await codes(before)).toSorted()).toEqual(['GRANTED', 'USES_EXHAUSTED', 'USES_EXHAUSTED']);
    expect(desk.releases('side')).toEqual([]);
    expect(uses()).toBe(1);
  });

  test('two PINs of one last use open once', async () => {
    const people = deskFacility() as { credentials: object[]; grants: object[] };
    const coin = people.credentials.map((row) => ('id' in row && row.id === 'door-pin' ? { ...row, usesMax: 1 } : row));
    await opened({ facility: { ...people, credentials: coin } });
    const before = await lastSeq();
    desk.type('front', `${pins.door}#`);
    desk.type('front', `${pins.door}#`);
    await desk.eventually('the refusal', (e) => e.body['code'] === 'USES_EXHAUSTED');
    expect((await codes(before)).toSorted()).toEqual(['GRANTED', 'USES_EXHAUSTED']);
  });

  test('one of two interlocked doors opens, by cards and by command', async () => {
    await opened();
    const before = await lastSeq();
    desk.swipe('bank-a', 'aiko');
    desk.swipe('bank-b', 'mei');
    await desk.eventually('the refusal', (e) => e.body['code'] === 'INTERLOCK');
    await waitUntil('a release', () => desk.releases('bank-a').length === 1);
    expect((await codes(before)).toSorted()).toEqual(['GRANTED', 'INTERLOCK']);
    const release = { kind: 'release' } as const;
    const outcome = await commandDoor(identifier('bank-b'), release, desk.desk.commands);
    expect(outcome.answer).toBe('INTERLOCK');
    await passed('bank-a');
    const [one, other] = await Promise.all([
      commandDoor(identifier('bank-a'), release, desk.desk.commands),
      commandDoor(identifier('bank-b'), release, desk.desk.commands),
    ]);
    expect([one.answer, other.answer].toSorted()).toEqual(['INTERLOCK', 'accepted']);
  });

  test('two holders at the escorted door are the two it asks for, whoever is first', async () => {
    await opened();
    const before = await lastSeq();
    desk.swipe('lab', 'aiko');
    desk.swipe('lab', 'mei');
    await waitUntil('a release', () => desk.releases('lab').length === 1);
    expect(await codes(before)).toEqual(['ESCORT_REQUIRED', 'GRANTED']);
  });
});

describe('while the journal is busy', () => {
  test('nothing is released and no lamp says so before the entry is durable', async () => {
    const disk = heldJournal();
    await opened({ journal: disk.around });
    disk.hold();
    desk.swipe('front', 'aiko');
    await waitUntil('the hand-over', () => disk.waiting() === 1);
    expect(desk.releases('front')).toEqual([]);
    expect(desk.lampsOf('front')).not.toContain('granted');
    disk.letGo();
    await waitUntil('the release', () => desk.releases('front').length === 1);
    expect(desk.lampsOf('front')).toContain('granted');
  });

  test('a door that an import replaces meanwhile stays shut, and says that it did', async () => {
    const disk = heldJournal();
    await opened({ journal: disk.around });
    disk.hold();
    desk.swipe('front', 'coin');
    await waitUntil('the hand-over', () => disk.waiting() === 1);
    const { doors } = deskFacility() as { doors: { id: string }[] };
    const renamed = doors.map((door) => (door.id === 'front' ? { ...door, name: 'Renamed' } : door));
    await importInto(desk.replica, deskFacility({ doors: renamed }));
    disk.letGo();
    const entry = await desk.eventually('the end', (e) => e.kind === 'lock.not-executed');
    expect(entry).toMatchObject({ door: 'front', body: { reason: 'door-changed' } });
    expect(desk.releases('front')).toEqual([]);
    expect(desk.lampsOf('front').at(-1)).toBe('refused');
    expect(uses()).toBeUndefined();
  });

  test('what it did not take is refused at door, lamp and memory, and the use is there the next time', async () => {
    let isLate = false;
    await opened({ journal: lateJournal(() => isLate) });
    isLate = true;
    const entry = await desk.decided(() => desk.swipe('front', 'coin'));
    expect(entry.body['code']).toBe('JOURNAL_UNAVAILABLE');
    expect(desk.releases('front')).toEqual([]);
    expect(desk.lampsOf('front').at(-1)).toBe('refused');
    expect(uses()).toBeUndefined();
    const state = await desk.history.journal.loadState();
    expect(state.filter(({ kind }) => kind === 'uses')).toEqual([]);
    isLate = false;
    const granted = await desk.decided(() => desk.swipe('front', 'coin'));
    expect(granted.kind).toBe('access.granted');
  });

  test('a door of an interlock is free again when the grant for another came to nothing', async () => {
    let isLate = false;
    await opened({ journal: lateJournal(() => isLate) });
    isLate = true;
    await desk.decided(() => desk.swipe('bank-a', 'aiko'));
    isLate = false;
    expect((await desk.decided(() => desk.swipe('bank-b', 'aiko'))).kind).toBe('access.granted');
  });
});

describe('a use', () => {
  test.each<[string, CommandResult, number | undefined]>([
    ['is given back when the lock certainly did not move', { kind: 'not-executed', reason: 'expired' }, undefined],
    ['is given back when the lock refused', { kind: 'refused', reason: 'nak' }, undefined],
    ['is spent when nobody knows', { kind: 'unknown' }, 1],
  ])('%s', async (_, result, left) => {
    await opened();
    desk.answer = ({ kind, lock }) =>
      kind === 'release' && lock.output === pointOf('front') ? result : { kind: 'done' };
    const { requestId } = await desk.decided(() => desk.swipe('front', 'coin'));
    const end = { 'not-executed': 'lock.not-executed', refused: 'lock.refused', unknown: 'release.unknown' } as const;
    await desk.eventually(
      'the end',
      (e) => e.requestId === requestId && result.kind !== 'done' && e.kind === end[result.kind],
    );
    expect(uses()).toBe(left);
    const durable = (await desk.history.journal.loadState()).find(({ kind }) => kind === 'uses');
    expect(durable?.value).toBe(left);
  });
});

describe('the first person', () => {
  test('opens the day for the others, until the facility’s midnight', async () => {
    await opened();
    const open = await desk.decided(() => desk.swipe('dawn', 'opener'));
    expect(open.body).toMatchObject({ code: 'GRANTED', flags: ['first_in'] });
    expect((await desk.decided(() => desk.swipe('dawn', 'mei'))).body['code']).toBe('FIRST_PERSON_REQUIRED');
    await passed('dawn');
    expect((await desk.decided(() => desk.swipe('dawn', 'mei'))).body['code']).toBe('GRANTED');
    await passed('dawn');
    // Noon in Tokyo: eleven hours on it is still today, one more and it is not.
    desk.clock.advance(11 * 3_600_000);
    await desk.time.refresh();
    expect((await desk.decided(() => desk.swipe('dawn', 'mei'))).body['code']).toBe('GRANTED');
    await passed('dawn');
    desk.clock.advance(3_600_000 + 1_000);
    await desk.time.refresh();
    expect((await desk.decided(() => desk.swipe('dawn', 'mei'))).body['code']).toBe('FIRST_PERSON_REQUIRED');
  });
});
