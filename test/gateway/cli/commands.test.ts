import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '#gateway/cli/run-command.ts';
import { factNames } from '#gateway/control/explain-words.ts';
import type { ExplainReport } from '#gateway/control/replies.ts';
import { waitUntil } from '../../fakes/wait-until.ts';
import { aikoPin, atRest, importSmall, openDoor, type RunningDoor, spoken } from '../operate/running-door.ts';

const names = Object.keys(commands);
const japanese = /[ぁ-んァ-ヶ一-龠]/;
const firstLine = (text: string) => text.split('\n')[0];

let dir: string;
let nowhere: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'kannuki-cli-'));
  nowhere = join(dir, 'gateway.yaml');
  writeFileSync(nowhere, 'dataDir: data\nrunDir: run\n');
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe('every command', () => {
  test.each(names)('%s tells how it is used', async (name) => {
    const { code, out, err } = await spoken([name, '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain(`kannuki-gateway ${name}`);
  });

  test.each(names)('%s refuses an option and a word that it does not know, with its usage', async (name) => {
    for (const words of [['--sesame'], ['a', 'b', 'c', 'd']]) {
      const { code, out, err } = await spoken([name, ...words, '--config', nowhere]);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(`kannuki-gateway ${name}`);
      expect(firstLine((await spoken([name, ...words, '--language', 'ja'])).err)).toMatch(japanese);
    }
  });
});

/** What a command needs to be whole; those that are not here need nothing. */
const needed: Readonly<Record<string, readonly string[]>> = {
  explain: ['request-1'],
  import: [import.meta.filename],
  release: ['hall'],
  mode: ['hall', 'free'],
  'install-window': ['hall-reader'],
  'accept-device': ['hall-reader'],
  'clock-set': ['2026-01-31T09:00:00+09:00'],
  'area-reset': ['*'],
  enroll: ['--code', 'KNK1-0', '--cloud', 'http://127.0.0.1:9'],
};
const asking = names.filter((name) => !['door', 'edge', 'run', 'discover', 'doctor', 'simulate'].includes(name));

describe('a command that asks the gateway', () => {
  test.each(asking)('%s says that none runs', async (name) => {
    const { code, out, err } = await spoken([name, ...(needed[name] ?? []), '--config', nowhere]);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^No gateway answers here\. \[GATEWAY_NOT_RUNNING\]\n.*admin\.sock\n/);
  });

  test('says what is wrong with its configuration', async () => {
    const broken = join(dir, 'broken.yaml');
    writeFileSync(broken, 'lines: 7\n');
    const { code, err } = await spoken(['status', '--config', broken]);
    expect(code).toBe(1);
    expect(err).toContain('[CONFIG_INVALID]');
  });
});

test('a command that is none is told from a call for help', async () => {
  expect(await spoken(['open-sesame'])).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('open-sesame'),
  });
  expect(await spoken(['help'])).toMatchObject({ code: 0, err: '', out: expect.stringContaining('verify-journal') });
  expect(await spoken(['status', '--language', 'fr'])).toMatchObject({ code: 2 });
  expect((await spoken(['open-sesame', '--language', 'ja'])).err).toContain('コマンド「open-sesame」はありません');
});

