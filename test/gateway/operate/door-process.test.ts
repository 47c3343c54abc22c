import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectControl } from '#gateway/control/edge-side.ts';
import type { ExplainReport, FollowItem } from '#gateway/control/replies.ts';
import { refusals } from '#shared/code.ts';
import { identifier } from '#shared/identifier.ts';
import { waitUntil } from '../../fakes/wait-until.ts';
import {
  aikoPin,
  atRest,
  facilityWithPins,
  importSmall,
  numbers,
  openDoor,
  type RunningDoor,
  smallFacility,
  spoken,
} from './running-door.ts';

let door: RunningDoor;
beforeAll(async () => {
  door = await openDoor();
  expect((await importSmall(door)).out).toContain('In force as epoch 1');
  await atRest(door);
}, 60_000);
afterAll(() => door.remove());

const hall = identifier<'door'>('hall');
const card = (name: 'aiko' | 'mei' | 'once' | 'gone') => ({ credential: identifier<'credential'>(`${name}-card`) });
const simulate = async (args: object) =>
  (await door.client.call('simulate', { door: hall, presented: card('aiko'), ...args })) as ExplainReport;
const explain = async (request: string | null) =>
  (await door.client.call('explain', { request: identifier<'request'>(request ?? '') })) as ExplainReport;
const refusedAt = ({ steps }: ExplainReport) =>
  steps.filter(({ verdict }) => verdict === 'refused').map(({ code }) => code);

describe('an explanation', () => {
  test.each([
    ['aiko', 'hall', 'GRANTED'],
    ['gone', 'hall', 'CREDENTIAL_REVOKED'],
    ['aiko', 'safe', 'SECOND_FACTOR_REQUIRED'],
  ] as const)('of %s at the %s is the same before and after: %s', async (who, at, code) => {
    const before = await simulate({ door: identifier<'door'>(at), presented: card(who) });
    const decision = await door.decided(() => door.swipe(at, who));
    const after = await explain(decision.requestId);
    expect(decision.body['code']).toBe(code);
    expect([before.code, after.code]).toEqual([code, code]);
    expect(refusedAt(before)).toEqual(code === 'GRANTED' ? [] : [code]);
    expect(before.steps).toEqual(after.steps);
    await atRest(door);
  });

  test('of what nobody asked for writes nothing, spends nothing, and moves nothing', async () => {
    const before = (await door.entries()).length;
    const orders = door.peer.orders.length;
    for (let times = 0; times < 3; times += 1)
      expect((await simulate({ presented: card('once') })).code).toBe('GRANTED');
    expect((await door.entries()).length).toBe(before);
    expect(door.peer.orders).toHaveLength(orders);
    expect((await door.decided(() => door.swipe('hall', 'once'))).body['code']).toBe('GRANTED');
    expect((await simulate({ presented: card('once') })).code).toBe('USES_EXHAUSTED');
    await atRest(door);
  });

  test('tries a PIN for who may act, and for nobody who may only look', async () => {
    const asked = { door: identifier<'door'>('safe'), presented: card('aiko'), secondFactor: aikoPin };
    expect((await simulate(asked)).code).toBe('GRANTED');
    expect((await simulate({ ...asked, secondFactor: '11112222' })).code).toBe('SECOND_FACTOR_WRONG');
    const edge = await connectControl(join(door.dir, 'run', 'edge.sock'));
    await expect(edge.call('simulate', asked)).rejects.toMatchObject({ code: 'NOT_ALLOWED' });
    const bits = { card: { bits: '1'.repeat(26) } };
    await expect(edge.call('simulate', { door: hall, presented: bits })).rejects.toMatchObject({ code: 'NOT_ALLOWED' });
    const looked = await edge.call('simulate', { door: hall, presented: card('aiko') });
    expect(looked).toMatchObject({ code: 'GRANTED' });
    edge.close();
  });

  test('of a request that was never made says so', async () => {
    await expect(explain('no-such-request')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(simulate({ door: identifier<'door'>('attic') })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('hall, safe'),
    });
  });

  test('has a step for every rule', async () => {
    const { steps } = await simulate({});
    const named = steps.flatMap(({ rule }) => rule.split(', '));
    expect(named.toSorted()).toEqual(
      Object.keys(refusals)
        .filter((code) => code !== 'INTERNAL_FAULT')
        .toSorted(),
    );
  });
});

