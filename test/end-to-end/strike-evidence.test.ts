import { describe, expect, test } from 'vitest';
import type { Entry } from '#gateway/journal/entry.ts';
import type { StrikeEvent } from '#gateway/simulator/strike-record.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';
import { unexplained, unfinished } from './strike-evidence.ts';

const at = Date.UTC(2026, 5, 1);
const releaseCommand = '6800050300';
const onCommand = '6800020000';
const event = (ms: number, change: Partial<StrikeEvent>): StrikeEvent => ({
  at: new Date(at + ms).toISOString(),
  monoMs: ms,
  cause: 'command',
  isOn: true,
  hasChanged: true,
  isPassable: true,
  ...change,
});
const entry = (ms: number, kind: Entry['kind'], change: Partial<Entry> = {}): Entry => ({
  epoch: 1,
  seq: 1,
  bootId: 'boot',
  kind,
  at: wallMs(at + ms),
  clockState: 'trusted',
  door: identifier<'door'>('front'),
  requestId: identifier<'request'>('r1'),
  body: {},
  personalHash: null,
  prevHash: '',
  hash: '',
  ...change,
});
const release = (ms: number) => event(ms, { command: releaseCommand });
const freed = (ms: number) => event(ms, { command: onCommand });
const toMode = (ms: number, mode: string) => entry(ms, 'door.mode-changed', { body: { mode } });

describe('the evidence of a lock', () => {
  test('is clean where every release follows an entry of its own', () => {
    const record = [event(0, { cause: 'start' }), release(110), release(310)];
    expect(unexplained('front', record, [entry(100, 'access.granted'), entry(300, 'access.granted')])).toEqual([]);
  });

  test.each([
    ['no entry', []],
    ['an entry of another door', [entry(100, 'access.granted', { door: identifier<'door'>('back') })]],
    ['an entry made after it', [entry(200, 'access.granted')]],
    ['an entry of long before', [entry(-6_000, 'access.granted')]],
    ['a refusal', [entry(100, 'access.refused')]],
  ])('names a release with %s', (_, entries) => {
    expect(unexplained('front', [release(110)], entries)).toEqual([release(110)]);
  });

  test('names the second of two releases for one grant', () => {
    const record = [release(110), release(120)];
    expect(unexplained('front', record, [entry(100, 'access.granted')])).toEqual([release(120)]);
  });

  test('names a pulse, whatever caused it', () => {
    const pulse = event(50, { cause: 'timer' });
    expect(unexplained('front', [pulse], [entry(40, 'access.granted')])).toEqual([pulse]);
    expect(unexplained('front', [freed(50)], [entry(40, 'access.granted')])).toEqual([freed(50)]);
  });

  test('lets a door stand free only while its mode says so', () => {
    expect(unexplained('front', [freed(50)], [toMode(40, 'free')])).toEqual([]);
    expect(unexplained('front', [freed(90)], [toMode(40, 'free'), toMode(60, 'controlled')])).toEqual([freed(90)]);
  });

  test('names requests without an end', () => {
    expect(unfinished([entry(0, 'access.granted')])).toEqual(['r1']);
    expect(unfinished([entry(0, 'access.granted'), entry(1, 'release.interrupted')])).toEqual([]);
  });
});
