import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LineFault } from '#gateway/device/line.ts';
import { openTcpLine } from '#gateway/device/tcp-line.ts';
import { monoMs } from '#shared/instant.ts';
import { createLineEar } from '../../fakes/line-ear.ts';
import { waitUntil } from '../../fakes/wait-until.ts';

const now = () => monoMs(performance.now());
const codeOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof LineFault ? error.code : error;
};

describe('a line through a converter', () => {
  let server: Server;
  let port: number;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    server = createServer((socket) => sockets.push(socket.on('error', () => {})));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });
  const open = (ear = createLineEar()) => openTcpLine({ host: '127.0.0.1', port }, ear, now);

  it('carries bytes both ways', async () => {
    const ear = createLineEar();
    const line = await open(ear);
    await waitUntil('the connection', () => sockets.length === 1);
    let heard = '';
    sockets[0]?.on('data', (bytes) => {
      heard += bytes.toString('latin1');
    });
    await line.write(Buffer.from('question'));
    await waitUntil('the question', () => heard === 'question');
    sockets[0]?.write('answer');
    await waitUntil('the answer', () => ear.text() === 'answer');
    await line.check();
    await line.close();
    expect(ear.faults).toEqual([]);
  });

  it('says that nobody listens', async () => {
    server.close();
    expect(await codeOf(open())).toBe('unreachable');
  });

  it('says that the host has no address', async () => {
    const nowhere = openTcpLine({ host: 'converter.invalid', port }, createLineEar(), now);
    expect(await codeOf(nowhere)).toBe('missing');
  });

  it.each(['end', 'resetAndDestroy'] as const)('tells that it was lost when the converter says %s', async (ends) => {
    const ear = createLineEar();
    const line = await open(ear);
    await waitUntil('the connection', () => sockets.length === 1);
    sockets[0]?.[ends]();
    await waitUntil('the loss', () => ear.faults.length > 0);
    expect(ear.faults.map((fault) => fault.code)).toEqual(['lost']);
    expect(await codeOf(line.check())).toBe('lost');
    expect(await codeOf(line.write(Buffer.from('late')))).not.toBeUndefined();
    await line.close();
    expect(ear.faults).toHaveLength(1);
  });
});
