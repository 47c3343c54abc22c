import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { statusLines } from '#gateway/cli/status.ts';
import { type Config, parseConfig } from '#gateway/config.ts';
import type { StatusReport } from '#gateway/control/replies.ts';
import { checkLines } from '#gateway/doctor/check-lines.ts';
import { checkMachine } from '#gateway/doctor/check-machine.ts';
import { checkRunning, checkWaiting } from '#gateway/doctor/check-running.ts';
import { type DoctorFinding, findingText, textIn } from '#gateway/doctor/finding.ts';
import { alarms, type Code, codeRemedy, codeText, type Language } from '#shared/code.ts';
import { openPtyPair } from '../../fakes/pty-pair.ts';
import { spoken } from '../operate/running-door.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'kannuki-doctor-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const whole: StatusReport = {
  version: '1.2.3',
  at: '2026-01-15T03:00:00.000Z',
  facility: { name: 'House', zone: 'Asia/Tokyo' },
  clock: { state: 'trusted', now: '2026-01-15T03:00:00.000Z', errorMs: 1_000 },
  journal: { state: 'available', detail: '', lastSeq: 12 },
  replica: { state: 'live', detail: '', epoch: 3 },
  storage: { state: 'ok', freeBytes: 2 ** 33, totalBytes: 2 ** 34, flashBytesPerDay: 1_000, files: [] },
  doors: [{ id: 'hall', name: 'Hall', state: 'secured', mode: 'controlled', ageMs: 0, alarms: [] }],
  lines: [{ line: 'bus', state: 'open', detail: '' }],
  devices: [
    {
      line: 'bus',
      device: 'hall-reader',
      state: 'online',
      reason: undefined,
      channel: 'secure',
      identity: { vendor: '4b414e', model: '7', serial: '1', firmware: '1.0.0' },
      ageMs: 0,
      turnaroundMs: 3,
      badFrames: 0,
      retries: 0,
    },
  ],
  alarms: [],
};
const device = (change: Partial<StatusReport['devices'][number]>) =>
  whole.devices.map((each) => ({ ...each, ...change }));
const failing = (findings: readonly DoctorFinding[], language: Language = 'en') =>
  findings.filter(({ state }) => state === 'fail').map((each) => said(each, language));
const named = ({ check, subject }: DoctorFinding) => (subject === '' ? check : `${check} ${subject}`);
/** A finding as one language tells it. */
const said = (found: DoctorFinding, language: Language = 'en') => ({
  check: named(found),
  state: found.state,
  code: found.code,
  detail: textIn(found.detail, language),
  remedy: textIn(found.remedy, language),
});

describe('of a running gateway', () => {
  test('that is well, everything is fine', () => {
    expect(checkRunning(whole).every(({ state }) => state === 'ok')).toBe(true);
  });

  test.each<[string, Partial<StatusReport>]>([
    ['clock', { clock: { state: 'untrusted', now: undefined, errorMs: 0 } }],
    ['journal', { journal: { state: 'full', detail: 'no room', lastSeq: undefined } }],
    ['replica', { replica: { state: 'quarantined', detail: 'older than the journal says', epoch: 2 } }],
    ['replica', { replica: { state: 'tampered', detail: '', epoch: 2 } }],
    ...(['full', 'read-only', 'unreachable'] as const).map((state): [string, Partial<StatusReport>] => [
      'storage',
      { storage: { ...whole.storage, state } },
    ]),
    ['line bus', { lines: [{ line: 'bus', state: 'LINE_MISSING', detail: 'no such port' }] }],
    ...(['silent', 'key-mismatch', 'identity-changed', 'line-down', 'security-required'] as const).map(
      (reason): [string, Partial<StatusReport>] => [
        'device hall-reader',
        { devices: device({ state: 'offline', reason, channel: undefined }) },
      ],
    ),
    [
      'door Hall',
      { doors: [{ id: 'hall', name: 'Hall', state: 'unknown', mode: 'controlled', ageMs: 9, alarms: [] }] },
    ],
  ])('a %s that is not well is named, with a remedy, and shown in the status', (check, change) => {
    const report = { ...whole, ...change };
    for (const language of ['en', 'ja'] as const) {
      const [found, ...more] = failing(checkRunning(report), language);
      expect(found?.check).toBe(check);
      expect(found?.remedy).not.toBe('');
      expect(more).toEqual([]);
      expect(statusLines(report, language)).not.toEqual(statusLines(whole, language));
    }
  });

  test.each(Object.keys(alarms) as Code[])(
    'a standing %s is named with its remedy, and first in the status',
    (code) => {
      const standing = { ...whole, alarms: [{ subject: 'device hall-reader', code, detail: 'why' }] };
      const [found] = failing(checkRunning(standing));
      expect(found).toMatchObject({ check: 'device hall-reader', remedy: codeRemedy(code, 'en') });
      expect(found?.detail).toBe(`${codeText(code, 'en')} (why)`);
      expect(statusLines(standing, 'en')[0]).toBe(`! device hall-reader: ${codeText(code, 'en')} [${code}] (why)`);
    },
  );

  test('whose device has no key yet, or whose door names a device of no line, says just that', () => {
    const silent = { state: 'offline', reason: 'silent', channel: undefined, identity: undefined } as const;
    const [keyless] = failing(checkRunning({ ...whole, devices: device({ ...silent, hasOwnKey: false }) }));
    expect(keyless?.detail).toContain('no key yet');
    expect(keyless?.remedy).toContain('install-window hall-reader');
    const [keyed] = failing(checkRunning({ ...whole, devices: device({ ...silent, hasOwnKey: true }) }));
    expect(keyed?.detail).not.toContain('no key yet');
    const doors = whole.doors.map((each) => ({ ...each, state: 'unknown', strangers: ['attic-reader'] }));
    const found = failing(checkRunning({ ...whole, doors }));
    expect(found).toMatchObject([
      { check: 'door Hall', detail: expect.stringContaining('attic-reader is on no line') },
    ]);
  });

  test('whose lock hangs on a reader is warned of who opens that reader', () => {
    const doors = whole.doors.map((each) => ({ ...each, lockAtReader: 'hall-reader' }));
    expect(checkRunning({ ...whole, doors }).filter(({ state }) => state !== 'ok')).toMatchObject([
      { check: 'door', subject: 'Hall', state: 'warn', code: 'door-lock-at-reader' },
    ]);
  });

  test('that waits for something says what, with a remedy', () => {
    const finding = said(checkWaiting({ code: 'MASTER_KEY_MISSING', message: 'it is gone' }));
    expect(finding).toMatchObject({ state: 'fail', detail: expect.stringContaining('it is gone') });
    expect(said(checkWaiting({ code: 'STORE_SOMETHING', message: '' })).remedy).not.toBe('');
  });
});

