import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { commandDoor } from '#gateway/access/command-desk.ts';
import type { Journal, JournalState } from '#gateway/journal/journal.ts';
import { replicaPath } from '#gateway/replica/replica-folder.ts';
import { refusals } from '#shared/code.ts';
import { identifier } from '#shared/identifier.ts';
import { later } from '#shared/instant.ts';
import { tamper } from '../../fakes/replica-folder.ts';
import { waitUntil } from '../../fakes/wait-until.ts';
import { board, cardOf, fireInput, holderNames, pins, secretsInClear } from './desk-facility.ts';
import { type DeskOptions, openDesk, removeDesk, type TestDesk } from './test-desk.ts';

/** Every code that was seen in an entry, over all tests of this file. */
const seen = new Set<string>();
const folders = new Set<string>();
const open = new Set<TestDesk>();

async function opened(options: DeskOptions = {}): Promise<TestDesk> {
  const desk = await openDesk(options);
  open.add(desk);
  folders.add(desk.folder);
  return desk;
}

async function closed(desk: TestDesk): Promise<void> {
  open.delete(desk);
  for (const { body } of await desk.entries()) if (typeof body['code'] === 'string') seen.add(body['code']);
  await desk.close();
}

afterAll(() => {
  for (const folder of folders) removeDesk(folder);
});

