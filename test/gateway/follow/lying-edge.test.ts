/**
 * A relay that lies, with everything that a relay has: it can mint nothing, restore nothing, command nothing twice, renew
 * no lease, fake no ack, let nothing be pruned, and hold up no door.
 */
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { StatusReport } from '#gateway/control/replies.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { ackIn, type DoorKeys, enrol, HandRelay } from '../../fakes/hand-relay.ts';
import { gateway, put, SigningCloud } from '../../fakes/signing-cloud.ts';
import { atRest, openDoor, type RunningDoor } from '../operate/running-door.ts';
import { cardOf, doorRows } from './door-rows.ts';

let door: RunningDoor;
let cloud: SigningCloud;
let keys: DoorKeys;
let relay: HandRelay;

const leaseMs = 60_000;
const verdict = async (person: 'aiko' | 'mei' | 'gone') =>
  (await door.decided(() => door.swipe('hall', person))).body['code'] as string;
const cloudStatus = async () => ((await door.client.call('status', {})) as StatusReport).cloud;
const standing = async () => await ackIn((await relay.ask('ack'))?.ack ?? '', keys);

/** Contact as the cloud gives it: to a question of now, at the head. */
async function renew(): Promise<string> {
  const { epoch, cursor, digest } = await standing();
  const { nonce } = await relay.ask('feed');
  return await relay.outcome('lease', await cloud.lease({ epoch, nonce, head: cursor, digest }));
}

beforeEach(async () => {
  door = await openDoor();
  cloud = new SigningCloud();
  keys = await enrol(door.client, cloud);
  relay = await HandRelay.open(`${door.dir}/run`);
  const rows = doorRows(['aiko', 'mei'], cloud.lookupKey, leaseMs);
  for (const chunk of await cloud.snapshot(rows, { cursor: 10 })) await relay.deliver('chunk', chunk);
  await atRest(door);
});
afterEach(async () => {
  relay.close();
  await door.remove();
});

it('cannot mint: what it signs itself, or signs as something else, changes nothing and stands as an alarm', async () => {
  const forger = new SigningCloud();
  const change = put('credential', cardOf('gone', cloud.lookupKey, { version: 11 }));
  expect(await relay.outcome('batch', await forger.batch(1, 10, [change]))).toBe('refused: wrong-signature');
  const asUrgent = await cloud.urgent(1, 12, [cardOf('mei', cloud.lookupKey, { status: 'revoked', version: 12 })]);
  expect(await relay.outcome('batch', asUrgent)).toBe('refused: wrong-type');
  expect(await relay.outcome('batch', 'not even that')).toBe('refused: malformed');
  const forged = await forger.certificate(2);
  expect(await relay.outcome('certificate', forged)).toBe('refused: wrong-signature');
  expect(await cloudStatus()).toMatchObject({ cursor: 10, refused: { 'wrong-signature': 2, 'wrong-type': 1 } });
  const { alarms } = await door.status();
  expect(alarms.map(({ code }) => code)).toContain('STATEMENT_FORGED');
  expect(await verdict('gone')).toBe('CREDENTIAL_UNKNOWN');
});

it('cannot restore: an older snapshot, an older batch and an older urgent row are refused', async () => {
  await renew();
  const old = await cloud.snapshot(doorRows(['aiko', 'mei'], cloud.lookupKey), { cursor: 9, id: 'old' });
  const revoked = put('credential', cardOf('mei', cloud.lookupKey, { status: 'revoked', version: 11, leaseMs }));
  const issued = await cloud.batch(1, 10, [
    put('credential', cardOf('mei', cloud.lookupKey, { version: 11, leaseMs })),
  ]);
  expect(await relay.outcome('batch', await cloud.batch(1, 10, [revoked]))).toBe('applied');
  expect(await verdict('mei')).toBe('CREDENTIAL_REVOKED');
  expect(await relay.outcome('batch', issued)).toBe('duplicate');
  expect(await relay.outcome('chunk', old[0] ?? '')).toBe('refused: older');
  const same = await cloud.snapshot(doorRows(['aiko', 'mei'], cloud.lookupKey), { cursor: 10 });
  expect(await relay.outcome('chunk', same[0] ?? '')).toBe('refused: older');
  expect(await relay.outcome('batch', await cloud.batch(2, 11, [revoked]))).toBe('refused: other-epoch');
  expect(await relay.outcome('batch', await cloud.batch(1, 12, [revoked]))).toBe('refused: gap');
  expect(await verdict('mei')).toBe('CREDENTIAL_REVOKED');
});

