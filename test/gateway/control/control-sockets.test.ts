import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ControlServer, type Handlers, serveControl } from '#gateway/control/door-side.ts';
import { connectControl } from '#gateway/control/edge-side.ts';
import { ControlRefusal, calls, messageBytesMax, type Verb } from '#gateway/control/messages.ts';
import { createLogger } from '#gateway/system/logger.ts';
import { identifier } from '#shared/identifier.ts';

const log = createLogger('silent');
let folder: string;
let servers: ControlServer[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kannuki-control-'));
  servers = [];
});
afterEach(async () => {
  for (const server of servers) await server.close();
  rmSync(folder, { recursive: true, force: true });
});

function handlers(some: Partial<Handlers>): Handlers {
  const absent = () => {
    throw new ControlRefusal('UNAVAILABLE', 'not in this test');
  };
  const all = Object.fromEntries((Object.keys(calls) as Verb[]).map((verb) => [verb, absent]));
  return { ...all, ...some } as Handlers;
}

async function serve(rights: 'look' | 'act', some: Partial<Handlers>): Promise<string> {
  const path = join(folder, `${rights}.sock`);
  servers.push(await serveControl(path, rights, handlers(some), log));
  return path;
}

it('answers a call with what its handler returns', async () => {
  const client = await connectControl(await serve('act', { mode: (call) => ({ heard: call.mode }) }));
  expect(await client.call('mode', { door: '*', mode: 'lockdown' })).toEqual({ heard: 'lockdown' });
  client.close();
});

it('lets the edge socket look but not act', async () => {
  const path = await serve('look', { status: () => 'fine', release: () => 'released' });
  const client = await connectControl(path);
  expect(await client.call('status', {})).toBe('fine');
  await expect(client.call('release', { door: identifier<'door'>('a') })).rejects.toMatchObject({
    code: 'NOT_ALLOWED',
  });
  client.close();
});

it('is for its owner and its group alone', async () => {
  expect(statSync(await serve('act', {})).mode & 0o777).toBe(0o660);
});

it('names the field of a bad argument', async () => {
  const client = await connectControl(await serve('act', {}));
  await expect(client.call('release', { door: identifier<'door'>('-'), ms: 1 })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringContaining('ms'),
  });
  client.close();
});

it('answers DEADLINE when a handler does not answer in time', async () => {
  const client = await connectControl(await serve('act', { reads: () => new Promise(() => {}) }));
  await expect(client.call('reads', {}, { deadlineMs: 30 })).rejects.toMatchObject({ code: 'DEADLINE' });
  client.close();
});

it('begins no more work than it can hold, also for those who no longer wait for it', async () => {
  const path = await serve('look', { reads: () => new Promise(() => {}), status: () => 'fine' });
  const codes: string[] = [];
  for (let connection = 0; connection < 10; connection += 1) {
    const client = await connectControl(path);
    const ask = () => client.call('reads', {}, { deadlineMs: 1 });
    const asked = Array.from({ length: 14 }, () => ask().catch(({ code }: ControlRefusal) => codes.push(code)));
    await Promise.all(asked);
    client.close();
  }
  expect(codes.filter((code) => code === 'DEADLINE')).toHaveLength(128);
  expect(codes.filter((code) => code === 'BUSY')).toHaveLength(12);
});

it('answers INTERNAL_FAULT without its cause when a handler throws', async () => {
  const failing = () => {
    throw new Error('secret path');
  };
  const client = await connectControl(await serve('act', { reads: failing }));
  await expect(client.call('reads', {})).rejects.toMatchObject({
    code: 'INTERNAL_FAULT',
    message: expect.not.stringContaining('secret'),
  });
  client.close();
});

it('streams items before its reply', async () => {
  const path = await serve('act', {
    capture: (_, context) => {
      for (let i = 0; i < 3; i += 1) context.emit(i);
      return 'end';
    },
  });
  const client = await connectControl(path);
  const items: unknown[] = [];
  expect(await client.call('capture', { form: 'text' }, { onItem: (item) => items.push(item) })).toBe('end');
  expect(items).toEqual([0, 1, 2]);
  client.close();
});

/** Sends raw text and resolves with all that came back once the other side closes or `until` is seen. */
function raw(path: string, text: string, until: string): Promise<string> {
  return new Promise((done) => {
    let heard = '';
    const socket = createConnection(path, () => socket.write(text));
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => {
      heard += chunk;
      if (heard.includes(until)) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => done(heard));
  });
}

it.each([
  ['no JSON', 'hello\n'],
  ['an unknown verb', '{"id":7,"verb":"open-sesame","arguments":{}}\n'],
  ['an unknown key', '{"id":7,"verb":"status","arguments":{},"sudo":true}\n'],
  ['a number', '4\n'],
])('refuses %s and goes on', async (_, text) => {
  const path = await serve('act', { status: () => 'fine' });
  const heard = await raw(path, `${text}{"id":8,"verb":"status"}\n`, '"id":8');
  expect(heard).toContain('BAD_REQUEST');
  expect(heard).toContain('{"id":8,"status":"ok","value":"fine"}');
});

it('hangs up on a line without an end', async () => {
  const path = await serve('act', {});
  expect(await raw(path, 'x'.repeat(messageBytesMax + 2), 'never')).toBe('');
});

it('replaces a socket file that a dead process left', async () => {
  writeFileSync(join(folder, 'act.sock'), '');
  const client = await connectControl(await serve('act', { status: () => 'fine' }));
  expect(await client.call('status', {})).toBe('fine');
  client.close();
});

it('refuses to take a socket that answers', async () => {
  await serve('act', {});
  await expect(serve('act', {})).rejects.toMatchObject({ code: 'CONTROL_SOCKET_IN_USE' });
});

it('fails the calls that wait when the gateway goes away', async () => {
  const client = await connectControl(await serve('act', { reads: () => new Promise(() => {}) }));
  const waiting = client.call('reads', {});
  await servers.pop()?.close();
  await expect(waiting).rejects.toMatchObject({ code: 'GATEWAY_NOT_RUNNING' });
});

it('says that no gateway runs where none does', async () => {
  await expect(connectControl(join(folder, 'none.sock'))).rejects.toMatchObject({ code: 'GATEWAY_NOT_RUNNING' });
});

it('does not wait for ever for a gateway that hangs', async () => {
  const path = join(folder, 'deaf.sock');
  const deaf = createServer((socket) => socket.on('error', () => {}).resume());
  await new Promise<void>((done) => deaf.listen(path, () => done()));
  const client = await connectControl(path);
  await expect(client.call('status', {}, { deadlineMs: 1 })).rejects.toMatchObject({ code: 'GATEWAY_SILENT' });
  client.close();
  await new Promise((done) => deaf.close(done));
});

it('fails a call on a connection that has ended', async () => {
  const client = await connectControl(await serve('act', {}));
  client.close();
  await expect(client.call('status', {})).rejects.toMatchObject({ code: 'GATEWAY_NOT_RUNNING' });
});

it.skipIf(process.getuid?.() === 0)(
  'tells a socket that this user may not open from one where nobody listens',
  async () => {
    const path = await serve('act', {});
    chmodSync(path, 0o000);
    await expect(connectControl(path)).rejects.toMatchObject({ code: 'GATEWAY_FORBIDDEN' });
  },
);