const linesSaid = (config: Config) => checkLines(config).map((each) => said(each));
const configOf = (text: string) => parseConfig(text, join(dir, 'gateway.yaml'));
const isRoot = process.getuid?.() === 0;

describe('of the machine', () => {
  test('names an open data folder, a key that others can read, and one that is gone', async () => {
    const data = join(dir, 'data');
    mkdirSync(data, { mode: 0o755 });
    const config = configOf('dataDir: data\nrunDir: run\n');
    const of = async (check: string) =>
      (await checkMachine(config, undefined)).map((each) => said(each)).find((each) => each.check === check);
    expect(await of('data-folder')).toMatchObject({ state: 'warn', remedy: `chmod 700 ${data}` });
    expect(await of('master-key')).toMatchObject({ state: 'warn' });
    writeFileSync(join(data, 'journal.db'), '');
    expect(await of('master-key')).toMatchObject({ state: 'fail', remedy: 'put the key of this gateway back' });
    writeFileSync(join(data, 'master.key'), 'x', { mode: 0o644 });
    expect(await of('master-key')).toMatchObject({ state: 'fail', remedy: `chmod 400 ${join(data, 'master.key')}` });
    chmodSync(join(data, 'master.key'), 0o400);
    chmodSync(data, 0o700);
    expect(await of('master-key')).toMatchObject({ state: 'ok' });
    expect(await of('data-folder')).toMatchObject({ state: 'ok' });
  });

  test.skipIf(isRoot)('says where this user may not look, and goes on', async () => {
    const hidden = join(dir, 'hidden');
    mkdirSync(hidden);
    writeFileSync(join(hidden, 'key'), '0'.repeat(32), { mode: 0o600 });
    const lines = 'lines:\n  - tcp: 127.0.0.1:1\n    devices:\n      - { address: 0, keyFile: hidden/key }\n';
    const config = configOf(`dataDir: ${dir}/data\nrunDir: run\nmasterKeyFile: hidden/key\n${lines}`);
    chmodSync(hidden, 0o000);
    try {
      const findings = [...(await checkMachine(config, undefined)), ...checkLines(config)].map((each) => said(each));
      expect(findings.filter(({ remedy }) => remedy.includes('the gateway’s user, or as root'))).toHaveLength(2);
    } finally {
      chmodSync(hidden, 0o700);
    }
  });
});