describe('an operator’s act', () => {
  const acts = async () =>
    (await door.entries()).filter(({ kind }) => kind === 'command.received').map(({ body }) => body['command']);

  test('is in the history when it is answered', async () => {
    await door.client.call('release', { door: hall });
    expect((await acts()).at(-1)).toBe('release');
    await door.client.call('area-reset', { holder: '*' });
    expect((await acts()).at(-1)).toBe('area-reset');
    await door.client.call('mode', { door: '*', mode: 'lockdown' });
    const modes = (await door.entries()).filter(({ kind }) => kind === 'door.mode-changed').slice(-2);
    expect(modes.map(({ body }) => body['mode'])).toEqual(['lockdown', 'lockdown']);
    await door.client.call('mode', { door: '*', mode: 'controlled' });
    await atRest(door);
  });

  test('that cannot be done is refused with its reason', async () => {
    await expect(
      door.client.call('install-window', { device: identifier('hall-reader'), seconds: 30 }),
    ).rejects.toMatchObject({
      code: 'DEVICE_TAKES_NO_KEY',
      message: 'hall-reader',
    });
    await expect(door.client.call('accept-device', { device: identifier('attic') })).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('hall-reader'),
    });
    await expect(door.client.call('release', { door: identifier('attic') })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    await expect(door.client.call('clock-set', { at: '2020-01-01T00:00:00Z' })).rejects.toMatchObject({
      code: 'TIME_NOT_TAKEN',
    });
  });
});

describe('whoever follows', () => {
  test('gets the past, every door, and then what happens', async () => {
    const edge = await connectControl(join(door.dir, 'run', 'edge.sock'));
    const items: FollowItem[] = [];
    const followed = edge.call('follow', { newest: 3 }, { onItem: (item) => items.push(item as FollowItem) });
    const doors = () => items.flatMap((item) => (item.kind === 'door' ? [item.door.id] : []));
    await waitUntil('the doors', () => doors().length >= 2);
    expect(items.slice(0, 3).map(({ kind }) => kind)).toEqual(['entry', 'entry', 'entry']);
    const decision = await door.decided(() => door.swipe('hall', 'gone'));
    const requests = () => items.flatMap((item) => (item.kind === 'entry' ? [item.view.entry.requestId] : []));
    await waitUntil('the entry', () => requests().includes(decision.requestId));
    edge.close();
    await expect(followed).rejects.toMatchObject({ code: 'GATEWAY_NOT_RUNNING' });
  });

  test('and never reads is let go, and nobody else waits for him', async () => {
    const socket = createConnection(join(door.dir, 'run', 'edge.sock'));
    let isClosed = false;
    socket.on('close', () => {
      isClosed = true;
    });
    socket.on('error', () => {});
    socket.pause();
    // Each answer holds the newest thousand entries; none is ever read.
    for (let id = 0; id < 400; id += 1)
      socket.write(`${JSON.stringify({ id, verb: 'events', arguments: { newest: 1_000 } })}\n`);
    await door.client.call('status', {});
    await waitUntil('the deaf one to be let go', () => {
      if (!isClosed && socket.writable) socket.write(`{"id":1,"verb":"events","arguments":{"newest":1000}}\n`);
      return isClosed;
    });
    expect((await door.decided(() => door.swipe('hall', 'mei'))).body['code']).toBe('GRANTED');
    await atRest(door);
  });
});

