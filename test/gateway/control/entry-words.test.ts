import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { entryWords } from '#gateway/control/entry-words.ts';
import type { Entry, EntryKind } from '#gateway/journal/entry.ts';
import { alarms, type Code, codeText, refusals } from '#shared/code.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';

/** The kinds as the journal's own source lists them, so that none is forgotten here. */
const source = readFileSync(new URL('../../../gateway/journal/entry.ts', import.meta.url), 'utf8');
const list = source.slice(source.indexOf('export type EntryKind'), source.indexOf('export interface EntryDraft'));
const kinds = [...list.matchAll(/\| '([a-z.-]+)'/g)].flatMap(([, kind]) => (kind ? [kind as EntryKind] : []));

const bodies: Readonly<Record<string, Entry['body']>> = {
  'gateway.started': { version: '1.2.3' },
  'access.requested': { presented: 'card' },
  'access.granted': { holder: 'aiko', code: 'GRANTED' },
  'access.refused': { holder: 'aiko', code: 'INTERLOCK' },
  'access.challenged': { holder: 'aiko', code: 'SECOND_FACTOR_REQUIRED' },
  'access.refusals-counted': { reader: 'hall-in', count: 12 },
  'reads.discarded': { device: 'reader-1', count: 3 },
  'lock.released': { ms: 5_000 },
  'lock.refused': { reason: 'nak' },
  'lock.not-executed': { reason: 'offline' },
  'door.state-changed': { to: 'unknown' },
  'door.mode-changed': { mode: 'lockdown' },
  'command.received': { command: 'release' },
  'command.refused': { code: 'FIRE_ACTIVE' },
  'device.online': { device: 'reader-1', channel: 'secure' },
  'device.offline': { device: 'reader-1', reason: 'silent' },
  'device.key-installed': { device: 'reader-1' },
  'install-window.opened': { device: 'reader-1' },
  'install-window.closed': { device: 'reader-1', why: 'expired' },
  'alarm.raised': { code: 'DEVICE_TAMPERED', device: 'reader-1' },
  'alarm.cleared': { code: 'READER_LOCKED', reader: 'hall-in' },
  'clock.changed': { to: 'trusted' },
  'replica.applied': { epoch: 4, credentials: 7 },
  'storage.changed': { storage: 'full' },
};

function viewOf(kind: EntryKind, body: Entry['body'], door: string | null = 'hall') {
  const entry: Entry = {
    kind,
    body,
    door: door === null ? null : identifier(door),
    requestId: null,
    at: wallMs(0),
    clockState: 'trusted',
    epoch: 1,
    seq: 1,
    bootId: '',
    personalHash: null,
    prevHash: '',
    hash: '',
  };
  return { entry, names: { door: undefined, holder: undefined, reader: undefined } };
}

describe.each(['en', 'ja'] as const)('in words (%s)', (language) => {
  test.each(kinds)('%s is one line without a hole', (kind) => {
    const words = entryWords(viewOf(kind, bodies[kind] ?? {}), language);
    expect(words).not.toMatch(/\n|undefined|null|^ · |^ ・ | {2}|: ?$/);
    expect(words.length).toBeGreaterThan(3);
  });

  test.each([...Object.keys(refusals), ...Object.keys(alarms)] as Code[])('%s is told in its sentence', (code) => {
    const words = entryWords(viewOf(code in alarms ? 'alarm.raised' : 'access.refused', { code }), language);
    expect(words).toContain(codeText(code, language).replace(/[.。]$/, ''));
    expect(words).toContain(`[${code}]`);
  });

  test('what belongs to no door names what it is about', () => {
    const named = (body: Entry['body']) =>
      entryWords(viewOf('alarm.raised', { code: 'STORAGE_FULL', ...body }, null), language);
    for (const kind of ['device', 'reader', 'line', 'gateway']) expect(named({ [kind]: 'x-1' })).toContain('x-1');
  });
});

test.each<[EntryKind, Entry['body'], string]>([
  ['device.offline', { device: 'x', reason: 'key-mismatch' }, 'x 切断: 鍵の不一致'],
  ['device.online', { device: 'x', channel: 'default-key' }, 'x 接続(初期鍵)'],
  ['clock.changed', { to: 'untrusted' }, '時計 信頼できない'],
  ['storage.changed', { storage: 'read-only' }, '記憶装置 書込不可'],
  ['lock.not-executed', { reason: 'no-lock' }, 'hall ・ 解錠しませんでした: 錠がありません'],
  ['command.received', { command: 'mode lockdown' }, 'hall ・ 操作 モード 緊急施錠'],
  ['command.done', { command: 'release' }, 'hall ・ 操作完了 解錠'],
])('%s of %j says its states and acts in Japanese', (kind, body, said) => {
  expect(entryWords(viewOf(kind, body), 'ja')).toBe(said);
});

test('every kind of the journal is here', () => {
  expect(kinds.length).toBeGreaterThan(30);
});