it('cannot undo an urgent revocation by what lay before it', async () => {
  await renew();
  const gone = cardOf('mei', cloud.lookupKey, { status: 'revoked', version: 30, leaseMs });
  expect(await relay.outcome('urgent', await cloud.urgent(1, 30, [gone]))).toBe('applied');
  expect(await verdict('mei')).toBe('CREDENTIAL_REVOKED');
  const before = put('credential', cardOf('mei', cloud.lookupKey, { version: 11, leaseMs }));
  expect(await relay.outcome('batch', await cloud.batch(1, 10, [before], 30))).toBe('applied');
  expect(await relay.outcome('urgent', await cloud.urgent(1, 29, []))).toBe('refused: older');
  const snapshot = await cloud.snapshot(doorRows(['aiko', 'mei'], cloud.lookupKey), { cursor: 29 });
  expect(await relay.outcome('chunk', snapshot[0] ?? '')).toBe('refused: older');
  expect(await verdict('mei')).toBe('CREDENTIAL_REVOKED');
});

it('cannot renew a lease: not by silence, an old question, another head, or the same answer again', async () => {
  expect(await verdict('aiko')).toBe('REPLICA_STALE');
  const { epoch, cursor, digest } = await standing();
  const ours = { epoch, head: cursor, digest };
  const madeUp = await cloud.lease({ ...ours, nonce: 'A'.repeat(22) });
  expect(await relay.outcome('lease', madeUp)).toBe('refused: nonce-unknown');
  const { nonce: time } = await relay.ask('time');
  expect(await relay.outcome('lease', await cloud.lease({ ...ours, nonce: time }))).toBe('refused: nonce-unknown');
  const { nonce } = await relay.ask('feed');
  const ahead = await cloud.lease({ ...ours, head: cursor + 1, nonce });
  expect(await relay.outcome('lease', ahead)).toBe('refused: not-at-head');
  expect(await verdict('aiko')).toBe('REPLICA_STALE');
  const lease = await cloud.lease({ ...ours, nonce });
  expect(await relay.outcome('lease', lease)).toBe('renewed');
  expect(await verdict('aiko')).toBe('GRANTED');
  expect(await relay.outcome('lease', lease)).toBe('refused: nonce-spent');
});

it('cannot repeat a command, keep it for later, or turn it to another gateway', async () => {
  const { nonce } = await relay.ask('feed');
  const what = { act: 'release', door: 'hall' };
  const command = await cloud.command({ id: 'cmd-1', nonce, what });
  expect(await relay.outcome('command', command)).toBe('obeyed');
  expect(await relay.outcome('command', command)).toBe('duplicate');
  const foreign = await cloud.command({ id: 'cmd-2', nonce, what, gateway: 'gwy_other' });
  expect(await relay.outcome('command', foreign)).toBe('refused: other-gateway');
  const unasked = await cloud.command({ id: 'cmd-3', nonce: 'A'.repeat(22), what });
  expect(await relay.outcome('command', unasked)).toBe('refused: nonce-unknown');
  const forged = await new SigningCloud().command({ id: 'cmd-4', nonce, what });
  expect(await relay.outcome('command', forged)).toBe('refused: wrong-signature');
  const released = (await door.entries()).filter(({ kind }) => kind === 'command.received');
  expect(released.map(({ requestId, body }) => [requestId, body['actor']])).toContainEqual(['cmd-1', 'Operator']);
  expect(released.filter(({ requestId }) => requestId?.startsWith('cmd-'))).toHaveLength(1);
});

