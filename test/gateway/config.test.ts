import { expect, it } from 'vitest';
import { ConfigError, parseConfig } from '#gateway/config.ts';

const parse = (text: string) => parseConfig(text, '/etc/kannuki/gateway.yaml');

function issuesOf(text: string): readonly string[] {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.issues.map((issue) => `${issue.line} ${issue.path}: ${issue.rule}`);
    throw error;
  }
  return [];
}

it('works with nothing but a line, an address and a key', () => {
  const config = parse('lines:\n  - tcp: 127.0.0.1:4001\n    devices:\n      - { address: 3, keyFile: three.key }\n');
  expect(config.lines[0]?.devices[0]).toMatchObject({
    id: 'line-1-3',
    address: 3,
    security: 'secure',
    keyFile: '/etc/kannuki/three.key',
  });
  expect(config.lines[0]?.baud).toBe(9600);
});

it('is frozen to its leaves', () => {
  const config = parse('lines:\n  - tcp: 127.0.0.1:4001\n    devices: [{ address: 3 }]\n');
  expect(Object.isFrozen(config.lines[0]?.devices[0])).toBe(true);
});

it('names an unknown key where it stands', () => {
  expect(issuesOf('dataDir: /tmp\nlinse: []\n')).toEqual(['2 (file): unknown key "linse"']);
});

it('names every mistake at once, with its line', () => {
  const text =
    'lines:\n  - serial: /dev/ttyS0\n    baud: 1200\n    devices:\n      - address: 200\n      - { address: 1, colour: red }\n';
  expect(issuesOf(text)).toEqual([
    '3 lines[0].baud: must be one of 9600, 19200, 38400, 57600, 115200, 230400',
    expect.stringMatching(/^5 lines\[0\]\.devices\[0\]\.address: /),
    '6 lines[0].devices[1]: unknown key "colour"',
  ]);
});

it.each([
  [
    'a line that is both',
    'lines:\n  - { serial: /dev/a, tcp: "h:1", devices: [{ address: 1 }] }\n',
    'must name exactly one of serial and tcp',
  ],
  [
    'two devices at one address',
    'lines:\n  - serial: /dev/a\n    devices: [{ address: 1 }, { id: b, address: 1 }]\n',
    'address 1 is already used by',
  ],
  [
    'one port on two lines',
    'lines:\n  - { serial: /dev/a, devices: [{ address: 1 }] }\n  - { serial: /dev/a, devices: [{ address: 1 }] }\n',
    '/dev/a is already used by',
  ],
  [
    'a key beside plain',
    'lines:\n  - serial: /dev/a\n    devices: [{ address: 1, security: plain, keyFile: k }]\n',
    'contradict',
  ],
  ['text that is not YAML', 'lines: [\n', ''],
  ['a key twice', 'dataDir: /a\ndataDir: /b\n', 'unique'],
])('refuses %s', (_, text, rule) => {
  const issues = issuesOf(text);
  expect(issues.length).toBeGreaterThan(0);
  expect(issues.join('\n')).toContain(rule);
});

it('shows an example with every refusal', () => {
  expect(() => parse('lines: 3\n')).toThrow(/Example:\n.*dataDir/s);
});

it('says that a missing file cannot be read', async () => {
  const { loadConfig } = await import('#gateway/config.ts');
  expect(() => loadConfig('/nonexistent/gateway.yaml')).toThrow(/cannot be read: ENOENT/);
});
