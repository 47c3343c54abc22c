import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSite, type RunningSite } from '#gateway/simulator/open-site.ts';
import { checkSite } from '#gateway/simulator/parse-site.ts';
import { connectSite, type SiteClient } from '#gateway/simulator/site-client.ts';
import type { SiteEvent, SiteStatus } from '#gateway/simulator/site-report.ts';
import { readStrikeRecord } from '#gateway/simulator/strike-record.ts';
import type { PanelConfig } from '#protocol/osdp/panel-port.ts';
import { identifier } from '#shared/identifier.ts';
import { waitUntil } from '../../fakes/wait-until.ts';
import { openTestPanel, type TestPanel } from './test-panel.ts';

const key = '5ca1ab1e0000000000000000deadbeef';
const description = {
  lines: [
    { id: 'hall', wire: { port: 0 }, baud: 115_200, turnaroundMs: 1 },
    { id: 'yard', wire: { port: 0 }, baud: 115_200, turnaroundMs: 1 },
  ],
  peripherals: [
    { id: 'reader', line: 'hall', address: 0, key: { hex: key }, identity: { serial: 1001 } },
    {
      id: 'board',
      line: 'hall',
      address: 1,
      key: { hex: key },
      identity: { serial: 1002 },
      heads: 0,
      inputs: 3,
      outputs: 1,
    },
    { id: 'fresh', line: 'yard', address: 5, key: 'install', identity: { serial: 1003 }, outputs: 1 },
  ],
  doors: [
    {
      id: 'hall-door',
      name: 'Hall',
      strike: { peripheral: 'board', output: 0 },
      contact: { peripheral: 'board', input: 0 },
      exitButton: { peripheral: 'board', input: 1 },
      readers: ['reader'],
      opensAfterMs: 50,
      closesAfterMs: 100,
    },
    {
      id: 'gate',
      name: 'Gate',
      strike: { peripheral: 'fresh', output: 0, release: 'de-energise' },
      readers: ['fresh'],
    },
  ],
};

let dir: string;
let site: RunningSite;
let client: SiteClient;
let events: SiteEvent[] = [];
let recorded = 0;
const panels: TestPanel[] = [];

async function openHere(): Promise<void> {
  const parsed = checkSite(description);
  if (parsed.kind === 'invalid') throw new Error(parsed.issues.join('\n'));
  site = await openSite({ site: parsed.site, stateDir: dir, baseDir: dir, onEvent: (event) => events.push(event) });
  client = await connectSite(site.socketPath);
}
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'kannuki-site-'));
  await openHere();
});
beforeEach(() => {
  events = [];
  recorded = readStrikeRecord(dir, 'hall-door').length;
});
afterEach(async () => {
  await Promise.all(panels.splice(0).map((panel) => panel.close()));
  for (const peripheral of ['reader', 'board', 'fresh']) {
    await client.call('fault', { peripheral, fault: { kind: 'heal' } });
    await client.call('fault', { peripheral, fault: { kind: 'power-cycle', ms: 1 } });
  }
  await client.call('door-fault', { door: 'hall-door', fault: { kind: 'unjam' } });
});
afterAll(async () => {
  client.close();
  await site.close();
  rmSync(dir, { recursive: true, force: true });
});

const panelOn = (line: string, address: number, security?: PanelConfig['security']): TestPanel => {
  const panel = openTestPanel(site.ports.get(identifier<'line'>(line)) ?? 0, {
    address,
    check: 'crc',
    security: security ?? { mode: 'secure', key: Buffer.from(key, 'hex') },
    replyTimeoutMs: 300,
    offlineAfterMs: 2_000,
  });
  panels.push(panel);
  return panel;
};
const status = async () => (await client.call('status', {})) as SiteStatus;
/** The lock’s record since this test began. */
const recordHere = () => readStrikeRecord(dir, 'hall-door').slice(recorded);
const happened = (what: SiteEvent['what'], subject?: string) =>
  events.filter((event) => event.what === what && (subject === undefined || event.subject === subject)).length;
const release = (panel: TestPanel, timerTenths: number) =>
  panel.command({ kind: 'output', records: [{ output: 0, action: 'on-for-timer', timerTenths }] });
const bits = '10111101110110010011011101';
const isOnline = (panel: TestPanel, times = 1) => panel.next('online', times - 1);
const cardsAt = (panel: TestPanel) =>
  panel.of('event').filter(({ reply }) => reply.kind === 'card').length +
  panel.of('discarded').filter(({ what }) => what === 'card').length;
/** A panel discards what waited when it connected, until a poll finds nothing: presses a key now and then until one is taken. */
async function isListening(panel: TestPanel, reader: string): Promise<void> {
  const taken = () => panel.of('event').filter(({ reply }) => reply.kind === 'keys').length;
  const before = taken();
  let pressedAt = Number.NEGATIVE_INFINITY;
  await waitUntil('a key to be taken', () => {
    if (performance.now() - pressedAt > 150) {
      pressedAt = performance.now();
      void client.call('present', { reader, what: { keys: '0' }, walks: false });
    }
    return taken() > before;
  });
}

