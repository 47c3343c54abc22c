import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeFlatMap, encodeFlatMap, longestMap } from '#protocol/link/flat-map.ts';
import { abilities, fromLock } from '#protocol/link/from-lock.ts';
import { decodeMessage, encodeMessage, type MessageTable } from '#protocol/link/message.ts';
import { toLock } from '#protocol/link/to-lock.ts';
import { seededRandom } from '../../fakes/seeded-random.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'firmware-protocol', 'link', 'vectors');
const read = <Shape>(name: string): Shape => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Shape;
const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'));

interface Vector {
  readonly name: string;
  readonly direction: 'to-lock' | 'from-lock';
  readonly hex: string;
}
type Readable = Readonly<Record<string, string | number | boolean | { readonly hex: string }>>;

const good = read<readonly (Vector & { readonly message: Readable })[]>('messages.json');
const broken = read<readonly (Vector & { readonly refusal: string })[]>('malformed.json');
const tables: Readonly<Record<Vector['direction'], MessageTable>> = { 'to-lock': toLock, 'from-lock': fromLock };

const messageOf = (readable: Readable) =>
  Object.fromEntries(
    Object.entries(readable).map(([name, value]) => [name, typeof value === 'object' ? hex(value.hex) : value]),
  ) as { readonly kind: string };

describe('the tables of messages', () => {
  it.each(Object.entries(tables))(
    'list the fields of each message by ascending key, above the kind: %s',
    (_, table) => {
      for (const { fields } of Object.values(table)) {
        const keys = Object.values(fields).map(({ key }) => key);
        expect(keys).toEqual([...new Set(keys)].sort((one, other) => one - other));
        expect(keys.every((key) => key > 0 && key < 24)).toBe(true);
      }
    },
  );

  it('give no code twice', () => {
    const codes = Object.values(tables).flatMap((table) => Object.values(table).map(({ code }) => code));
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('name an ability for each bit of a lock at the most', () => {
    expect(new Set(abilities).size).toBe(abilities.length);
    expect(abilities.length).toBeLessThanOrEqual(32);
  });

  it('are all in the vectors, with the least and the most each message holds', () => {
    for (const [direction, table] of Object.entries(tables)) {
      for (const kind of Object.keys(table)) {
        expect(good.filter((one) => one.direction === direction && one.message['kind'] === kind)).toHaveLength(2);
      }
    }
  });
});

describe('a message', () => {
  it.each(good)('is written and read: $name', ({ direction, message, hex: wire }) => {
    const value = messageOf(message);
    expect(encodeMessage(tables[direction], value)).toEqual(hex(wire));
    expect(decodeMessage(tables[direction], hex(wire))).toEqual({ kind: 'message', message: value });
  });

  it.each(broken)('is refused when it is $name', ({ direction, hex: wire, refusal }) => {
    expect(decodeMessage(tables[direction], hex(wire))).toMatchObject({ kind: 'refused', refusal });
  });

  it.each(good)('is refused cut at any length, and with a byte behind it: $name', ({ direction, hex: wire }) => {
    const bytes = hex(wire);
    for (let length = 0; length < bytes.length; length += 1) {
      expect(decodeMessage(tables[direction], bytes.subarray(0, length)).kind).toBe('refused');
    }
    expect(decodeMessage(tables[direction], Uint8Array.from([...bytes, 0])).kind).toBe('refused');
  });

  it('fits a record, whatever it holds', () => {
    expect(Math.max(...good.map(({ hex: wire }) => wire.length / 2))).toBeLessThanOrEqual(longestMap);
  });

  it.each([
    { kind: 'release', request: 0, notAfterUptime: 1, ms: 100 },
    { kind: 'release', request: 1, notAfterUptime: -1, ms: 100 },
    { kind: 'release', request: 1.5, notAfterUptime: 1, ms: 100 },
    { kind: 'release', request: 1, notAfterUptime: Number.NaN, ms: 100 },
    { kind: 'release', request: 1, notAfterUptime: 1 },
    { kind: 'slots-set', request: 1, notAfterUptime: 1, slot: 1, code: '12a4' },
    { kind: 'configure', request: 1, notAfterUptime: 1, setting: 'colour', value: 1 },
    { kind: 'dance' },
  ])('that does not fit is a bug of whoever writes it: %o', (message) => {
    expect(() => encodeMessage<MessageTable>(toLock, message)).toThrow(RangeError);
  });
});

const rounds = process.env['KANNUKI_FULL'] === '1' ? 1_000_000 : 50_000;
const seed = Number(process.env['KANNUKI_SEED'] ?? Date.now() % 0x7fffffff);

it(`never throws on damaged messages, and takes only what it would write (${rounds} of them, seed ${seed})`, () => {
  console.log(`link message seed ${seed}`);
  const random = seededRandom(seed);
  const dice = (below: number): number => Math.floor(random() * below);
  const corpus = [...good, ...broken].map(({ hex: wire }) => hex(wire));
  const pick = (): Uint8Array => corpus[dice(corpus.length)] ?? new Uint8Array(0);
  const damages: readonly ((bytes: Uint8Array) => Uint8Array)[] = [
    (bytes) => bytes,
    (bytes) => bytes.subarray(0, dice(bytes.length + 1)),
    (bytes) => (bytes.length === 0 ? bytes : bytes.with(dice(bytes.length), dice(256))),
    (bytes) => (bytes.length === 0 ? bytes : bytes.with(0, 0xa0 | dice(16))),
    (bytes) => Uint8Array.from([...bytes, ...pick()]),
    (bytes) => Uint8Array.from([...bytes.subarray(0, dice(bytes.length + 1)), ...pick().subarray(dice(40))]),
  ];
  let taken = 0;
  for (let round = 0; round < rounds; round += 1) {
    const bytes = (damages[dice(damages.length)] ?? ((same) => same))(pick());
    const flat = decodeFlatMap(bytes);
    if (flat.kind === 'map' && Buffer.compare(encodeFlatMap(flat.map), bytes) !== 0)
      throw new Error(`two encodings, round ${round}`);
    for (const table of Object.values(tables)) {
      const decoding = decodeMessage(table, bytes);
      if (decoding.kind === 'refused') continue;
      taken += 1;
      if (Buffer.compare(encodeMessage(table, decoding.message), bytes) !== 0)
        throw new Error(`two meanings, round ${round}`);
    }
  }
  expect(taken).toBeGreaterThan(rounds / 20);
});
