import { randomInt } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import type { AccessRequest, CardBits, Presented } from '#gateway/door/access-request.ts';
import { decideAccess, decideFault } from '#gateway/door/decide-access.ts';
import type { Decision } from '#gateway/door/decision.ts';
import type { Facts } from '#gateway/door/facts.ts';
import { type FactSources, gatherFacts, type LiveState } from '#gateway/door/gather-facts.ts';
import { importFacility } from '#gateway/import/import-facility.ts';
import { createPinHasher, type PinHasher } from '#gateway/replica/pin-hasher.ts';
import type { ReplicaReader } from '#gateway/replica/replica-reader.ts';
import { encodeCard } from '#protocol/wiegand/encode-card.ts';
import { h10301, h10304 } from '#protocol/wiegand/standard-formats.ts';
import { createCredentialLookup } from '#shared/credential-lookup.ts';
import { identifier } from '#shared/identifier.ts';
import { monoMs, wallMs } from '#shared/instant.ts';
import { liveStateOf, Oracle, type Question, randomQuestion, requestOf } from '../../benchmark/oracle.ts';
import { asJson, type WrittenSet, writtenSet } from '../../fakes/import-files.ts';
import { openReader, putInForce, tamper, temporaryFolder } from '../../fakes/replica-folder.ts';
import { sampleFacility, testLookupKey } from '../../fakes/sample-facility.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

const pins = createPinHasher(new URL('../../../gateway/replica/pin-thread.ts', import.meta.url));
afterAll(() => pins.close());
const lookup = createCredentialLookup(testLookupKey);
/** A Monday, ten in the morning in Tokyo. */
const now = wallMs(Date.UTC(2026, 5, 1, 1));
const quiet: Question = { card: 0, door: 0, now, contactAgeMs: 0 };

function sourcesOf(replica: ReplicaReader, live: Partial<LiveState> = {}): FactSources {
  return { replica, lookup, pins, live: { ...liveStateOf(() => quiet), ...live } };
}

async function replicaOf(set: WrittenSet, folder = temporaryFolder()): Promise<ReplicaReader> {
  const outcome = await importFacility({ files: asJson(set), lookupKey: testLookupKey });
  if (outcome.kind !== 'ready') throw new Error(outcome.findings.errors.join('\n'));
  return openReader(folder, await putInForce(folder, 1, outcome.rows));
}

/** Front asks for a card; vault for a card and its holder's PIN; side opens to a PIN. */
function facility(): WrittenSet {
  const set = writtenSet();
  set.doors.push({ id: 'side', name: 'Side door', lock: { device: 'io', output: 2 } });
  set.readers.push({ id: 'side-out', name: 'Side, outside', door: 'side', device: 'reader-3', uidOrder: 'reversed' });
  set.credentials.push(
    { id: 'ben-pin', holder: 'ben', pin: '771144' },
    { id: 'aiko-duress', holder: 'aiko', pin: '482914', isDuress: true },
    { id: 'ben-uid', holder: 'ben', card: { bitCount: 32, hex: '01020304' } },
  );
  set.grants.push({ id: 'side', credentials: ['aiko-pin', 'ben-uid'], doors: ['side'] });
  return set;
}

const aikoCard = encodeCard(h10304, { facility: 12, number: 3456 }) as CardBits;
const benCard: CardBits = { bitCount: 48, bytes: Uint8Array.from([0x01, 0x23, 0x45, 0x67, 0x89, 0xab]) };
const card = (bits: CardBits): Presented => ({ kind: 'card', card: bits });

function ask(device: string, presented: Presented): AccessRequest {
  return {
    requestId: identifier('r'),
    device: identifier(device),
    head: 0,
    presented,
    receivedAt: monoMs(0),
    deviceAgeMs: 0,
  };
}

async function decide(request: AccessRequest, sources: FactSources): Promise<Decision> {
  return decideAccess(request, await gatherFacts(request, sources));
}

