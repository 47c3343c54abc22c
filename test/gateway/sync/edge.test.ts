/** The edge process over real sockets, between a door process that runs and a cloud that is worked by hand. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runEdge } from '#gateway/compose-edge.ts';
import { loadConfig } from '#gateway/config.ts';
import { takeEdgeKey } from '#gateway/sync/edge-folder.ts';
import { createLogger } from '#gateway/system/logger.ts';
import { transportToken } from '#shared/contract/sync/enrolment.ts';
import { feedAckRequest } from '#shared/contract/sync/feed.ts';
import { journalUpload } from '#shared/contract/sync/journal.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { publicSignKey, rawPublicKey, verifyStatement } from '#shared/signed-statement.ts';
import { ackIn, type DoorKeys, enrol } from '../../fakes/hand-relay.ts';
import { digestOfRows, gateway, SigningCloud } from '../../fakes/signing-cloud.ts';
import { doorRows } from '../follow/door-rows.ts';
import { atRest, openDoor, type RunningDoor } from '../operate/running-door.ts';

type Answer = (request: IncomingMessage, body: string) => Promise<object> | object;

let door: RunningDoor;
let cloud: SigningCloud;
let keys: DoorKeys;
let server: Server;
let answer: (request: IncomingMessage, body: string, response: ServerResponse) => Promise<void>;
let ended: AbortController;
let edge: Promise<void>;
const calls: { readonly method: string; readonly path: string; readonly token: string; readonly body: string }[] = [];

beforeEach(async () => {
  calls.length = 0;
  door = await openDoor();
  cloud = new SigningCloud();
  keys = await enrol(door.client, cloud);
  server = createServer((request, response) => void take(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterEach(async () => {
  ended.abort();
  await edge;
  server.closeAllConnections();
  server.close();
  await door.remove();
});

async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { method = '', url: path = '', headers } = request;
  calls.push({ method, path, token: String(headers.authorization).replace('Bearer ', ''), body });
  await answer(request, body, response);
}

function startEdge(): void {
  ended = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = { ...loadConfig(door.configFile), cloud: { url } };
  edge = runEdge(config, { log: createLogger('silent'), signal: ended.signal });
}

const refuse =
  (status: number, type: string, text: string) => async (_: IncomingMessage, __: string, to: ServerResponse) =>
    void to.writeHead(status, { 'content-type': type }).end(text);
const uplink = async () => (await door.status()).cloud?.uplink;
const alarms = async () => (await door.status()).alarms.map(({ code }) => code);

/** A cloud with one snapshot, which knows its own statements by heart. */
async function goodCloud(): Promise<void> {
  const rows = doorRows(['aiko'], cloud.lookupKey, 60_000);
  const chunks = await cloud.snapshot(rows, { cursor: 7, size: 5 });
  const routes: Readonly<Record<string, Answer>> = {
    time: async ({ url = '' }) => ({
      time: await cloud.time(new URLSearchParams(url.split('?')[1]).get('nonce') ?? '', Date.now()),
    }),
    snapshot: ({ url = '' }) => ({ chunk: chunks[Number(new URLSearchParams(url.split('?')[1]).get('index'))] ?? '' }),
    'feed/ack': async (_, body) => {
      const { epoch, cursor, digest, nonce } = await ackIn(feedAckRequest.parse(JSON.parse(body)).ack, keys);
      return { status: 'applied', lease: await cloud.lease({ epoch, nonce, head: cursor, digest }) };
    },
    feed: async ({ url = '' }) => {
      const asked = new URLSearchParams(url.split('?')[1]);
      const epoch = Number(asked.get('epoch'));
      if (epoch === 0) return { snapshotNeeded: true, head: 7 };
      const lease = { epoch, nonce: asked.get('nonce') ?? '', head: 7, digest: digestOfRows(rows) };
      return { head: 7, lease: await cloud.lease(lease) };
    },
    journal: async (_, body) => {
      const { epoch, entries, heads } = journalUpload.parse(JSON.parse(body));
      const last = entries.at(-1);
      const said = { epoch, seq: last?.seq ?? 0, hash: last?.hash ?? '', nextKey: heads.at(-1)?.nextKey ?? '' };
      return { ack: await cloud.journalAck(said) };
    },
  };
  answer = async (request, body, response) => {
    const call = (request.url ?? '').replace('/gateway/v1/', '').split('?')[0] ?? '';
    const said = await routes[call]?.(request, body);
    response.writeHead(said ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(said ?? {}));
  };
}

it('brings the snapshot, the acks, the leases and the history through, each call with a token of its own', async () => {
  await goodCloud();
  startEdge();
  await expect.poll(async () => (await door.status()).cloud?.cursor, { timeout: 20_000 }).toBe(7);
  await atRest(door);
  const code = async () => (await door.decided(() => door.swipe('hall', 'aiko'))).body['code'];
  await expect.poll(code, { timeout: 20_000 }).toBe('GRANTED');
  await expect.poll(async () => (await door.status()).cloud?.entriesBehind, { timeout: 20_000 }).toBe(0);
  expect(await uplink()).toBe('online');
  const key = publicSignKey(rawPublicKey(takeEdgeKey(loadConfig(door.configFile).edgeDir)));
  const { method, path, token } = calls.find((call) => call.path.startsWith('/gateway/v1/feed?')) ??
    calls[0] ?? { token: '' };
  const verified = await verifyStatement(statementType.transport, transportToken, token, key);
  expect(verified).toMatchObject({ kind: 'verified', value: { iss: gateway, method, path } });
  expect(new Set(calls.map((call) => call.token)).size).toBe(calls.length);
});

it('tells a captive portal from a cloud that put the gateway out, and alarms for that', async () => {
  answer = refuse(200, 'text/html', '<html>sign in');
  startEdge();
  await expect.poll(uplink, { timeout: 20_000 }).toBe('captive-portal');
  answer = refuse(403, 'application/problem+json', '{"code":"GATEWAY_REVOKED"}');
  await expect.poll(uplink, { timeout: 60_000 }).toBe('revoked');
  await expect.poll(alarms).toContain('GATEWAY_OUT_OF_SERVICE');
}, 120_000);

it('alarms where somebody else answers with statements of his own', async () => {
  // Before anything is signed: also the snapshot is the forger's.
  cloud.feedKey = new SigningCloud().feedKey;
  await goodCloud();
  startEdge();
  await expect.poll(alarms, { timeout: 20_000 }).toContain('STATEMENT_FORGED');
  expect((await door.status()).replica.epoch).toBe(0);
});