describe('with a gateway', () => {
  let door: RunningDoor;
  beforeAll(async () => {
    door = await openDoor();
    expect(await importSmall(door)).toMatchObject({ code: 0, out: expect.stringContaining('In force as epoch 1') });
    await atRest(door);
    await door.decided(() => door.swipe('hall', 'stranger'));
    await door.decided(() => door.swipe('hall', 'aiko'));
  }, 60_000);
  afterAll(() => door.remove());

  const whole: readonly (readonly [name: string, ...words: string[]])[] = [
    ['status'],
    ['events'],
    ['explain', '--door', 'hall', '--credential', 'aiko-card'],
    [
      'explain',
      '--door',
      'safe',
      '--credential',
      'aiko-card',
      '--second-factor',
      aikoPin,
      '--at',
      '2026-01-31T09:00:00Z',
    ],
    ['reads'],
    ['release', 'hall'],
    ['mode', '*', 'controlled'],
    ['area-reset', '*'],
    ['verify-journal'],
  ];
  test.each(whole)('%s speaks to people, and with --json to programs', async (...words) => {
    const people = await door.command(...words);
    expect(people).toMatchObject({ code: 0, err: '' });
    const programs = await door.command(...words, '--json');
    expect(programs).toMatchObject({ code: 0, err: '' });
    for (const line of programs.out.split('\n')) expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(people.out).not.toBe(programs.out);
    await atRest(door);
    const inJapanese = await door.command(...words, '--language', 'ja');
    expect(inJapanese).toMatchObject({ code: 0, err: '' });
    expect(firstLine(inJapanese.out)).toMatch(japanese);
    await atRest(door);
  });

  test('status puts first what needs somebody, in either language', async () => {
    const { out } = await door.command('status');
    expect(out).toContain('facility  Small (Asia/Tokyo)');
    expect(out).toContain('┃━━┃ Hall · secured');
    const japanese = await door.command('status', '--language', 'ja');
    expect(japanese.out).toContain('Hall');
  });

  test('doctor warns of a lock on the output of a reader', async () => {
    const { code, out } = await door.command('doctor', '--language', 'ja');
    expect(code).toBe(0);
    expect(out).toContain('! 注意 扉 Hall: 錠がリーダー hall-reader の出力につながっています');
  });

  test('what the gateway refuses is told in its own sentence, with what can be done', async () => {
    await door.command('mode', 'hall', 'lockdown');
    const refused = await door.command('release', 'hall');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toBe('The door is locked down. [DOOR_LOCKED_DOWN]\nEnd the lockdown.');
    const japanese = await door.command('release', 'hall', '--language', 'ja');
    expect(japanese.err).toContain('扉は緊急施錠中です。');
    expect(await door.command('mode', 'hall', 'controlled')).toMatchObject({ code: 0, out: 'hall: controlled' });
    expect(await door.command('mode', 'attic', 'free')).toMatchObject({
      code: 1,
      err: expect.stringContaining('NOT_FOUND'),
    });
    expect(await door.command('install-window', 'hall-reader')).toMatchObject({
      code: 1,
      err: expect.stringContaining('DEVICE_TAKES_NO_KEY'),
    });
    expect(await door.command('explain', 'request-0')).toMatchObject({
      code: 1,
      err: expect.stringContaining('NOT_FOUND'),
    });
  });

  test('a past decision is explained rule by rule', async () => {
    const { requestId } = await door.decided(() => door.swipe('hall', 'gone'));
    const { code, out } = await door.command('explain', String(requestId));
    expect(code).toBe(0);
    expect(out).toContain('The credential was revoked. [CREDENTIAL_REVOKED]');
    expect(out).toMatch(
      /✓ {2}7 .* \[CREDENTIAL_TAMPERED\]\n {2}✗ {2}8 .* \[CREDENTIAL_REVOKED, CREDENTIAL_SUSPENDED\]/,
    );
    const japanese = await door.command('explain', String(requestId), '--language', 'ja');
    expect(japanese.out).toMatch(/✗ {2}8 失効・停止していない \[CREDENTIAL_REVOKED, CREDENTIAL_SUSPENDED\]/);
  });

  test('an explanation knows the name of whatever it states, and tells moments in the zone of the facility', async () => {
    const { requestId } = await door.decided(() => door.swipe('hall', 'aiko'));
    const asked = ['--door', 'hall', '--credential', 'gone-card', '--at', '2026-01-31T16:30:00Z'];
    for (const words of [[String(requestId)], asked]) {
      const { out } = await door.command('explain', ...words, '--json');
      const { facts } = JSON.parse(out) as ExplainReport;
      expect(facts.map(({ name }) => name).filter((name) => !Object.hasOwn(factNames, name))).toEqual([]);
    }
    expect((await door.command('explain', ...asked)).out).toMatch(/time +2026-02-01 01:30:00\n/);
    expect((await door.command('explain', ...asked, '--language', 'ja')).out).toMatch(/時刻 +2026-02-01 01:30:00\n/);
    await atRest(door);
  });

  test('events follows until it is told to end', async () => {
    const ended = new AbortController();
    const out: string[] = [];
    const words = ['events', '--follow', '--newest', '1', '--json', '--config', door.configFile];
    const { runCommand } = await import('#gateway/cli/run-command.ts');
    const following = runCommand(words, {
      out: (line) => void out.push(line),
      err: () => {},
      isTty: false,
      language: 'en',
      signal: ended.signal,
    });
    await waitUntil('the past', () => out.length >= 1);
    const { requestId } = await door.decided(() => door.swipe('hall', 'gone'));
    await waitUntil('the present', () => out.some((line) => line.includes(String(requestId))));
    ended.abort();
    expect(await following).toBe(0);
  });

  test.each([
    ['events', '--newest', '0'],
    ['events', '--newest', 'many'],
    ['release'],
    ['release', 'hall', '--ms', '100'],
    ['mode', 'hall', 'open'],
    ['install-window'],
    ['install-window', 'hall-reader', '--seconds', '5'],
    ['explain', '--door', 'hall'],
    ['import'],
    ['import', '/nowhere/at/all.json'],
    ['clock-set'],
    ['area-reset'],
    ['accept-device'],
    ['verify-journal', '--key', 'abc'],
    ['discover'],
    ['simulate'],
  ])('%s %s %s %s is a call that is wrong', async (...words) => {
    const { code, out, err } = await door.command(...words.filter((word) => word !== undefined));
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`kannuki-gateway ${words[0]}`);
    const spokenJa = await door.command(...words.filter((word) => word !== undefined), '--language', 'ja');
    expect(firstLine(spokenJa.err)).toMatch(japanese);
    expect(firstLine(spokenJa.err)).not.toBe(firstLine(err));
  });

  test('an import with mistakes names each, and exits with 1', async () => {
    const report = await importSmall(door, { facility: { id: 'x', name: 'X', zone: 'Mars/Olympus' } });
    expect(report.code).toBe(1);
    expect(report.err).toContain('Nothing was imported');
  });
});
