/** From an empty folder and a reader as it left the factory to a door that opens, by the commands an installer types. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { StatusReport } from '#gateway/control/replies.ts';
import { openSite, type RunningSite } from '#gateway/simulator/open-site.ts';
import { checkSite } from '#gateway/simulator/parse-site.ts';
import { siteCalls } from '#gateway/simulator/site-call.ts';
import { readStrikeRecord } from '#gateway/simulator/strike-record.ts';
import { waitUntil } from '../fakes/wait-until.ts';
import { type GatewayProcess, type OpenGateway, runCommand, startGateway } from './running-gateway.ts';

/** A bound against hanging, on a machine that does much else. */
const answersWithinMs = 60_000;
const holderName = 'Wilhelmina Aldersey';
/** A card that nobody's list names: it is enrolled from a read. */
const cardBits = '10110011100011110000111110011';
let dir: string;
let site: RunningSite;
let gateway: GatewayProcess;
let open: OpenGateway;
const started: GatewayProcess[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kannuki-commission-'));
  const checked = checkSite({
    lines: [{ id: 'bus', wire: { port: 0 }, baud: 115_200, turnaroundMs: 1 }],
    peripherals: [
      { id: 'reader', line: 'bus', address: 0, key: 'install', identity: { serial: 7 }, outputs: 1, inputs: 1 },
    ],
    doors: [{ id: 'gate', name: 'Gate', strike: { peripheral: 'reader', output: 0 }, readers: ['reader'] }],
  });
  if (checked.kind !== 'site') throw new Error(checked.issues.join('\n'));
  site = await openSite({ site: checked.site, stateDir: join(dir, 'site'), baseDir: dir });
  const [port] = [...site.ports.values()];
  const line = { id: 'bus', tcp: `127.0.0.1:${port}`, baud: 115_200, devices: [{ id: 'reader', address: 0 }] };
  writeFileSync(
    join(dir, 'gateway.yaml'),
    stringify({ dataDir: 'data', runDir: 'run', journal: { budgetMiB: 64 }, clock: { ntp: 'assume' }, lines: [line] }),
  );
  await start();
}, 90_000);
afterAll(async () => {
  await Promise.all(started.map((each) => each.kill()));
  await site.close();
  rmSync(dir, { recursive: true, force: true });
});

async function start(): Promise<void> {
  gateway = startGateway({
    configFile: join(dir, 'gateway.yaml'),
    adminSocket: join(dir, 'run', 'admin.sock'),
    logFile: join(dir, 'gateway.log'),
    compileCache: join(dir, 'compiled'),
  });
  started.push(gateway);
  open = await gateway.open();
}

const command = (...words: string[]) => runCommand(...words, '--config', join(dir, 'gateway.yaml'));
const present = () =>
  site.perform({
    verb: 'present',
    arguments: siteCalls.present.parse({ reader: 'reader', what: { bits: cardBits }, patienceMs: 1_000 }),
  });
const seen = (kind: string) => open.seen.filter((entry) => entry.kind === kind);
const releases = () =>
  readStrikeRecord(join(dir, 'site'), 'gate').filter(({ isOn, cause }) => isOn && cause === 'command');

/** Waits for the state of the one device. */
async function readerIs(what: string): Promise<StatusReport> {
  let report: StatusReport | undefined;
  let isAsking = false;
  const ask = async () => {
    isAsking = true;
    report = await open.status();
    isAsking = false;
  };
  const word = () => `${report?.devices[0]?.state} ${report?.devices[0]?.channel ?? report?.devices[0]?.reason}`;
  await waitUntil(
    `the reader to be ${what}`,
    () => {
      if (word() !== what && !isAsking) void ask();
      return word() === what;
    },
    answersWithinMs,
  );
  if (report === undefined) throw new Error('no report');
  return report;
}

test('a fresh gateway says what it needs', async () => {
  await readerIs('offline security-required');
  const doctor = await command('doctor');
  expect(doctor.code).toBe(1);
  expect(doctor.out).toContain('facility: none imported yet');
  expect(doctor.out).toMatch(/✗ fail device reader: offline: security-required, no key yet\n\s+→ .*install-window/);
  expect(existsSync(join(dir, 'data', 'master.key'))).toBe(true);
});

