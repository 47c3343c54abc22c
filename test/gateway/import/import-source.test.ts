import { expect, test } from 'vitest';
import { decodeSource } from '#gateway/import/decode-source.ts';
import { importFacility } from '#gateway/import/import-facility.ts';
import { twinKeys } from '#gateway/import/json-twin-keys.ts';
import type { SourceFile } from '#gateway/import/source-record.ts';
import { asJson, writtenSet } from '../../fakes/import-files.ts';
import { testLookupKey } from '../../fakes/sample-facility.ts';

const check = (files: readonly SourceFile[], devices?: readonly string[]) =>
  importFacility({ files, lookupKey: testLookupKey, isDryRun: true, ...(devices === undefined ? {} : { devices }) });
const errorsOf = async (files: readonly SourceFile[]) => (await check(files)).findings.errors;
const bytesOf = (...parts: readonly (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));
const at = (list: readonly Record<string, unknown>[], index: number) => list[index] ?? {};

test('bytes that are not UTF-8 refuse their file, with the line', async () => {
  const shiftJis = bytesOf('id,name\n', 'aiko,ok\n', 'ben,', 0x90, 0x58, '\n');
  expect(await errorsOf([decodeSource({ name: 'holders.csv', bytes: shiftJis })])).toContainEqual(
    expect.stringMatching(/^holders\.csv line 3 \(whole file\): holds bytes that are not UTF-8/),
  );
  const json = bytesOf('{\n"facility": {"name": "', 0x90, '"}}');
  expect(await errorsOf([decodeSource({ name: 'many.json', bytes: json })])).toEqual([
    expect.stringMatching(/^many\.json line 2 \(whole file\): holds bytes that are not UTF-8/),
  ]);
});

test.each([
  ['little', [0xff, 0xfe, 0x69, 0x00]],
  ['big', [0xfe, 0xff, 0x00, 0x69]],
])('UTF-16 of the %s end is named as such', async (_, bytes) => {
  const file = decodeSource({ name: 'doors.csv', bytes: Uint8Array.from(bytes) });
  expect(await errorsOf([file])).toContain('doors.csv line 1 (whole file): is UTF-16; save it as UTF-8.');
});

test('UTF-8 is read as it is, its byte order mark taken off', () => {
  const file = decodeSource({ name: 'holders.csv', bytes: bytesOf(0xef, 0xbb, 0xbf, 'id,name\naiko,森\n') });
  expect(file).toEqual({ name: 'holders.csv', text: 'id,name\naiko,森\n' });
});

test('a file that cannot be read silences neither the other files nor a card that stands twice in them', async () => {
  const files = [
    decodeSource({ name: 'holders.csv', bytes: bytesOf('id,name\na,', 0xff, '\n') }),
    { name: 'facility.csv', text: 'id,name,zone\nhall,Hall,Asia/Tokyo\n' },
    {
      name: 'credentials.csv',
      text: 'id,holder,card.format,card.number\nc1,a,H10302,5\nc2,b,H10302,5\n',
    },
    { name: 'grants.csv', text: 'id,credentials,doors\ng,c1 c9,front\n' },
  ];
  expect(await errorsOf(files)).toEqual([
    expect.stringMatching(/^holders\.csv line 2 /),
    expect.stringMatching(/^grants\.csv line 2 .*credentials\[1\] names no credential: c9/),
    expect.stringMatching(/^grants\.csv line 2 .*doors\[0\] names no door: front/),
    expect.stringMatching(/^credentials\.csv line 3 .*card is the card of c1 \(line 2\)/),
  ]);
});

test('a card that stands twice is told beside faults of every other kind', async () => {
  const set = writtenSet();
  Object.assign(at(set.doors, 0), { strikeMs: 5 });
  Object.assign(at(set.readers, 1), { door: 'cellar' });
  Object.assign(at(set.credentials, 1), { card: at(set.credentials, 0)['card'] });
  Object.assign(at(set.grants, 1), { validUntil: '2027-02-30T18:00' });
  set.credentials.push({ id: 'ben-pin', holder: 'ben', pin: '482913' });
  const errors = (await errorsOf(asJson(set))).join('\n');
  for (const part of ['strikeMs', 'names no door: cellar', 'is the card of', 'is no date', 'has the PIN of'])
    expect(errors).toContain(part);
});

test('a key that stands twice is refused with its line, at any depth', async () => {
  const text = '{"facility": {"id": "a",\n "name": "x, \\"name\\": {",\n "name": "y"},\n "doors": [],\n "doors": []}';
  expect(twinKeys(text)).toEqual([
    { key: 'name', line: 3, isTop: false },
    { key: 'doors', line: 5, isTop: true },
  ]);
  expect(await errorsOf([{ name: 'many.json', text }])).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^many\.json line 3 .*name stands twice in one object/),
      expect.stringMatching(/^many\.json line 5 .*doors stands twice in one object/),
    ]),
  );
});

test('keys that are equal in different objects are no twins', () => {
  expect(twinKeys(JSON.stringify(writtenSet(), null, 2))).toEqual([]);
});

test('a value that would command the terminal is told with its control signs written out', async () => {
  const set = writtenSet();
  Object.assign(at(set.doors, 0), { '\u001b[31mred\u0007\u202e': 1 });
  const [error = ''] = await errorsOf(asJson(set));
  expect(error).toContain('\\u{1b}[31mred\\u{7}\\u{202e}');
  expect(error).not.toMatch(/[\p{Cc}\u202e]/u);
});

test('devices that are not configured are told, with who names them', async () => {
  const { findings } = await check(asJson(writtenSet()), ['reader-1']);
  expect(findings.errors).toEqual([]);
  expect(findings.warnings).toEqual([
    'device io is not in this gateway’s configuration; it is named by door front, door vault',
    'device reader-2 is not in this gateway’s configuration; it is named by reader vault-out',
  ]);
});

test('a name that would command every terminal that shows it is refused', async () => {
  const set = writtenSet();
  Object.assign(at(set.holders, 0), { name: 'Aiko\u001b[2J' });
  expect(await errorsOf(asJson(set))).toEqual([
    expect.stringMatching(/\(holders\[0\]\): name must be without control signs/),
  ]);
});