/** Refused with `code`, by an entry of its own behind the one of its request; nothing was released. */
async function refused(desk: TestDesk, code: string, act: () => void) {
  const released = desk.sent.filter(({ command }) => command.kind === 'release').length;
  const decision = await desk.decided(act);
  expect(decision.body['code']).toBe(code);
  expect(decision.kind).toBe(code === 'SECOND_FACTOR_REQUIRED' ? 'access.challenged' : 'access.refused');
  const [first, second] = (await desk.entries()).filter(({ requestId }) => requestId === decision.requestId);
  expect([first?.kind, second?.kind]).toEqual(['access.requested', decision.kind]);
  expect(first?.requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(desk.sent.filter(({ command }) => command.kind === 'release')).toHaveLength(released);
  return decision;
}

const card = (desk: TestDesk, bitCount: number, hex: string) =>
  desk.swipe('front', { bitCount, bytes: Uint8Array.from(Buffer.from(hex, 'hex')) });

describe('the desk refuses, and says so,', () => {
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await opened();
  });
  afterAll(() => closed(desk));

  test('a request that waited too long', async () => {
    const at = later(desk.clock.now(), -2_500);
    const event = { kind: 'card', device: identifier<'device'>('reader-front'), head: 0, format: 1, at } as const;
    await refused(desk, 'REQUEST_STALE', () => desk.tell({ ...event, ...cardOf('aiko') }));
  });

  test('a reader that belongs to no door', async () => {
    desk.arrive('reader-nowhere');
    const entry = await refused(desk, 'DOOR_UNKNOWN', () => desk.swipe('nowhere', 'aiko'));
    expect(entry.door).toBeNull();
  });

  test('bits that are no card', async () => {
    await refused(desk, 'CREDENTIAL_MALFORMED', () => card(desk, 26, 'aaaaaa80'));
  });

  test('a card nobody enrolled, by the beginning of its lookup', async () => {
    const entry = await refused(desk, 'CREDENTIAL_UNKNOWN', () => desk.swipe('front', 'stranger'));
    const [request] = (await desk.entries()).filter(({ requestId }) => requestId === entry.requestId);
    expect(request?.body).toMatchObject({ presented: 'card', bitCount: 37, reader: 'front' });
    expect(request?.body['stranger']).toMatch(/^[0-9a-f]{8}$/);
    expect(desk.desk.reads.list()).toMatchObject([{ device: 'reader-front', bitCount: 37 }]);
  });

  test.each([
    ['revoked', 'CREDENTIAL_REVOKED'],
    ['suspended', 'CREDENTIAL_SUSPENDED'],
    ['early', 'CREDENTIAL_NOT_YET_VALID'],
    ['expired', 'CREDENTIAL_EXPIRED'],
    ['leased', 'REPLICA_STALE'],
    ['nowhere', 'DOOR_NOT_GRANTED'],
    ['hours', 'OUTSIDE_SCHEDULE'],
  ] as const)('%s: %s, with what explains it', async (person, code) => {
    const entry = await refused(desk, code, () => desk.swipe('side', person));
    expect(entry.door).toBe('side');
    expect(entry.body).toMatchObject({ holder: person, credential: `${person}-card`, credentialVersion: 1 });
    expect(entry.body).toMatchObject({ replicaEpoch: 1, contactAgeMs: null });
    expect(desk.lampsOf('side').at(-1)).toBe('refused');
  });

  test('a card without its PIN, and a PIN that is not its holder’s', async () => {
    await refused(desk, 'SECOND_FACTOR_REQUIRED', () => desk.swipe('vault', 'aiko'));
    expect(desk.lampsOf('vault').at(-1)).toBe('enter-pin');
    await refused(desk, 'SECOND_FACTOR_WRONG', () => desk.type('vault', `${pins.mei}#`));
    await refused(desk, 'SECOND_FACTOR_REQUIRED', () => desk.swipe('vault', 'aiko'));
    await refused(desk, 'SECOND_FACTOR_WRONG', () => desk.type('vault', `${pins.wrong}#`));
  });

  test('a credential that is used up', async () => {
    const { kind } = await desk.decided(() => desk.swipe('side', 'coin'));
    expect(kind).toBe('access.granted');
    const entry = await refused(desk, 'USES_EXHAUSTED', () => desk.swipe('front', 'coin'));
    expect(entry.body['detail']).toBe('1 of 1');
  });

  test('somebody who is inside and did not leave', async () => {
    await desk.decided(() => desk.swipe('zone-in', 'aiko'));
    await waitUntil('the lock', () => desk.stateOf('zone') === 'released');
    // Released is not yet through: only the open door moves the holder.
    expect(desk.history.memory.read('area', 'aiko')).toBeUndefined();
    desk.openLeaf('zone', true);
    desk.openLeaf('zone', false);
    desk.relock('zone');
    expect(desk.history.memory.read('area', 'aiko')).toEqual({ area: 'zone' });
    await refused(desk, 'ANTI_PASSBACK', () => desk.swipe('zone-in', 'aiko'));
    const granted = await desk.decided(() => desk.swipe('zone-out', 'aiko'));
    expect(granted.kind).toBe('access.granted');
  });

  test('whoever comes before the first person, and whoever comes alone', async () => {
    await refused(desk, 'FIRST_PERSON_REQUIRED', () => desk.swipe('dawn', 'mei'));
    await refused(desk, 'ESCORT_REQUIRED', () => desk.swipe('lab', 'mei'));
    await refused(desk, 'ESCORT_REQUIRED', () => desk.swipe('lab', 'mei'));
    const { kind } = await desk.decided(() => desk.swipe('lab', 'aiko'));
    expect(kind).toBe('access.granted');
    await refused(desk, 'ESCORT_REQUIRED', () => desk.swipe('lab', 'aiko'));
  });

  test('a door while another of its interlock is open', async () => {
    desk.openLeaf('bank-a', true);
    const entry = await refused(desk, 'INTERLOCK', () => desk.swipe('bank-b', 'aiko'));
    expect(entry.body['detail']).toBe('bank-a');
    desk.openLeaf('bank-a', false);
  });

  test('in lockdown and during a fire', async () => {
    await commandDoor(identifier('side'), { kind: 'mode', mode: 'lockdown' }, desk.desk.commands);
    await refused(desk, 'DOOR_LOCKED_DOWN', () => desk.swipe('side', 'aiko'));
    const override = await desk.decided(() => desk.swipe('side', 'brigade'));
    expect(override.body).toMatchObject({ code: 'GRANTED', flags: ['lockdown_override'] });
    await commandDoor(identifier('side'), { kind: 'mode', mode: 'controlled' }, desk.desk.commands);
    desk.input(fireInput, true);
    await refused(desk, 'FIRE_ACTIVE', () => desk.swipe('front', 'brigade'));
    desk.input(fireInput, false);
  });

  test('PINs at a reader where five were wrong, and nothing else there', async () => {
    for (let tries = 0; tries < 5; tries += 1)
      await refused(desk, 'CREDENTIAL_UNKNOWN', () => desk.type('front', `${pins.wrong}#`));
    const alarm = await desk.eventually('the alarm', ({ body }) => body['code'] === 'READER_LOCKED');
    expect(alarm).toMatchObject({ kind: 'alarm.raised', body: { reader: 'front' } });
    const before = (await desk.entries()).length;
    desk.type('front', `${pins.door}#`);
    const known = await desk.decided(() => desk.swipe('front', 'mei'));
    expect(known.body['code']).toBe('GRANTED');
    // The episode is one entry at its end, not one for each try.
    const after = (await desk.entries()).slice(before).map(({ body }) => body['code']);
    expect(after).not.toContain('READER_LOCKED_OUT');
    desk.clock.advance(60_000);
    desk.desk.tick();
    const counted = await desk.eventually('the end', ({ kind }) => kind === 'access.refusals-counted');
    expect(counted.body).toMatchObject({ reader: 'front', episode: 'lock-out', count: 1 });
    await desk.eventually('the all-clear', (e) => e.kind === 'alarm.cleared' && e.body['code'] === 'READER_LOCKED');
  });

  test('what its lock cannot hear', async () => {
    desk.leave(board);
    const entry = await refused(desk, 'LOCK_UNREACHABLE', () => desk.swipe('side', 'aiko'));
    expect(entry.body['detail']).toBe('unreachable');
  });
});

