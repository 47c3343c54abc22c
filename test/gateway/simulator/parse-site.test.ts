import { describe, expect, test } from 'vitest';
import { parseSite } from '#gateway/simulator/parse-site.ts';

const site = `
name: One door
lines:
  - { id: hall, wire: { port: 0 } }
  - { id: yard, wire: { serial: /dev/ttyS9 } }
peripherals:
  - { id: hall-reader, line: hall, address: 0, key: { hex: 00112233445566778899aabbccddeeff }, identity: { serial: 1001 } }
  - { id: hall-io, line: hall, address: 1, key: install, identity: { serial: 1002 }, heads: 0, inputs: 3, outputs: 2 }
  - { id: yard-io, line: yard, address: 0, key: plain, identity: { serial: 1003 }, heads: 0, inputs: 1, outputs: 1 }
doors:
  - id: hall
    name: Hall
    strike: { peripheral: hall-io, output: 0 }
    contact: { peripheral: hall-io, input: 0 }
    readers: [hall-reader]
`;
const issuesOf = (text: string) => {
  const parsed = parseSite(text);
  return parsed.kind === 'invalid' ? parsed.issues : [];
};

describe('a site file', () => {
  test('is read whole, with its defaults', () => {
    const parsed = parseSite(site);
    expect(parsed).toMatchObject({
      kind: 'site',
      site: {
        name: 'One door',
        lines: [{ baud: 9600, turnaroundMs: 8 }, {}],
        peripherals: [{ requiresSecurity: true, heads: 1 }, {}, {}],
        doors: [{ strike: { release: 'energise' }, exitButton: null, opensAfterMs: 700 }],
      },
    });
  });

  test('may be JSON', () => {
    const json = JSON.stringify({
      lines: [{ id: 'a', wire: { port: 47_101 } }],
      peripherals: [{ id: 'r', line: 'a', address: 3, key: 'install', identity: { serial: 1 } }],
    });
    expect(parseSite(json).kind).toBe('site');
  });

  test.each([
    { wrong: 'an unknown key', change: ['name: One door', 'nane: x'], says: /nane/ },
    { wrong: 'an address outside the bus', change: ['address: 1', 'address: 127'], says: /peripherals\.1\.address/ },
    { wrong: 'a key of the wrong length', change: ['00112233445566778899aabbccddeeff', '"0011"'], says: /16 bytes/ },
    {
      wrong: 'an address used twice on a line',
      change: ['address: 1', 'address: 0'],
      says: /address 0 on hall is already used by peripherals\.0/,
    },
    {
      wrong: 'a peripheral on no line',
      change: ['line: yard, address', 'line: nowhere, address'],
      says: /peripherals\.2\.line: there is no line nowhere/,
    },
    {
      wrong: 'a strike at no peripheral',
      change: ['peripheral: hall-io, output: 0', 'peripheral: lobby, output: 0'],
      says: /doors\.0\.strike: there is no peripheral lobby/,
    },
    {
      wrong: 'a terminal that is not there',
      change: ['peripheral: hall-io, output: 0', 'peripheral: hall-io, output: 2'],
      says: /hall-io has 2 outputs/,
    },
    {
      wrong: 'wires that end on two lines',
      change: ['peripheral: hall-io, input: 0', 'peripheral: yard-io, input: 0'],
      says: /doors\.0\.contact: yard-io is not on the strike’s line hall/,
    },
    {
      wrong: 'a reader that is not there',
      change: ['[hall-reader]', '[back-reader]'],
      says: /there is no peripheral back-reader/,
    },
    { wrong: 'a key given twice', change: ['name: One door', 'name: a\nname: b'], says: /unique|duplicate/i },
  ])('with $wrong is refused with its place', ({ change: [from, to], says }) => {
    expect(site).toContain(from);
    expect(issuesOf(site.replace(from ?? '', to ?? '')).join('\n')).toMatch(says);
  });

  test('tells all its mistakes at once', () => {
    expect(issuesOf(site.replace('output: 0', 'output: 5').replace('[hall-reader]', '[ghost]'))).toHaveLength(2);
  });
});

test('YAML that means nothing is refused with its line, never thrown', () => {
  expect(parseSite('lines: []\ndoors: *x\n')).toEqual({
    kind: 'invalid',
    issues: [expect.stringMatching(/^line 2: \*x names no anchor/)],
  });
});