describe('a card', () => {
  test('has its facts at once, and they decide', async () => {
    const sources = sourcesOf(await replicaOf(facility()));
    const request = ask('reader-1', card(aikoCard));
    const facts = gatherFacts(request, sources);
    expect(facts).not.toBeInstanceOf(Promise);
    expect(facts).toMatchObject({
      at: 1,
      door: { row: { id: 'front' }, reader: { id: 'front-out' }, mode: 'controlled', secondFactor: 'never' },
      credential: { kind: 'found', row: { id: 'aiko-card' }, usesSpent: 0 },
      secondFactor: { kind: 'not-presented' },
      replica: { state: 'live', epoch: 1, cursor: 0 },
    });
    expect(decideAccess(request, facts as Facts)).toMatchObject({ code: 'GRANTED', grant: 'staff', holder: 'aiko' });
  });

  test('works by its raw bits, whatever its format, and stray bits after the last change nothing', async () => {
    const sources = sourcesOf(await replicaOf(facility()));
    expect(await decide(ask('reader-1', card(benCard)), sources)).toMatchObject({ code: 'GRANTED', holder: 'ben' });
    const stray = Uint8Array.from(aikoCard.bytes);
    stray[stray.length - 1] = (stray.at(-1) ?? 0) | 0b111;
    const request = ask('reader-1', card({ bitCount: 37, bytes: stray }));
    expect(await decide(request, sources)).toMatchObject({ code: 'GRANTED', holder: 'aiko' });
  });

  test('with a serial number is read in the order of its reader', async () => {
    const sources = sourcesOf(await replicaOf(facility()));
    const sent = (bytes: number[]) => ask('reader-3', card({ bitCount: 32, bytes: Uint8Array.from(bytes) }));
    expect((await decide(sent([4, 3, 2, 1]), sources)).code).toBe('GRANTED');
    expect((await decide(sent([1, 2, 3, 4]), sources)).code).toBe('CREDENTIAL_UNKNOWN');
  });

  test('is malformed when its parity is wrong or bytes are missing, and unknown when it is only a stranger', async () => {
    const sources = sourcesOf(await replicaOf(facility()));
    const stranger = encodeCard(h10301, { facility: 9, number: 9 }) as CardBits;
    const damaged = {
      bitCount: 26,
      bytes: Uint8Array.from(stranger.bytes, (byte, at) => (at === 1 ? byte ^ 1 : byte)),
    };
    expect((await decide(ask('reader-1', card(stranger)), sources)).code).toBe('CREDENTIAL_UNKNOWN');
    expect(await decide(ask('reader-1', card(damaged)), sources)).toMatchObject({
      code: 'CREDENTIAL_MALFORMED',
      detail: 'parity',
    });
    const short = card({ bitCount: 37, bytes: aikoCard.bytes.slice(0, 4) });
    expect(await decide(ask('reader-1', short), sources)).toMatchObject({
      code: 'CREDENTIAL_MALFORMED',
      detail: 'length',
    });
  });

  test('at a reader of no door has no door in its facts', async () => {
    const sources = sourcesOf(await replicaOf(facility()));
    expect((await decide(ask('reader-9', card(aikoCard)), sources)).code).toBe('DOOR_UNKNOWN');
    expect((await decide({ ...ask('reader-1', card(aikoCard)), head: 1 }, sources)).code).toBe('DOOR_UNKNOWN');
  });

  test('is refused while any of the rows read whole is not ours, and from a replica in quarantine', async () => {
    const folder = temporaryFolder();
    const first = await replicaOf(facility(), folder);
    const { state } = first;
    first.close();
    tamper(folder, 1, (file) => file.exec("UPDATE schedule SET weekly = '[]' WHERE id = 'office'"));
    const request = ask('reader-2', card(aikoCard));
    expect(await decide(request, sourcesOf(openReader(folder)))).toMatchObject({
      code: 'CREDENTIAL_TAMPERED',
      detail: 'schedule office',
    });
    const intact = temporaryFolder();
    await replicaOf(facility(), intact);
    const head = state.kind === 'live' ? { ...state.head, change: 9 } : undefined;
    const facts = await gatherFacts(request, sourcesOf(openReader(intact, head)));
    expect(facts.replica.state).toBe('quarantined');
    expect(decideAccess(request, facts).code).toBe('REPLICA_STALE');
  });

  test('counts the uses only of a credential that has a limit', async () => {
    const set = facility();
    Object.assign(set.credentials[0] ?? {}, { usesMax: 2 });
    const asked: string[] = [];
    const usesSpent = (credential: string) => asked.push(credential) + 1;
    const sources = sourcesOf(await replicaOf(set), { usesSpent });
    expect((await decide(ask('reader-1', card(aikoCard)), sources)).code).toBe('USES_EXHAUSTED');
    await decide(ask('reader-1', card(benCard)), sources);
    expect(asked).toEqual(['aiko-card']);
  });

  test('outside its hours is refused, and so is every schedule while the time is unknown', async () => {
    const replica = await replicaOf(facility());
    const at = (hour: number): Partial<LiveState> => ({
      clock: () => ({ state: 'trusted', now: wallMs(now + hour * 3_600_000), errorMs: 0 }),
    });
    const request = ask('reader-1', card(aikoCard));
    expect((await decide(request, sourcesOf(replica, at(0)))).code).toBe('GRANTED');
    expect((await decide(request, sourcesOf(replica, at(9)))).code).toBe('OUTSIDE_SCHEDULE');
    // Four hundred days later it is a Tuesday.
    expect((await decide(request, sourcesOf(replica, at(24 * 400)))).code).toBe('GRANTED');
    const unknown: Partial<LiveState> = { clock: () => ({ state: 'untrusted', now: undefined, errorMs: 0 }) };
    expect((await decide(request, sourcesOf(replica, unknown))).code).toBe('CLOCK_UNTRUSTED');
  });
});