it('cannot keep a command over a restart: no question of then is answered any more', async () => {
  const { nonce } = await relay.ask('feed');
  const what = { act: 'mode', door: '*', mode: 'free' };
  const command = await cloud.command({ id: 'cmd-1', nonce, what, lifetimeMs: 60_000 });
  relay.close();
  await door.stop();
  door = await openDoor(door);
  relay = await HandRelay.open(`${door.dir}/run`);
  await expect.poll(() => relay.outcome('command', command), { timeout: 20_000 }).toBe('refused: nonce-unknown');
  expect((await door.status()).doors.map(({ mode }) => mode)).toEqual(['controlled', 'controlled']);
});

it('cannot act of its own: no door, no import, no enrolment, no clock', async () => {
  const refusedCalls = [
    ['release', { door: 'hall' }],
    ['mode', { door: '*', mode: 'free' }],
    ['clock-set', { at: '2026-01-01T00:00:00Z' }],
    ['import-begin', { files: [{ name: 'facility.json', bytes: 1 }] }],
    ['enrol-begin', { code: cloud.code, edgeKey: 'A'.repeat(43) }],
    ['unenrol', {}],
  ] as const;
  for (const [verb, args] of refusedCalls)
    await expect(relay.client.call(verb, args as never)).rejects.toMatchObject({ code: 'NOT_ALLOWED' });
});

it('cannot fake an ack: what the door process signs is what decisions stand on', async () => {
  const before = await standing();
  const change = put('credential', cardOf('mei', cloud.lookupKey, { status: 'revoked', version: 11 }));
  await relay.told({ ack: 'applied', epoch: 1, cursor: 99 });
  expect(await standing()).toMatchObject({ cursor: before.cursor, digest: before.digest, count: before.count + 1 });
  await relay.deliver('batch', await cloud.batch(1, 10, [change]));
  const after = await standing();
  expect(after).toMatchObject({ cursor: 11, gateway });
  expect(after.digest).not.toBe(before.digest);
});

it('cannot let anything be pruned, nor hide a truncation, nor make one up', async () => {
  const upload = await relay.ask('journal');
  const last = upload?.entries.at(-1);
  if (!upload || !last) throw new Error('there is history');
  const { epoch } = upload;
  const forger = new SigningCloud();
  const nextKey = upload.heads.at(-1)?.nextKey ?? '';
  const ack = { epoch, seq: last.seq, hash: last.hash, nextKey };
  expect(await relay.outcome('journal-ack', await forger.journalAck(ack))).toBe('refused: wrong-signature');
  expect((await relay.ask('journal'))?.firstSeq).toBe(upload.firstSeq);
  expect(await relay.outcome('journal-ack', await cloud.journalAck(ack))).toBe('acked');
  const lost = await cloud.journalAck({ ...ack, seq: last.seq + 1_000, hash: 'cd'.repeat(32) });
  expect(await relay.outcome('journal-ack', lost)).toBe('began');
  expect(await relay.outcome('journal-ack', lost)).toBe('acked');
  const anew = await relay.ask('journal');
  expect(anew).toMatchObject({ epoch: epoch + 1, firstSeq: 1, begins: { proof: expect.any(String) } });
  expect(anew?.entries[0]).toMatchObject({ kind: 'journal.lost' });
  expect((await door.status()).alarms.map(({ code }) => code)).toContain('JOURNAL_MISSING');
});

it('cannot keep the history from going up where the cloud has another under the same number: a new epoch begins', async () => {
  const upload = await relay.ask('journal');
  const last = upload?.entries.at(-1);
  if (!upload || !last) throw new Error('there is history');
  const first = upload.heads[0];
  const ack = { epoch: upload.epoch, seq: first?.seq ?? 1, hash: 'ab'.repeat(32), nextKey: first?.nextKey ?? '' };
  const other = await cloud.journalAck(ack);
  expect(await relay.outcome('journal-ack', other)).toBe('began');
  expect((await door.status()).alarms.map(({ code }) => code)).toContain('GATEWAY_FORKED');
  expect(await relay.outcome('journal-ack', other)).toBe('acked');
  const anew = await relay.ask('journal');
  expect(anew).toMatchObject({ epoch: upload.epoch + 1, firstSeq: 1 });
  expect(anew?.entries[0]).toMatchObject({ kind: 'journal.lost' });
});