describe('an import over the socket', () => {
  const text = JSON.stringify(smallFacility('Changed'));
  const begin = async (bytes = text.length, name = 'facility.json') =>
    (await door.client.call('import-begin', { files: [{ name, bytes }] })) as string;
  const put = (id: string, part: string, name = 'facility.json') =>
    door.client.call('import-chunk', { import: id, name, base64: Buffer.from(part).toString('base64') });
  const commit = (id: string, dryRun = false) => door.client.call('import-commit', { import: id, dryRun });

  test('takes pieces that are sent without waiting, in their order', async () => {
    const id = await begin();
    const pieces = text.match(/.{1,500}/gs) ?? [];
    const answers = [...pieces.map((piece) => put(id, piece)), commit(id)];
    await expect(Promise.all(answers)).resolves.toBeDefined();
    expect((await door.status()).facility?.name).toBe('Changed');
    await atRest(door);
  });

  test('that is begun takes the place of one that was abandoned', async () => {
    const first = await begin();
    await put(first, text.slice(0, 100));
    const second = await begin();
    await expect(put(first, text.slice(100))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(commit(first)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await put(second, text);
    const report = await commit(second, true);
    expect(report).toMatchObject({ errors: [] });
    expect(report).not.toHaveProperty('epoch');
  });

  test('is one at a time', async () => {
    const id = await begin();
    await put(id, text);
    const [one, other] = await Promise.allSettled([commit(id, true), commit(id, true)]);
    expect([one.status, other.status]).toEqual(['fulfilled', 'rejected']);
    expect(other).toMatchObject({ reason: { code: 'BUSY' } });
  });

  test('ends with its caller: nothing of it comes into force, and the next one may begin', async () => {
    const { epoch } = (await door.status()).replica;
    const file = join(door.dir, 'many.json');
    writeFileSync(file, JSON.stringify(facilityWithPins(300)));
    const ended = new AbortController();
    const given = spoken(['import', file, '--config', door.configFile], ended.signal, (line) => {
      if (line.startsWith('PINs: 10 ')) ended.abort();
    });
    expect(await given).toMatchObject({ code: 1, err: expect.stringContaining('The import was given up.') });
    const id = await begin();
    await put(id, text);
    expect(await commit(id, true)).toMatchObject({ errors: [] });
    expect((await door.status()).replica.epoch).toBe(epoch);
  });

  test.each(['many.json', '施設.json'])('tells mistakes of %s under its own name', async (name) => {
    const file = join(door.dir, name);
    writeFileSync(file, JSON.stringify({ facility: { id: 'x', name: 'X', zone: 'Mars/Olympus' } }));
    const { code, err } = await door.command('import', file);
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining(`  ${name} line 1 (facility): zone`) });
  });

  test.each([
    ['that is truncated', async () => commit(await withPart(100)), 'BAD_REQUEST', '100 of'],
    ['that is longer than announced', async () => put(await begin(10), text), 'BAD_REQUEST', 'longer'],
    ['of a file nobody announced', async () => put(await begin(), text, 'doors.csv'), 'BAD_REQUEST', 'not announced'],
    ['larger than a gateway holds', () => begin(2 ** 28 + 1), 'BAD_REQUEST', ''],
    ['of a file elsewhere', () => begin(10, '../../etc/passwd'), 'BAD_REQUEST', ''],
    ['of something else than base64', async () => badBase64(await begin()), 'BAD_REQUEST', 'base64'],
  ])('%s is refused', async (_, act, code, why) => {
    await expect(act()).rejects.toMatchObject({ code, message: expect.stringContaining(why) });
  });

  async function withPart(bytes: number): Promise<string> {
    const id = await begin();
    await put(id, text.slice(0, bytes));
    return id;
  }
  const badBase64 = (id: string) =>
    door.client.call('import-chunk', { import: id, name: 'facility.json', base64: '***' });

  test('leaves nothing behind', async () => {
    const id = await begin();
    await put(id, text);
    await commit(id, true);
    const { readdirSync } = await import('node:fs');
    expect(readdirSync(door.dataDir).filter((name) => name.startsWith('import-'))).toEqual([]);
  });

  test('with a mistake changes nothing and names it', async () => {
    const wrong = JSON.stringify({
      ...smallFacility(),
      grants: [{ id: 'all', credentials: ['nobody'], doors: ['hall'] }],
    });
    const id = await begin(wrong.length);
    await put(id, wrong);
    const { epoch } = (await door.status()).replica;
    expect(await commit(id)).toMatchObject({ errors: [expect.stringContaining('nobody')] });
    expect((await door.status()).replica.epoch).toBe(epoch);
  });
});

test('nothing that was presented stands in the log', () => {
  const log = door.log.join('\n');
  for (const secret of [...Object.values(numbers).map(String), aikoPin]) expect(log).not.toContain(secret);
  expect(log).toContain('the gateway is open');
});

test('what the gateway keeps is readable by nobody else', () => {
  const open = readdirSync(door.dataDir).filter((name) => (statSync(join(door.dataDir, name)).mode & 0o077) !== 0);
  expect(open).toEqual([]);
});