test('an installer gives the reader its key', { timeout: 2 * answersWithinMs }, async () => {
  const { code, out } = await command('install-window', 'reader', '--seconds', '30');
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('may be given a key for 30 s') });
  await readerIs('online secure');
  await waitUntil('the entries', () => seen('install-window.closed').length === 1);
  expect(open.seen.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['command.received', 'install-window.opened', 'device.key-installed', 'device.online']),
  );
  const second = await command('install-window', 'reader');
  expect(second).toMatchObject({ code: 1, err: expect.stringContaining('has a key of its own') });
});

test('an unknown card is read, enrolled and imported, and opens the door', { timeout: answersWithinMs }, async () => {
  await present();
  await waitUntil('the refusal', () => seen('access.refused').length === 1);
  const read = await command('reads', '--json');
  const [{ bits }] = JSON.parse(read.out) as [{ bits: string }];
  expect(bits).toBe(cardBits);
  const facility = {
    facility: { id: 'house', name: 'House', zone: 'Asia/Tokyo' },
    doors: [{ id: 'gate', name: 'Gate', lock: { device: 'reader', output: 0 }, strikeMs: 300 }],
    readers: [{ id: 'gate-in', name: 'Gate', door: 'gate', device: 'reader' }],
    holders: [{ id: 'w', name: holderName }],
    credentials: [{ id: 'w-card', holder: 'w', card: { bits } }],
    grants: [{ id: 'all', credentials: ['w-card'], doors: ['gate'] }],
  };
  const file = join(dir, 'facility.json');
  writeFileSync(file, JSON.stringify(facility));
  expect(await command('import', file, '--dry-run')).toMatchObject({
    code: 0,
    out: expect.stringContaining('Would import'),
  });
  expect(await command('import', file)).toMatchObject({ code: 0, out: expect.stringContaining('In force as epoch 1') });
  await waitUntil('the door', () => open.doors.get('gate')?.state === 'secured');
  const told = await command('explain', '--door', 'gate', '--credential', 'w-card');
  expect(told.out).toContain('Granted. [GRANTED]');
  await present();
  await waitUntil('the grant', () => seen('access.granted').length === 1);
  await waitUntil('the strike', () => releases().length === 1);
  expect((await command('doctor')).out).not.toMatch(/^✗/m);
});

test('a gateway that is killed knows its reader and its card when it is back', {
  timeout: 2 * answersWithinMs,
}, async () => {
  await gateway.kill();
  await start();
  await readerIs('online secure');
  await waitUntil('the door', () => open.doors.get('gate')?.state === 'secured');
  await present();
  // What was presented while the line began is said to be too old, and the person presents again.
  await waitUntil('an answer', () => releases().length === 2 || seen('reads.discarded').length === 1);
  if (releases().length === 1) await present();
  await waitUntil('the strike', () => releases().length === 2);
  expect(await command('verify-journal')).toMatchObject({
    code: 0,
    out: expect.stringContaining('The history is whole'),
  });
});

test('nothing of the card, the holder or a key was written in clear, and the gateway ends well', async () => {
  expect(await gateway.stop()).toBe('exit code 0');
  const bytes = Buffer.from((cardBits.padEnd(32, '0').match(/.{8}/g) ?? []).map((octet) => Number.parseInt(octet, 2)));
  const key = readInstalledKey();
  const secrets = [
    cardBits,
    bytes.toString('latin1'),
    bytes.toString('hex'),
    key.toString('hex'),
    key.toString('latin1'),
  ];
  const data = join(dir, 'data');
  const files = readdirSync(data).map((name) => join(data, name));
  for (const file of [...files, join(dir, 'gateway.log')]) {
    const text = readFileSync(file, 'latin1');
    for (const secret of secrets) expect(text.includes(secret), `a secret in ${file}`).toBe(false);
    if (!file.includes('replica-')) expect(text.includes(holderName), `a name in ${file}`).toBe(false);
  }
});

/** As the simulated reader keeps it. */
function readInstalledKey(): Buffer {
  const folder = join(dir, 'site');
  const file = readdirSync(folder).find((name) => name.includes('key'));
  if (file === undefined) throw new Error(`no key in ${readdirSync(folder).join(', ')}`);
  const hex = /[0-9a-f]{32}/i.exec(readFileSync(join(folder, file), 'latin1'))?.[0];
  if (hex === undefined) throw new Error(`no key in ${file}`);
  return Buffer.from(hex, 'hex');
}