it('cannot hide that a head was lost with its key: under another one a new epoch begins', async () => {
  const upload = await relay.ask('journal');
  const last = upload?.entries.at(-1);
  if (!upload || !last) throw new Error('there is history');
  const ack = { epoch: upload.epoch, seq: last.seq, hash: last.hash, nextKey: 'B'.repeat(43) };
  expect(await relay.outcome('journal-ack', await cloud.journalAck(ack))).toBe('began');
  expect((await relay.ask('journal'))?.epoch).toBe(upload.epoch + 1);
});

it('cannot hold up the doors: what it asks for too often it does not get, and cards are decided meanwhile', async () => {
  await renew();
  const junk = `${'A'.repeat(200_000)}.${'B'.repeat(300_000)}.${'C'.repeat(86)}`;
  const flood = Array.from({ length: 240 }, (_, index) =>
    (index % 4 !== 0 ? relay.ask('journal') : relay.outcome('batch', junk)).then(
      () => 'answered',
      (error: Error & { code?: string }) => error.code ?? error.message,
    ),
  );
  expect(await verdict('aiko')).toBe('GRANTED');
  const answers = await Promise.all(flood);
  expect(answers.filter((answer) => answer === 'BUSY').length).toBeGreaterThan(50);
  expect(await verdict('mei')).toBe('GRANTED');
});

it('is not believed under a key that was replaced, and the new one is', async () => {
  const before = cloud.feedKey;
  const { privateKey } = generateKeyPairSync('ed25519');
  expect(await relay.outcome('certificate', await cloud.certificate(2, privateKey))).toBe('applied');
  const change = put('credential', cardOf('mei', cloud.lookupKey, { status: 'revoked', version: 11 }));
  expect(await relay.outcome('batch', await cloud.batch(1, 10, [change]))).toBe('refused: wrong-signature');
  cloud.feedKey = privateKey;
  expect(await relay.outcome('batch', await cloud.batch(1, 10, [change]))).toBe('applied');
  expect(await relay.outcome('certificate', await cloud.certificate(1, before))).toBe('refused: older');
});

it('passes on a card for enrolment that it cannot read, and only inside a window that the cloud opened', async () => {
  await door.decided(() => door.swipe('hall', 'stranger'));
  expect(await relay.ask('read')).toBeNull();
  const { nonce } = await relay.ask('feed');
  const what = { act: 'read-card', reader: 'hall', window: 'win-1', seconds: 60 };
  expect(await relay.outcome('command', await cloud.command({ id: 'cmd-w', nonce, what }))).toBe('obeyed');
  await door.decided(() => door.swipe('safe', 'stranger'));
  expect(await relay.ask('read')).toBeNull();
  await door.decided(() => door.swipe('hall', 'stranger'));
  const read = await relay.ask('read');
  expect(read).toMatchObject({ window: 'win-1', reader: 'hall' });
  expect(cloud.openRead(read?.sealed ?? '')).toMatchObject({ bits: expect.stringMatching(/^[01]{37}$/) });
  await relay.told({ read: 'win-1' });
  expect(await relay.ask('read')).toBeNull();
});

it('gives the time only as an answer of seconds, under the cloud’s signature', async () => {
  const { nonce } = await relay.ask('time');
  const now = Date.now();
  expect(await relay.outcome('time', await new SigningCloud().time(nonce, now))).toBe('refused: wrong-signature');
  const asLease = await cloud.sign(statementType.lease, { nonce, at: now });
  expect(await relay.outcome('time', asLease)).toBe('refused: wrong-type');
  expect(await relay.outcome('time', await cloud.time(nonce, now))).toBe('believed');
  expect(await relay.outcome('time', await cloud.time(nonce, now))).toBe('refused: nonce-unknown');
});
