import { describe, expect, test } from 'vitest';
import { importFacility } from '#gateway/import/import-facility.ts';
import type { SourceFile } from '#gateway/import/source-record.ts';
import { createCredentialLookup } from '#shared/credential-lookup.ts';
import { asJson, type WrittenSet, writtenSet } from '../../fakes/import-files.ts';
import { testLookupKey } from '../../fakes/sample-facility.ts';

const importFiles = (files: readonly SourceFile[], isDryRun = false) =>
  importFacility({ files, lookupKey: testLookupKey, isDryRun });

async function errorsOf(files: readonly SourceFile[]): Promise<readonly string[]> {
  const outcome = await importFiles(files);
  expect(outcome.kind).toBe('refused');
  return outcome.findings.errors;
}

describe('a set without mistakes', () => {
  test('becomes rows, without card numbers, PINs or anything else in clear', async () => {
    const outcome = await importFiles(asJson(writtenSet()));
    if (outcome.kind !== 'ready') throw new Error(outcome.findings.errors.join('\n'));
    const { rows, findings } = outcome;
    expect(findings).toMatchObject({ errors: [], warnings: [], counts: { doors: 2, grants: 2 } });
    expect(rows.doors[1]).toMatchObject({ id: 'vault', secondFactor: 'always', strikeMs: 5_000, version: 1 });
    const lookup = createCredentialLookup(testLookupKey);
    expect(rows.credentials.find(({ id }) => id === 'ben-card')).toMatchObject({
      kind: 'card',
      lookup: lookup.ofCard(Uint8Array.from([0, 48, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab])),
      leaseMs: 'unlimited',
      status: 'issued',
    });
    expect(rows.credentials.find(({ id }) => id === 'aiko-pin')?.kind).toBe('pin');
    expect(rows.grants).toHaveLength(3);
    expect(rows.grants[2]).toMatchObject({
      grant: 'vault',
      credential: 'aiko-card',
      door: 'vault',
      validUntil: Date.UTC(2027, 2, 31, 9),
    });
    expect(JSON.stringify(rows)).not.toMatch(/482913|3456|0123456789ab/);
  });

  test('finds a card written as bits, as bytes and as numbers under one lookup', async () => {
    const lookups = new Set<string>();
    for (const card of [
      { format: 'H10301', facility: 12, number: 3456 },
      { bits: '00000110000001101100000001' },
      { bitCount: 26, hex: '0606C040' },
    ]) {
      const set = writtenSet();
      set.credentials = [{ id: 'aiko-card', holder: 'aiko', card }];
      set.grants = [];
      const outcome = await importFiles(asJson(set));
      if (outcome.kind !== 'ready') throw new Error(outcome.findings.errors.join('\n'));
      lookups.add(outcome.rows.credentials[0]?.lookup ?? '');
    }
    expect(lookups.size).toBe(1);
  });

  test('warns of cards that anyone can copy, and of doors that nobody can use', async () => {
    const set = writtenSet();
    set.readers.pop();
    set.credentials.push(
      { id: 'old', holder: 'ben', card: { format: 'H10301', facility: 1, number: 2 } },
      { id: 'uid', holder: 'ben', card: { bitCount: 32, hex: '01020304' } },
    );
    set.doors.push({ id: 'side', name: 'Side', lock: null });
    const { findings } = await importFiles(asJson(set), true);
    expect(findings.errors).toEqual([]);
    expect(findings.warnings).toEqual([
      expect.stringMatching(/^1 card is 26 bits \(H10301\), which anyone can copy/),
      expect.stringMatching(/^1 card is a serial number of 32 bits/),
      'door vault has no reader',
      'door side has no reader',
      'door side has no lock: it refuses everybody',
    ]);
  });

  test('warns of a strike on an output of the door’s own reader', async () => {
    const set = writtenSet();
    const door = at(set.doors, 0);
    const reader = set.readers.find((each) => each['door'] === door['id']);
    door['lock'] = { device: reader?.['device'], output: 0 };
    const { findings } = await importFiles(asJson(set), true);
    expect(findings.warnings).toEqual([expect.stringContaining('hangs outside the wall')]);
  });

  test('is only looked at in a dry run', async () => {
    expect((await importFiles(asJson(writtenSet()), true)).kind).toBe('checked');
  });
});

type Mistake = readonly [rule: string, make: (set: WrittenSet) => unknown, ...texts: readonly RegExp[]];

