/** The way to the cloud over real sockets: what is refused, and every failure under its own name. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { Uplink, type UplinkAnswer } from '#gateway/sync/uplink.ts';
import { retryAfterMs } from '#gateway/sync/uplink-failure.ts';
import { createCertificate, type TestCertificate } from '../../fakes/test-certificate.ts';

const folder = mkdtempSync(join(tmpdir(), 'kannuki-uplink-'));
const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function listen(server: Server & { closeAllConnections?(): void }): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  open.push({
    close: () => {
      server.closeAllConnections?.();
      server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

async function ask(url: string, options: { caFile?: string; deadlineMs?: number } = {}): Promise<UplinkAnswer> {
  const { deadlineMs = 5_000, ...address } = options;
  const uplink = new Uplink({ url, ...address });
  open.push(uplink);
  return await uplink.call({ method: 'GET', path: '/gateway/v1/time', deadlineMs });
}

const served = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(createServer(listener))}`;
const answering =
  (status: number, type: string, text: string, headers: object = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': type, ...headers }).end(text);

async function tlsServed(certificate: TestCertificate): Promise<string> {
  const { cert, key } = certificate;
  return `https://127.0.0.1:${await listen(createTlsServer({ cert, key }, answering(200, 'application/json', '{}')))}`;
}

it('speaks plainly only to this machine', () => {
  for (const url of ['http://example.com', 'ftp://localhost', 'http://127.0.0.1.example.com', 'https://a:b@host', 'no'])
    expect(() => new Uplink({ url })).toThrow(TypeError);
});

describe('TLS', () => {
  const authority = createCertificate({ name: 'Test authority' });
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.cert);
  const of = (hosts: readonly string[], notAfter?: Date) =>
    createCertificate({ name: 'cloud', hosts, issuer: authority, ...(notAfter && { notAfter }) });

  it('accepts a certificate of the named authority for the name that was called', async () => {
    expect(await ask(await tlsServed(of(['127.0.0.1'])), { caFile })).toEqual({ kind: 'ok', value: {} });
  });

  it.each([
    ['of another name', of(['elsewhere.example']), caFile, 'another name'],
    ['that has expired', of(['127.0.0.1'], new Date('2021-01-01')), caFile, 'has expired'],
    ['of an unknown authority', of(['127.0.0.1']), undefined, 'unknown authority'],
    ['signed by itself', createCertificate({ name: 'self', hosts: ['127.0.0.1'] }), caFile, 'self-signed'],
  ])('refuses one %s, and says so', async (_what, certificate, ca, words) => {
    const answer = await ask(await tlsServed(certificate), ca === undefined ? {} : { caFile: ca });
    expect(answer).toMatchObject({ kind: 'failed', why: 'tls', detail: expect.stringContaining(words) });
  });

  it('refuses it too where the environment would switch verification off', async () => {
    const url = await tlsServed(of(['elsewhere.example']));
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(await ask(url, { caFile })).toMatchObject({ kind: 'failed', why: 'tls' });
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  it('tells a server that speaks no TLS from one whose certificate is wrong', async () => {
    const plain = await served(answering(200, 'application/json', '{}'));
    expect(await ask(plain.replace('http:', 'https:'))).toMatchObject({ kind: 'failed', why: 'tls' });
  });
});

it.each([
  [200, 'text/html', '<html>', {}, { why: 'captive-portal' }],
  [302, 'text/html', '', { location: 'http://portal/' }, { why: 'captive-portal' }],
  [511, 'text/html', '', {}, { why: 'captive-portal' }],
  [200, 'application/json', '{"half":', {}, { why: 'captive-portal' }],
  [401, 'application/problem+json', '{"code":"TRANSPORT_TOKEN_OUTDATED"}', {}, { why: 'clock-skewed' }],
  [401, 'application/problem+json', '{"code":"TRANSPORT_TOKEN_INVALID"}', {}, { why: 'unauthorized' }],
  [403, 'application/problem+json', '{"code":"GATEWAY_REVOKED"}', {}, { why: 'revoked' }],
  [403, 'application/problem+json', '{"code":"GATEWAY_NOT_CONFIRMED"}', {}, { why: 'unauthorized' }],
  [
    409,
    'application/problem+json',
    '{"code":"JOURNAL_GAP","current":{"seq":3}}',
    {},
    { why: 'conflict', current: { seq: 3 } },
  ],
  [413, 'text/plain', 'too large', {}, { why: 'too-large' }],
  [429, 'text/plain', '', { 'retry-after': '7' }, { why: 'busy', retryAfterMs: 7_000 }],
  [
    503,
    'application/problem+json',
    '{"code":"DATABASE_UNAVAILABLE"}',
    { 'retry-after': '2' },
    { why: 'busy', retryAfterMs: 2_000 },
  ],
  [500, 'application/problem+json', '{"code":"REQUEST_FAILED"}', {}, { why: 'cloud-fault' }],
  [422, 'application/problem+json', '{"code":"REQUEST_INVALID"}', {}, { why: 'malformed' }],
] as const)('tells %i with %s apart', async (...[status, type, text, headers, expected]) => {
  expect(await ask(await served(answering(status, type, text, headers)))).toMatchObject({
    kind: 'failed',
    ...expected,
  });
});

it('tells a name that does not resolve from a machine that does not answer', async () => {
  expect(await ask('https://nowhere.invalid')).toMatchObject({ kind: 'failed', why: 'dns' });
  const port = await listen(createServer());
  await open.pop()?.close();
  expect(await ask(`http://127.0.0.1:${port}`)).toMatchObject({ kind: 'failed', why: 'unreachable' });
});

it('waits no longer than its deadline, for the first byte or the last', async () => {
  expect(await ask(await served(() => {}), { deadlineMs: 50 })).toMatchObject({ kind: 'failed', why: 'unreachable' });
  const dripping = await served((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{');
  });
  expect(await ask(dripping, { deadlineMs: 50 })).toMatchObject({ kind: 'failed', why: 'unreachable' });
});

it('reads no answer without end', async () => {
  const endless = await served((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = () => {
      while (!response.destroyed && response.write('1'.repeat(65_536)));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  expect(await ask(endless)).toMatchObject({ kind: 'failed', why: 'malformed' });
});

it('reads Retry-After as seconds or as a date, within bounds', () => {
  const now = Date.UTC(2026, 0, 1);
  expect(retryAfterMs('120', now)).toBe(120_000);
  expect(retryAfterMs(new Date(now + 5_000).toUTCString(), now)).toBe(5_000);
  expect(retryAfterMs(new Date(now - 5_000).toUTCString(), now)).toBe(0);
  expect(retryAfterMs('999999', now)).toBe(3_600_000);
  expect(retryAfterMs('soon', now)).toBeUndefined();
});