describe('a PIN', () => {
  const pin = (digits: string): Presented => ({ kind: 'pin', digits });

  test('opens the door it is granted, and no other', async () => {
    const sources = sourcesOf(await replicaOf(facility()));
    expect(await decide(ask('reader-3', pin('482913')), sources)).toMatchObject({ code: 'GRANTED', holder: 'aiko' });
    expect((await decide(ask('reader-1', pin('482913')), sources)).code).toBe('DOOR_NOT_GRANTED');
    expect((await decide(ask('reader-3', pin('482915')), sources)).code).toBe('CREDENTIAL_UNKNOWN');
  });

  test.each(['', '123', '12345678901', '12a4', '１２３４'])('of %j is malformed', async (digits) => {
    const sources = sourcesOf(await replicaOf(facility()));
    expect((await decide(ask('reader-3', pin(digits)), sources)).code).toBe('CREDENTIAL_MALFORMED');
  });

  test('is not hashed at a reader that is locked out, at no door, or without a journal', async () => {
    const replica = await replicaOf(facility());
    const hashed: string[] = [];
    const counting: PinHasher = {
      warm: () => {},
      hash: (digits) => {
        hashed.push(digits);
        return 'busy';
      },
      close: async () => {},
    };
    const request = ask('reader-3', pin('482913'));
    const locked = sourcesOf(replica, { guessing: () => 'locked-out' });
    expect((await decide(request, { ...locked, pins: counting })).code).toBe('READER_LOCKED_OUT');
    const mute = sourcesOf(replica, { journal: () => 'unavailable' });
    expect((await decide(request, { ...mute, pins: counting })).code).toBe('JOURNAL_UNAVAILABLE');
    const open = { ...sourcesOf(replica), pins: counting };
    expect((await decide(ask('reader-9', pin('482913')), open)).code).toBe('DOOR_UNKNOWN');
    expect(hashed).toEqual([]);
    expect((await decide(request, open)).code).toBe('PIN_BUSY');
  });

  test('after a card is right only if it is the holder’s own', async () => {
    const sources = sourcesOf(await replicaOf(facility()));
    const both = (bits: CardBits, digits: string) => ask('reader-2', { kind: 'card-and-pin', card: bits, digits });
    expect((await decide(ask('reader-2', card(aikoCard)), sources)).code).toBe('SECOND_FACTOR_REQUIRED');
    expect((await decide(both(aikoCard, '482913'), sources)).code).toBe('GRANTED');
    expect((await decide(both(aikoCard, '771144'), sources)).code).toBe('SECOND_FACTOR_WRONG');
    expect((await decide(both(aikoCard, '000000'), sources)).code).toBe('SECOND_FACTOR_WRONG');
    expect((await decide(both(aikoCard, '1'), sources)).code).toBe('SECOND_FACTOR_WRONG');
    expect((await decide(both(benCard, '771144'), sources)).code).toBe('DOOR_NOT_GRANTED');
    expect(await decide(both(aikoCard, '482914'), sources)).toMatchObject({ code: 'GRANTED', flags: ['duress'] });
  });

  test('whose row was changed is told, even as a second factor', async () => {
    const folder = temporaryFolder();
    (await replicaOf(facility(), folder)).close();
    tamper(folder, 1, (file) => file.exec("UPDATE credential SET status = 'issued', flags = 8 WHERE id = 'aiko-pin'"));
    const sources = sourcesOf(openReader(folder));
    expect((await decide(ask('reader-3', pin('482913')), sources)).code).toBe('CREDENTIAL_TAMPERED');
    const both = ask('reader-2', { kind: 'card-and-pin', card: aikoCard, digits: '482913' });
    expect((await decide(both, sources)).code).toBe('CREDENTIAL_TAMPERED');
  });
});