const at = <Item>(items: readonly Item[], index: number): Item => {
  const item = items[index];
  if (item === undefined) throw new Error(`no item ${index}`);
  return item;
};

const mistakes: readonly Mistake[] = [
  [
    'an unknown field',
    (set) => Object.assign(at(set.doors, 0), { color: 'red' }),
    /\(doors\[0\]\): color is not a known field; they are id, name, lock/,
  ],
  [
    'an unknown nested field',
    (set) => Object.assign(at(set.doors, 0), { lock: { device: 'io', output: 0, pulse: 5 } }),
    /lock\.pulse is not a known field, for example \{"device"/,
  ],
  [
    'an unknown section',
    (set) => Object.assign(set, { walls: [] }),
    /walls is not a section; they are facility, schedules/,
  ],
  ['a section that is no array', (set) => Object.assign(set, { doors: {} }), /doors must be an array/],
  [
    'a missing field',
    (set) => delete at(set.holders, 0)['name'],
    /\(holders\[0\]\): name is missing, for example "Aiko Mori"/,
  ],
  [
    'a field of another type',
    (set) => Object.assign(at(set.doors, 0), { strikeMs: '5000' }),
    /strikeMs must be of type number, for example 5000/,
  ],
  [
    'a number too small',
    (set) => Object.assign(at(set.doors, 0), { strikeMs: 5 }),
    /strikeMs must be at least 200, for example 5000/,
  ],
  [
    'a number too large',
    (set) => Object.assign(at(set.doors, 0), { debounceMs: 9_999 }),
    /debounceMs must be at most 5000/,
  ],
  [
    'a word that is none of the choices',
    (set) => Object.assign(at(set.doors, 0), { lock: { device: 'io', output: 0, release: 'maybe' } }),
    /lock\.release must be "energise" or "de-energise"/,
  ],
  [
    'an id with a space',
    (set) => Object.assign(at(set.holidays, 0), { id: 'new year' }),
    /id must be 1–64 of a–z A–Z 0–9/,
  ],
  [
    'a date that does not exist',
    (set) => Object.assign(at(set.holidays, 0), { date: '2027-02-30' }),
    /\(holidays\[0\]\): date is not a valid date, for example "2027-01-01"/,
  ],
  ['no facility', (set) => Reflect.deleteProperty(set, 'facility'), /facility is missing, for example \{"id": "hall"/],
  [
    'a zone that nobody knows',
    (set) => Object.assign(set.facility, { zone: 'Asia/Atlantis' }),
    /zone is no zone that is known: Asia\/Atlantis, for example "Asia\/Tokyo"/,
  ],
  [
    'an interval without length',
    (set) => Object.assign(at(set.schedules, 0), { weekly: [{ days: ['mon'], from: '08:00', until: '08:00' }] }),
    /weekly\[0\] has no length: it ends when it begins, at 08:00, for example 00:00 until 24:00/,
  ],
  [
    'a holiday interval without length',
    (set) => Object.assign(at(set.schedules, 0), { onHolidays: [{ from: '08:00', until: '08:00' }] }),
    /onHolidays\[0\] has no length/,
  ],
  [
    'a schedule without intervals',
    (set) => Object.assign(at(set.schedules, 0), { weekly: [] }),
    /weekly has no interval/,
  ],
  [
    'a time of day that is none',
    (set) => Object.assign(at(set.schedules, 0), { weekly: [{ days: ['mon'], from: '8:00', until: '25:00' }] }),
    /weekly\[0\]\.from must be a time of day HH:MM/,
    /weekly\[0\]\.until must be a time of day/,
  ],
  [
    'a day that is none',
    (set) => Object.assign(at(set.schedules, 0), { weekly: [{ days: ['monday'], from: '08:00', until: '09:00' }] }),
    /weekly\[0\]\.days\[0\] must be "mon" or "tue"/,
  ],
  [
    'an id that stands twice',
    (set) => set.doors.push({ id: 'front', name: 'Twin', lock: null }),
    /\(doors\[2\]\): id is used twice: front stands already on line \d+ \(doors\[0\]\)/,
  ],
  [
    'two readers in one place',
    (set) => Object.assign(at(set.readers, 1), { device: 'reader-1' }),
    /head is reader 0 of reader-1, which front-out already has/,
  ],
  [
    'two locks on one output',
    (set) => Object.assign(at(set.doors, 1), { lock: { device: 'io', output: 0 } }),
    /lock is output 0 of io, which front already has/,
  ],
  [
    'two contacts on one input',
    (set) => {
      for (const door of set.doors) door['contact'] = { device: 'io', input: 3 };
    },
    /contact is input 3 of io, which front already has/,
  ],
  [
    'a reader at no door',
    (set) => Object.assign(at(set.readers, 0), { door: 'back' }),
    /door names no door: back, for example front, vault/,
  ],
  [
    'a grant to no door',
    (set) => Object.assign(at(set.grants, 0), { doors: ['front', 'back'] }),
    /\(grants\[0\]\): doors\[1\] names no door: back, for example front, vault/,
  ],
  [
    'a grant of no credential',
    (set) => Object.assign(at(set.grants, 0), { credentials: ['nobody'] }),
    /credentials\[0\] names no credential: nobody/,
  ],
  [
    'a grant by no schedule',
    (set) => Object.assign(at(set.grants, 0), { schedule: 'night' }),
    /schedule names no schedule: night, for example office/,
  ],
  [
    'a rule by no schedule',
    (set) => Object.assign(at(set.doors, 0), { secondFactor: { schedule: 'night' }, freeSchedule: 'day' }),
    /secondFactor names no schedule: night/,
    /freeSchedule names no schedule: day/,
  ],
  [
    'a rule that is none',
    (set) => Object.assign(at(set.doors, 0), { escort: 'sometimes' }),
    /escort has none of the forms it may have, for example "never", "always" or/,
  ],
  [
    'a credential of nobody',
    (set) => Object.assign(at(set.credentials, 0), { holder: 'chie' }),
    /holder names no holder: chie, for example aiko, ben/,
  ],
  [
    'a format that nobody knows',
    (set) => Object.assign(at(set.credentials, 0), { card: { format: 'H1', number: 5 } }),
    /card\.format must be one of H10301/,
  ],
  [
    'a reader’s format that nobody knows',
    (set) => Object.assign(at(set.readers, 0), { cardFormats: ['H10301', 'X'] }),
    /cardFormats\[1\] is not a known format: X/,
  ],
  [
    'a card number too large',
    (set) => Object.assign(at(set.credentials, 0), { card: { format: 'H10301', facility: 12, number: 70_000 } }),
    /card must have a number up to 65535 and a facility up to 255/,
  ],
  [
    'a facility where the format has none',
    (set) => Object.assign(at(set.credentials, 0), { card: { format: 'H10302', facility: 12, number: 7 } }),
    /card must have a number up to 34359738367 and no facility/,
  ],
  [
    'fewer bytes than bits',
    (set) => Object.assign(at(set.credentials, 0), { card: { bitCount: 26, hex: 'ffff' } }),
    /card\.hex must be 4 bytes for 26 bits/,
  ],
  [
    'bits after the last',
    (set) => Object.assign(at(set.credentials, 0), { card: { bitCount: 26, hex: '00000001' } }),
    /card\.hex must have zeros after the last bit/,
  ],
  [
    'a card in no form',
    (set) => Object.assign(at(set.credentials, 0), { card: { serial: '12' } }),
    /card has none of the forms it may have, for example \{"format"/,
  ],
  [
    'one card for two people',
    (set) => Object.assign(at(set.credentials, 1), { card: at(set.credentials, 0)['card'] }),
    /\(credentials\[1\]\): card is the card of aiko-card \(line \d+\)/,
  ],
  [
    'one PIN for two people',
    (set) => set.credentials.push({ id: 'ben-pin', holder: 'ben', pin: '482913' }),
    /\(credentials\[3\]\): pin is used twice: ben-pin has the PIN of aiko-pin/,
  ],
  [
    'a PIN that is not digits',
    (set) => Object.assign(at(set.credentials, 2), { pin: '12a4' }),
    /pin must be 4–10 digits/,
  ],
  [
    'a PIN as a number',
    (set) => Object.assign(at(set.credentials, 2), { pin: 482_913 }),
    /pin must be of type string, for example "482913"/,
  ],
  [
    'a card and a PIN in one',
    (set) => Object.assign(at(set.credentials, 0), { pin: '1234' }),
    /must have a card or a pin, not both/,
  ],
  ['neither card nor PIN', (set) => delete at(set.credentials, 0)['card'], /must have a card or a pin, for example/],
  [
    'a validity that ends before it begins',
    (set) => Object.assign(at(set.grants, 0), { validFrom: '2026-05-01T00:00', validUntil: '2026-04-01T00:00' }),
    /validUntil must be after validFrom/,
  ],
  [
    'a validity on a day that does not exist',
    (set) => Object.assign(at(set.credentials, 0), { validFrom: '2026-02-30T09:00' }),
    /validFrom is no date that exists/,
  ],
  [
    'a validity in no form',
    (set) => Object.assign(at(set.credentials, 0), { validUntil: 'tomorrow' }),
    /validUntil must be a date and time of day, for example/,
  ],
  [
    'a grant that says a door twice',
    (set) => Object.assign(at(set.grants, 0), { doors: ['front', 'front'] }),
    /doors names front twice/,
  ],
];

describe('a mistake is told with its row, its field, its rule and an example', () => {
  test.each(mistakes.map(([rule, make, ...texts]) => ({ rule, make, texts })))('$rule', async ({ make, texts }) => {
    const set = writtenSet();
    make(set);
    const errors = await errorsOf(asJson(set));
    for (const text of texts) expect(errors.filter((error) => text.test(error))).toHaveLength(1);
    expect(errors).toHaveLength(texts.length);
    // The one PIN that may stand there is the example's.
    expect(errors.join('\n').replaceAll('example "482913"', '')).not.toContain('482913');
  });

  test('and with the line on which the row begins', async () => {
    const set = writtenSet();
    Object.assign(at(set.doors, 1), { strikeMs: 5 });
    const [file] = asJson(set);
    const line = (file?.text ?? '').slice(0, file?.text.indexOf('"vault"')).split('\n').length - 1;
    expect(await errorsOf(asJson(set))).toEqual([
      `facility.json line ${line} (doors[1]): strikeMs must be at least 200, for example 5000.`,
    ]);
  });

  test('and all of them are told at once, up to a hundred', async () => {
    const set = writtenSet();
    set.holders = Array.from({ length: 250 }, (_, index) => ({ id: `h${index}` }));
    const errors = await errorsOf(asJson(set));
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toMatch(/^and \d+ more\.$/);
  });
});

describe('PINs at a door that a PIN alone opens', () => {
  const withPins = (count: number, secondFactor: string): WrittenSet => {
    const set = writtenSet();
    Object.assign(at(set.doors, 0), { secondFactor });
    const pins = Array.from({ length: count }, (_, index) => ({
      id: `p${index}`,
      holder: 'ben',
      pin: String(1_000 + index),
    }));
    set.credentials.push(...pins);
    set.grants.push({ id: 'pins', credentials: pins.map(({ id }) => id), doors: ['front'] });
    return set;
  };

  test('are refused when guessing becomes too easy', async () => {
    const errors = await errorsOf(asJson(withPins(11, 'never')));
    expect(errors).toEqual([
      expect.stringMatching(
        /\(doors\[0\]\): opens to 11 PINs of 4 digits; at most 10 of 10000 .*for example PINs of 5 digits/,
      ),
    ]);
  });

  test('are few enough at one in a thousand, and uncounted where a card is always asked for first', async () => {
    expect((await importFiles(asJson(withPins(10, 'never')), true)).kind).toBe('checked');
    expect((await importFiles(asJson(withPins(11, 'always')), true)).kind).toBe('checked');
  });
});

describe('a file that is no import set', () => {
  test.each([
    [
      'broken JSON, with its line',
      '{\n "doors": [\n  {"id": }\n ]\n}',
      /^facility\.json line 3 \(whole file\): is not JSON/,
    ],
    ['JSON that ends too early', '{\n "doors": [', /^facility\.json line 2 \(whole file\): is not JSON/],
    ['a list', '[]', /must be an object/],
    ['nothing', '', /is not JSON/],
    ['null', 'null', /must be an object/],
  ])('is refused: %s', async (_, text, expected) => {
    const errors = await errorsOf([{ name: 'facility.json', text }]);
    expect(errors).toEqual([expect.stringMatching(expected)]);
  });

  test('is refused when kinds are mixed, or a file is not of a set', async () => {
    const [json] = asJson(writtenSet());
    const csv = { name: 'doors.csv', text: 'id,name\n' };
    expect(await errorsOf([csv, json as SourceFile])).toEqual([
      expect.stringMatching(/facility\.json .*must be one JSON file, or CSV files only/),
    ]);
    expect(await errorsOf([{ name: 'walls.csv', text: 'id\n' }])).toEqual([
      expect.stringMatching(/walls\.csv line 1 .*is not a file of an import set; they are facility\.csv, /),
    ]);
    expect(await errorsOf([])).toEqual([expect.stringMatching(/facility is missing/)]);
  });
});
