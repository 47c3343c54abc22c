import { expect, it } from 'vitest';
import { ConfigError, loadConfig, parseConfig } from '#gateway/config.ts';
import { spoken } from './operate/running-door.ts';

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

const line = (rest: string) => `lines:\n  - serial: /dev/a\n    ${rest}\n`;

/** Ten times ten times ten: a few lines that stand for millions. */
function bomb(): string {
  const steps = Array.from({ length: 8 }, (_, n) => {
    const items = n === 0 ? 'x' : Array.from({ length: 10 }, () => `*a${n - 1}`).join(', ');
    return `a${n}: &a${n} [${items}]\n`;
  });
  return `${steps.join('')}lines: *a7\n`;
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

it('means relative paths from its own folder, a serial port’s too', () => {
  const config = parse('dataDir: data\nlines:\n  - serial: ttyA\n    devices: [{ address: 3 }]\n');
  expect([config.dataDir, config.lines[0]?.serial]).toEqual(['/etc/kannuki/data', '/etc/kannuki/ttyA']);
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
    '5 lines[0].devices[0].address: must be a whole number from 0 to 126',
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
  ['an alias of nothing', 'dataDir: /a\nlines: *x\n', '2 (yaml): *x names no anchor'],
  ['aliases that multiply', bomb(), '(yaml): *a7 repeats more than a file may'],
  ['nesting without end', `lines: ${'['.repeat(20_000)}${']'.repeat(20_000)}\n`, '1 (yaml): is nested too deeply'],
  ['a tag nobody knows', 'lines: !device { a: 1 }\n', '1 lines: must be a list'],
  ['an anchor that holds itself', 'lines: &x [*x]\n', '1 lines[0]: must be keys with values'],
  ['keys that are lists', '? [a]\n: b\n', '1 (file): unknown key'],
  ['two documents', 'dataDir: /a\n---\ndataDir: /b\n', '(yaml): '],
  ['signs for the terminal', '"\\e[31m": 1\n', 'unknown key'],
  ['a line without devices', line('devices: []'), 'devices: must have at least one device'],
  ['devices that are none', line('devices: 5'), 'devices: must be a list'],
  ['a device without an address', line('devices: [{ id: a }]'), 'devices[0].address: is missing'],
  ['an address in words', line('devices: [{ address: one }]'), 'address: must be a whole number from 0 to 126'],
  ['half an address', line('devices: [{ address: 1.5 }]'), 'address: must be a whole number from 0 to 126'],
  ['a number too large for any', line('devices: [{ address: .inf }]'), 'address: must be a whole number from 0 to 126'],
  ['a security of its own', line('devices: [{ address: 1, security: none }]'), 'must be secure or plain'],
  ['no folder', 'dataDir: ""\n', '1 dataDir: must not be empty'],
  ['a switch that is text', 'clock: { rtc: "yes" }\n', '1 clock.rtc: must be true or false'],
  [
    'an id too long to name devices by',
    `lines:\n  - { id: ${'l'.repeat(64)}, serial: /dev/a, devices: [{ address: 1 }] }\n`,
    'id: must be at most 60 characters',
  ],
  ['a key twice', 'dataDir: /a\ndataDir: /b\n', 'unique'],
])('refuses %s', (_, text, rule) => {
  const issues = issuesOf(text);
  expect(issues.length).toBeGreaterThan(0);
  expect(issues.join('\n')).toContain(rule);
});

it('shows an example with every refusal', () => {
  expect(() => parse('lines: 3\n')).toThrow(/Example:\n.*dataDir/s);
});

it('says that a file is missing, and which other one may be named', () => {
  expect(() => loadConfig('/nonexistent/gateway.yaml')).toThrow(
    'The configuration file /nonexistent/gateway.yaml does not exist.\nAnother one is named with --config FILE',
  );
});

it('is told in the sentence of its code on the command line, with what is wrong and what to do', async () => {
  const { err } = await spoken(['status', '--config', '/nonexistent/gateway.yaml']);
  expect(err.split('\n')).toEqual([
    'The configuration cannot be used. [CONFIG_INVALID]',
    'The configuration file /nonexistent/gateway.yaml does not exist.',
    'Another one is named with --config FILE or KANNUKI_CONFIG.',
    'Correct what is named above.',
  ]);
});

it('writes out the control signs of a value it repeats', () => {
  expect(() => parse('"\\e[31m": 1\n')).toThrow('unknown key "\\u{1b}[31m"');
});

it('takes a cloud by TLS, or on this machine itself, and nothing else', () => {
  expect(parse('cloud: { url: "https://kannuki.example", caFile: ca.pem }\n').cloud).toEqual({
    url: 'https://kannuki.example',
    caFile: '/etc/kannuki/ca.pem',
  });
  expect(parse('cloud: { url: "http://127.0.0.1:8080" }\n').cloud?.url).toBe('http://127.0.0.1:8080');
  expect(issuesOf('cloud: { url: "http://kannuki.example" }\n')).toEqual([
    '1 cloud.url: must be https://…, or http:// to this machine itself',
  ]);
});

it('gives the edge process a folder beside the data folder', () => {
  expect(parse('dataDir: data\n').edgeDir).toBe('/etc/kannuki/data-edge');
  expect(parse('edgeDir: edge\n').edgeDir).toBe('/etc/kannuki/edge');
});