/** Replaces one member of an object, found by its path, by something that throws when it is used. */
function breaking<Whole extends object>(whole: Whole, [name = '', ...rest]: readonly string[]): Whole {
  return new Proxy(whole, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      const bound: unknown = typeof value === 'function' ? value.bind(target) : value;
      if (property !== name) return bound;
      if (rest.length > 0) return breaking(bound as object, rest);
      if (typeof bound !== 'function') throw new Error('broken');
      return () => {
        throw new Error('broken');
      };
    },
  });
}

describe('a throw at any step of gathering', () => {
  const cardSteps = [
    'replica.readerAt',
    'replica.doors',
    'replica.credential',
    'replica.tampered',
    'replica.state',
    'replica.schedules',
    'lookup.ofCard',
    'live.clock',
    'live.now',
    'live.journal',
    'live.contactAgeMs',
    'live.door',
    'live.guessing',
    'live.usesSpent',
    'live.holderArea',
  ];
  const pinSteps = [
    'replica.facility',
    'pins.hash',
    'lookup.ofPin',
    'live.journal',
    'live.guessing',
    'replica.credential',
  ];

  test.each([
    ...cardSteps.map((step) => ({ step, presented: card(aikoCard) })),
    ...pinSteps.map((step) => ({ step, presented: { kind: 'pin', digits: '482913' } as const })),
  ])('refuses with INTERNAL_FAULT: $step of a $presented.kind', async ({ step, presented }) => {
    const set = facility();
    Object.assign(set.credentials[0] ?? {}, { usesMax: 2 });
    const whole = sourcesOf(await replicaOf(set));
    const device = presented.kind === 'pin' ? 'reader-3' : 'reader-1';
    const request = ask(device, presented);
    expect((await decide(request, whole)).code).toBe('GRANTED');
    const sources = breaking(whole, step.split('.'));
    const decided = await (async () => decide(request, sources))().catch((error: Error) =>
      decideFault(request, error.message),
    );
    expect(decided).toMatchObject({ verdict: 'refused', code: 'INTERNAL_FAULT', detail: 'broken' });
  });
});

test('decisions over the real file are those of the plain rules over rows in memory', async () => {
  const seed = randomInt(2 ** 31);
  const random = seededRandom(seed);
  const cards = 600;
  const doors = 12;
  const rows = sampleFacility(cards, doors);
  const folder = temporaryFolder();
  const replica = openReader(folder, await putInForce(folder, 1, rows));
  const oracle = new Oracle(rows);
  const from = Date.UTC(2025, 11, 1);
  const codes = new Set<string>();
  for (let week = 0; week < 40; week += 1) {
    const bounds = { cards, doors, from: from + week * 12 * 86_400_000, until: from + (week * 12 + 5) * 86_400_000 };
    for (let asked = 0; asked < (process.env['KANNUKI_FULL'] === '1' ? 2_500 : 50); asked += 1) {
      const question = randomQuestion(random, bounds);
      const request = requestOf(question);
      const facts = gatherFacts(request, { ...sourcesOf(replica), live: liveStateOf(() => question) }) as Facts;
      const { code } = decideAccess(request, facts);
      expect(code, `seed ${seed}: ${JSON.stringify(question)}`).toBe(oracle.decide(question));
      codes.add(code);
    }
  }
  expect(codes.size).toBeGreaterThanOrEqual(8);
});
