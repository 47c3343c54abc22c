import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { decodeFlatMap, type Item } from '#protocol/link/flat-map.ts';

const folder = join(import.meta.dirname, '..', '..', '..', 'firmware-protocol', 'link');
const text = readFileSync(join(folder, 'link.cddl'), 'utf8').replaceAll(/;.*$/gm, '');

/** Whether a value is of a CDDL type, of those that the file uses; throws at any other. */
function isOfType(type: string, item: Item): boolean {
  const range = /^(\d+)\.\.(\d+)$/.exec(type);
  if (range) return typeof item === 'number' && item >= Number(range[1]) && item <= Number(range[2]);
  if (/^\d+$/.test(type)) return item === Number(type);
  if (type === 'bool') return typeof item === 'boolean';
  const size = /^bstr \.size \(?(\d+)(?:\.\.(\d+)\))?$/.exec(type);
  if (size)
    return item instanceof Uint8Array && item.length >= Number(size[1]) && item.length <= Number(size[2] ?? size[1]);
  const pattern = /^tstr \.regexp "(.*)"$/.exec(type);
  if (pattern) return typeof item === 'string' && new RegExp(`^(?:${pattern[1]})$`).test(item);
  const choice = /^&\((.*)\)$/.exec(type);
  if (choice) return (choice[1] ?? '').split(', ').some((entry) => Number(entry.split(': ')[1]) === item);
  throw new Error(`a type this test does not read: ${type}`);
}

interface Entry {
  readonly key: number;
  readonly isOptional: boolean;
  readonly type: string;
}

/** Rule → its entries, for the maps; and which maps a direction has. */
function readCddl() {
  const maps = new Map<string, readonly Entry[]>();
  for (const [, name = '', body = ''] of text.matchAll(/^([a-z-]+) = \{\n([\s\S]*?)\n\}/gm)) {
    const lines = body
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    maps.set(
      name,
      lines.map((line) => {
        const entry = /^(\? )?(\d+) => (.*),$/.exec(line);
        if (entry === null) throw new Error(`an entry this test does not read: ${line}`);
        return { key: Number(entry[2]), isOptional: entry[1] !== undefined, type: entry[3] ?? '' };
      }),
    );
  }
  const choices = (name: string): readonly string[] =>
    (new RegExp(`^${name} = (.*)$`, 'm').exec(text)?.[1] ?? '').split(' / ');
  return { maps, choices };
}

const { maps, choices } = readCddl();

function isMessage(direction: string, map: ReadonlyMap<number, Item>): boolean {
  return choices(direction).some((name) => {
    const entries = maps.get(name);
    if (entries === undefined) throw new Error(`no rule ${name}`);
    const hasAll = entries.every(({ key, isOptional, type }) => {
      const item = map.get(key);
      return item === undefined ? isOptional : isOfType(type, item);
    });
    return hasAll && [...map.keys()].every((key) => entries.some((entry) => entry.key === key));
  });
}

interface Vector {
  readonly name: string;
  readonly direction: string;
  readonly hex: string;
}
const read = (name: string): readonly Vector[] =>
  JSON.parse(readFileSync(join(folder, 'vectors', name), 'utf8')) as readonly Vector[];

it.each(read('messages.json'))('allows $direction: $name', ({ direction, hex }) => {
  const decoding = decodeFlatMap(Buffer.from(hex, 'hex'));
  expect(decoding.kind === 'map' && isMessage(direction, decoding.map)).toBe(true);
});

it.each(read('malformed.json'))('does not allow $direction: $name', ({ direction, hex }) => {
  const decoding = decodeFlatMap(Buffer.from(hex, 'hex'));
  expect(decoding.kind === 'map' && isMessage(direction, decoding.map)).toBe(false);
});

it('names every message in exactly one direction', () => {
  expect([...choices('to-lock'), ...choices('from-lock')].sort()).toEqual([...maps.keys()].sort());
});