describe('a simulated site', () => {
  test('gives every line a process of its own that speaks OSDP with a secure channel', async () => {
    const reader = panelOn('hall', 0);
    expect(await isOnline(reader)).toMatchObject({ channel: 'secure', identity: { serial: 1001 } });
    expect(new Set(site.pids()).size).toBe(2);
    expect((await status()).peripherals.find(({ peripheral }) => peripheral === 'reader')).toMatchObject({
      channel: 'secure',
    });
  });

  test('delivers a card bit for bit, and keys as they were pressed', async () => {
    const reader = panelOn('hall', 0);
    await isListening(reader, 'reader');
    await client.call('present', { reader: 'reader', what: { bits } });
    await client.call('present', { reader: 'reader', what: { keys: '12#' } });
    await waitUntil('both to arrive', () =>
      reader.of('event').some(({ reply }) => reply.kind === 'keys' && reply.keys.length === 3),
    );
    const replies = reader.of('event').map(({ reply }) => reply);
    expect(replies).toContainEqual({
      kind: 'card',
      reader: 0,
      format: 1,
      bitCount: 26,
      bytes: Uint8Array.of(0xbd, 0xd9, 0x37, 0x40),
    });
    expect(replies).toContainEqual({ kind: 'keys', reader: 0, keys: Uint8Array.of(0x31, 0x32, 0x0d) });
  });

  test('opens its door for the person who waits, once the strike lets go, and records the current', async () => {
    const board = panelOn('hall', 1);
    await isOnline(board);
    await client.call('present', { reader: 'reader', what: { bits } });
    expect(happened('opened')).toBe(0);
    expect((await release(board, 3)).outcome).toMatchObject({ kind: 'accepted' });
    await waitUntil('the door to open and close', () => happened('closed', 'hall-door') === 1);
    await waitUntil('the strike to fall back', () => recordHere().length === 2);
    expect(recordHere()).toMatchObject([
      { cause: 'command', command: '6800050300', isOn: true, hasChanged: true, isPassable: true },
      { cause: 'timer', isOn: false, hasChanged: true, isPassable: false },
    ]);
    const contacts = board.of('event').flatMap(({ reply }) => (reply.kind === 'input-status' ? [reply.inputs[0]] : []));
    await waitUntil('the contact to be told', () =>
      board.of('event').some(({ reply }) => reply.kind === 'input-status'),
    );
    expect(contacts.at(-1)).toBe('inactive');
    expect(contacts).toContain('active');
  });

  test('opens from inside by the exit button without any release', async () => {
    const board = panelOn('hall', 1);
    await isOnline(board);
    await client.call('exit', { door: 'hall-door' });
    await waitUntil('somebody to leave', () => happened('closed', 'hall-door') === 1);
    expect(recordHere()).toEqual([]);
  });

  test('falls silent when unplugged, and is found again when plugged in', async () => {
    const reader = panelOn('hall', 0);
    await isOnline(reader);
    await client.call('fault', { peripheral: 'reader', fault: { kind: 'unplug' } });
    expect(await reader.next('offline')).toMatchObject({ reason: 'silent' });
    await client.call('fault', { peripheral: 'reader', fault: { kind: 'plug' } });
    await isOnline(reader, 2);
  });

  test('forgets its session in a power cycle, drops its outputs, and says that it was off', async () => {
    const board = panelOn('hall', 1);
    await isOnline(board);
    await release(board, 600);
    await client.call('fault', { peripheral: 'board', fault: { kind: 'power-cycle', ms: 100 } });
    await waitUntil('the power loss to be told', () =>
      board.of('event').some(({ reply }) => reply.kind === 'local-status' && reply.hasPowerFailed),
    );
    expect(recordHere().at(-1)).toMatchObject({ cause: 'power-lost', isOn: false });
  });

  test('with another key is not believed, and is again once healed', async () => {
    const reader = panelOn('hall', 0);
    await isOnline(reader);
    await client.call('fault', { peripheral: 'reader', fault: { kind: 'wrong-key' } });
    await waitUntil('the mismatch to be noticed', () =>
      reader.of('alarm').some(({ code }) => code === 'DEVICE_KEY_MISMATCH'),
    );
    await client.call('fault', { peripheral: 'reader', fault: { kind: 'heal' } });
    await isOnline(reader, 2);
  });

  test('as another reader is noticed by its identity', async () => {
    const reader = panelOn('hall', 0);
    await isOnline(reader);
    await client.call('fault', { peripheral: 'reader', fault: { kind: 'swap' } });
    await waitUntil('an alarm', () => reader.of('alarm').length > 0);
    expect(reader.of('online')).toHaveLength(1);
  });

  test('sends a recorded card read again, which the panel calls forged and takes for nothing', async () => {
    const reader = panelOn('hall', 0);
    await isListening(reader, 'reader');
    await client.call('present', { reader: 'reader', what: { bits } });
    await waitUntil('the card to arrive', () => cardsAt(reader) === 1);
    await client.call('fault', { peripheral: 'reader', fault: { kind: 'replay', count: 3 } });
    await waitUntil('the alarm', () => reader.of('alarm').some(({ code }) => code === 'DEVICE_MESSAGE_FORGED'));
    await isListening(reader, 'reader');
    expect(cardsAt(reader)).toBe(1);
  });

  test('refuses commands in plain, which ends the session, and is back afterwards', async () => {
    const reader = panelOn('hall', 0);
    await isListening(reader, 'reader');
    await client.call('fault', { peripheral: 'reader', fault: { kind: 'nak', count: 2 } });
    expect(await reader.next('offline')).toMatchObject({ reason: 'protocol-fault' });
    await isListening(reader, 'reader');
  });

  test.each([
    { kind: 'corrupt', count: 3 },
    { kind: 'duplicate', count: 20 },
    { kind: 'delay', delayMs: 100, count: 5 },
    { kind: 'noise', ms: 400 },
    { kind: 'busy', count: 3 },
  ] as const)('$kind does not keep a card from arriving, once', async (fault) => {
    const reader = panelOn('hall', 0);
    await isListening(reader, 'reader');
    await client.call('fault', { peripheral: 'reader', fault });
    await client.call('present', { reader: 'reader', what: { bits } });
    await waitUntil('the card to arrive', () => cardsAt(reader) > 0);
    await client.call('fault', { peripheral: 'reader', fault: { kind: 'heal' } });
    await isListening(reader, 'reader');
    expect(cardsAt(reader)).toBe(1);
  });

  test('loses every panel when the line drops, and takes them back on the same port', async () => {
    const reader = panelOn('hall', 0);
    await isOnline(reader);
    await client.call('line-fault', { line: 'hall', fault: { kind: 'drop' } });
    const port = site.ports.get(identifier<'line'>('hall')) ?? 0;
    const refused = await new Promise((done) =>
      connect(port, '127.0.0.1').once('error', (error) => done('code' in error && error.code)),
    );
    expect(refused).toBe('ECONNREFUSED');
    await client.call('line-fault', { line: 'hall', fault: { kind: 'restore' } });
    await waitUntil('the panel to be back', () => happened('panel-connected', 'hall') === 2);
  });

  test('takes one panel at a time, as a converter does', async () => {
    const reader = panelOn('hall', 0);
    await isListening(reader, 'reader');
    const second = connect(site.ports.get(identifier<'line'>('hall')) ?? 0, '127.0.0.1');
    await new Promise((done) => second.once('close', done));
    await isListening(reader, 'reader');
    expect((await status()).lines.find(({ line }) => line === 'hall')).toMatchObject({ panels: 1 });
  });

  test('takes a key over the default key, and keeps it over a restart', async () => {
    const given = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
    const panel = panelOn('yard', 5, { mode: 'secure', key: undefined });
    await waitUntil('the reader to be seen', () => panel.effects.length > 0);
    panel.tell({ kind: 'open-install', at: performance.now(), until: performance.now() + 20_000, key: given });
    await panel.next('key-installed');
    await waitUntil('the key to be kept', () => happened('key-installed', 'fresh') === 1);
    await panel.close();
    await site.close();
    client.close();
    await openHere();
    const after = panelOn('yard', 5, { mode: 'secure', key: given });
    expect(await isOnline(after)).toMatchObject({ channel: 'secure' });
  });

  test('does not move a jammed lock, whatever it acknowledges', async () => {
    const board = panelOn('hall', 1);
    await isOnline(board);
    await client.call('door-fault', { door: 'hall-door', fault: { kind: 'jam' } });
    expect((await release(board, 1)).outcome).toMatchObject({ kind: 'accepted' });
    expect(recordHere().at(-1)).toMatchObject({
      cause: 'command',
      isOn: false,
      hasChanged: false,
    });
  });

  test('starts a line process that died again, on its port', async () => {
    const reader = panelOn('hall', 0);
    await isOnline(reader);
    const [first = 0] = site.pids();
    process.kill(first, 'SIGKILL');
    await waitUntil('another process', () => !site.pids().includes(first) && happened('panel-connected', 'hall') === 2);
    await client.call('present', { reader: 'reader', what: { keys: '5' } });
    await isOnline(reader, 2);
  });

  test('refuses a call for what does not exist, naming what does', async () => {
    await expect(client.call('force', { door: 'lobby' })).rejects.toThrow("no door 'lobby'; doors: hall-door, gate");
    await expect(client.call('present', { reader: 'x', what: { keys: '1' } })).rejects.toThrow(
      'peripherals: reader, board, fresh',
    );
    await expect(client.call('line-fault', { line: 'attic', fault: { kind: 'drop' } })).rejects.toThrow(
      'lines: hall, yard',
    );
  });
});