describe('of the lines', () => {
  const lineOf = (path: string) =>
    configOf(`lines:\n  - serial: ${path}\n    devices:\n      - { address: 0, security: plain }\n`);

  test('names a port that is not there, one that is none, and one that is', async () => {
    writeFileSync(join(dir, 'file'), '');
    expect(linesSaid(lineOf(join(dir, 'none')))[0]).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining('does not exist'),
    });
    expect(linesSaid(lineOf(join(dir, 'file')))[0]).toMatchObject({
      state: 'fail',
      detail: expect.stringContaining('not a serial port'),
    });
    const cable = await openPtyPair();
    expect(checkLines(lineOf(cable.near))[0]?.state).not.toBe('fail');
    await cable.close();
  });

  test('warns of a device that speaks plain', () => {
    const plain = linesSaid(lineOf('/dev/null')).find(({ check }) => check.startsWith('device'));
    expect(plain).toMatchObject({ state: 'warn', remedy: expect.stringContaining('install-window') });
  });

  test.each([
    ['is not there', undefined, 0o600, 'does not exist'],
    ['others can read', '0'.repeat(32), 0o640, 'can be read by others'],
    ['holds no key', 'swordfish', 0o600, 'holds no key'],
    ['is right', '0'.repeat(32), 0o600, ''],
  ])('names a key file that %s', (_, text, mode, says) => {
    const file = join(dir, 'key');
    if (text !== undefined) writeFileSync(file, text, { mode });
    const config = configOf('lines:\n  - tcp: 127.0.0.1:1\n    devices:\n      - { address: 0, keyFile: key }\n');
    const found = linesSaid(config).find(({ check }) => check.startsWith('device'));
    expect(found).toMatchObject({ state: says === '' ? 'ok' : 'fail', detail: expect.stringContaining(says) });
    expect(JSON.stringify(found)).not.toContain('swordfish');
  });
});

test('the command works without a gateway, and exits with 1 for what is broken', async () => {
  const file = join(dir, 'gateway.yaml');
  writeFileSync(file, 'dataDir: data\nrunDir: run\nlines:\n  - { serial: none, devices: [{ address: 0 }] }\n');
  const people = await spoken(['doctor', '--config', file]);
  expect(people).toMatchObject({ code: 1, err: '' });
  expect(people.out).toMatch(/✗ fail line line-1: .*none does not exist\n\s+→ plug the adapter in/);
  expect(people.out).toContain('! warn gateway: does not run');
  const programs = await spoken(['doctor', '--json', '--config', file]);
  const found = JSON.parse(programs.out) as readonly DoctorFinding[];
  expect(found).toContainEqual(
    expect.objectContaining({ check: 'line', subject: 'line-1', state: 'fail', code: 'port-absent' }),
  );
});

describe('in Japanese', () => {
  test('the command says the same as in English, and its codes stay', async () => {
    const file = join(dir, 'gateway.yaml');
    writeFileSync(file, 'dataDir: data\nrunDir: run\nlines:\n  - { serial: none, devices: [{ address: 0 }] }\n');
    const people = await spoken(['doctor', '--language', 'ja', '--config', file]);
    expect(people).toMatchObject({ code: 1, err: '' });
    expect(people.out).toMatch(/✗ 異常 回線 line-1: .*none がありません\n\s+→ 変換器を差してください/);
    const [ja, en] = await Promise.all(
      ['ja', 'en'].map(async (language) => {
        const { out } = await spoken(['doctor', '--json', '--language', language, '--config', file]);
        return (JSON.parse(out) as readonly DoctorFinding[]).map(({ check, code }) => [check, code]);
      }),
    );
    expect(ja).toEqual(en);
  });

  const troubled: StatusReport = {
    ...whole,
    facility: undefined,
    clock: { state: 'untrusted', now: undefined, errorMs: 0 },
    journal: { state: 'full', detail: '', lastSeq: undefined },
    replica: { state: 'quarantined', detail: '', epoch: 2 },
    storage: { ...whole.storage, state: 'read-only' },
    lines: [{ line: 'bus', state: 'missing', detail: '' }],
    devices: device({ state: 'offline', reason: 'key-mismatch', channel: undefined }),
    doors: [
      { id: 'hall', name: '1', state: 'unknown', mode: 'controlled', ageMs: 9, alarms: ['DOOR_FORCED'] },
      {
        id: 'attic',
        name: '2',
        state: 'secured',
        mode: 'controlled',
        ageMs: 9,
        alarms: [],
        strangers: ['3'],
        lockAtReader: '4',
      },
    ],
    alarms: [{ subject: 'gateway journal', code: 'JOURNAL_FULL', detail: '' }],
  };

  test.each([
    ['that is well', whole],
    ['with every trouble', troubled],
  ])('nothing that is said of a gateway %s is left in English', (_, report) => {
    for (const found of checkRunning(report)) {
      const text = findingText(found, 'ja');
      expect(text).toMatch(/[ぁ-んァ-ヶ一-龠]/);
      // Names and numbers, our command, and the unit of size may stand in Latin letters.
      const latin = text.replaceAll(/kannuki-gateway [a-z-]+|Asia\/Tokyo|House|Hall|hall-reader|bus|MiB|journal/g, '');
      expect(latin).not.toMatch(/[a-z]{3}/i);
    }
  });
});