describe('without what a decision stands on', () => {
  let desk: TestDesk;
  afterEach(() => closed(desk));

  test('a clock that knows nothing refuses what the time could change, and only that', async () => {
    desk = await opened({ kernel: () => 'unsynchronized' });
    await refused(desk, 'CLOCK_UNTRUSTED', () => desk.swipe('side', 'leased'));
    const timeless = await desk.decided(() => desk.swipe('side', 'aiko'));
    expect(timeless).toMatchObject({ kind: 'access.granted', clockState: 'untrusted' });
  });

  test('too many PINs at once are told to come again', async () => {
    desk = await opened({ pins: (real) => ({ ...real, hash: () => 'busy' }) });
    await refused(desk, 'PIN_BUSY', () => desk.type('front', `${pins.door}#`));
  });

  test('a row that somebody changed is no credential, and an alarm', async () => {
    const first = await opened();
    await closed(first);
    tamper(first.folder, 1, (file) =>
      file.prepare(`UPDATE credential SET status = 'issued' WHERE id = 'revoked-card'`).run(),
    );
    desk = await opened({ folder: first.folder, clock: first.clock });
    await refused(desk, 'CREDENTIAL_TAMPERED', () => desk.swipe('side', 'revoked'));
    await desk.eventually('the alarm', (e) => e.kind === 'alarm.raised' && e.body['code'] === 'ROW_TAMPERED');
  });

  test('a journal that takes nothing grants nothing, and tells the refusals when it is back', async () => {
    let state: JournalState = { kind: 'available' };
    desk = await opened({ journal: (real) => ({ ...bound(real), state: () => state }) });
    state = { kind: 'failed', detail: 'no disk' };
    await refused(desk, 'JOURNAL_UNAVAILABLE', () => desk.swipe('side', 'aiko'));
    state = { kind: 'available' };
    const { kind } = await desk.decided(() => desk.swipe('side', 'aiko'));
    expect(kind).toBe('access.granted');
  });
});

describe('a throw while facts are gathered', () => {
  let desk: TestDesk;
  afterEach(() => closed(desk));
  const failure = Object.assign(new Error('the disk is gone'), { code: 'SQLITE_IOERR' });

  test.each(['credential', 'readerAt'] as const)(
    'in the replica (%s) refuses, and the next card is let in',
    async (step) => {
      desk = await opened();
      const reader = desk.replica.reader;
      const original = reader[step];
      Object.assign(reader, {
        [step]: () => {
          throw failure;
        },
      });
      const entry = await refused(desk, 'INTERNAL_FAULT', () => desk.swipe('side', 'aiko'));
      expect(entry.body['detail']).toBe('SQLITE_IOERR');
      expect(desk.faults).toEqual([failure]);
      Object.assign(reader, { [step]: original });
      const { kind } = await desk.decided(() => desk.swipe('side', 'aiko'));
      expect(kind).toBe('access.granted');
    },
  );

  test('in the thread of the PINs refuses, and the next PIN is heard', async () => {
    let isBroken = true;
    const fault = Object.assign(new Error('the PIN thread ended'), { code: 'PIN_HASH_FAILED' });
    desk = await opened({
      pins: (real) => ({ ...real, hash: (...args) => (isBroken ? Promise.reject(fault) : real.hash(...args)) }),
    });
    const entry = await refused(desk, 'INTERNAL_FAULT', () => desk.type('front', `${pins.door}#`));
    expect(entry.body['detail']).toBe('PIN_HASH_FAILED');
    isBroken = false;
    const { kind } = await desk.decided(() => desk.type('front', `${pins.door}#`));
    expect(kind).toBe('access.granted');
  });

  test('in what the gateway knows by itself refuses', async () => {
    let isBroken = false;
    desk = await opened({
      contactAgeMs: () => {
        if (isBroken) throw failure;
        return 'unknown';
      },
    });
    isBroken = true;
    await refused(desk, 'INTERNAL_FAULT', () => desk.swipe('side', 'aiko'));
    isBroken = false;
  });
});

test('every code of the registry was met', () => {
  // A lock-out is counted as one episode; its code is met where the request is explained, not in an entry.
  const unseen = Object.keys(refusals).filter((code) => !seen.has(code) && code !== 'READER_LOCKED_OUT');
  expect(unseen).toEqual([]);
});

test('no card, PIN or name stands in clear in what was written', () => {
  for (const folder of folders) {
    const files = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'latin1') }));
    expect(files.map(({ name }) => name)).toContain('journal.db');
    for (const { name, text } of files) {
      for (const secret of secretsInClear()) expect(isIn(text, secret), `${secret} in ${name}`).toBe(false);
      if (name.startsWith('journal'))
        for (const person of Object.values(holderNames)) expect(text.includes(person), person).toBe(false);
    }
    // The search finds what is there.
    expect(readFileSync(replicaPath(folder, 1), 'latin1')).toContain(holderNames.aiko);
  }
});

/** Short digits inside a hash are chance. */
const isIn = (text: string, secret: string): boolean =>
  /^\d+$/.test(secret) ? new RegExp(`(?<![0-9a-f])${secret}(?![0-9a-f])`).test(text) : text.includes(secret);

function bound(journal: Journal): Journal {
  return {
    append: (...args) => journal.append(...args),
    note: (...args) => journal.note(...args),
    state: () => journal.state(),
    loadState: () => journal.loadState(),
    read: (query) => journal.read(query),
    follow: (listener) => journal.follow(listener),
    close: () => journal.close(),
  };
}
