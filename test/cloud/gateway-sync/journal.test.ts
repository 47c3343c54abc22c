import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processInbox } from '#cloud/database/inbox.ts';
import { gatewaySourcePrefix, handleEntry } from '#cloud/gateway-sync/handle-entry.ts';
import { journalAckStatement } from '#shared/contract/sync/journal.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { signStatement, toBase64url } from '#shared/signed-statement.ts';
import { openSync, type SyncRoom } from './open-sync.ts';
import type { TestGateway } from './test-gateway.ts';
import { TestJournal } from './test-journal.ts';

let room: SyncRoom;
beforeAll(async () => {
  room = await openSync();
});
afterAll(async () => {
  await room.close();
});

const storedOf = async (gateway: TestGateway): Promise<number> => {
  const found = await sql<{
    n: number;
  }>`select count(*) as n from journal_entry where gateway_id = ${gateway.id}`.execute(room.database.admin);
  return found.rows[0]?.n ?? -1;
};

const ackOf = (gateway: TestGateway, jws: string) =>
  gateway.verified(statementType.journalAck, journalAckStatement, jws);

async function withHistory(count: number): Promise<TestGateway> {
  const gateway = await room.gateway();
  for (let n = 0; n < count; n += 1) gateway.journal.append('door.opened');
  expect(await gateway.upload()).toMatchObject({ status: 200 });
  gateway.journal.acked = count;
  return gateway;
}

describe('a piece of history', () => {
  it('is stored whole and answered with a signed ack of the last entry', async () => {
    const gateway = await room.gateway();
    for (const kind of ['gateway.started', 'door.opened', 'door.closed']) gateway.journal.append(kind);
    const answer = await gateway.upload();
    const last = gateway.journal.entries[2];
    expect(await ackOf(gateway, answer.body.ack)).toMatchObject({
      gateway: gateway.id,
      epoch: 1,
      seq: 3,
      hash: last?.hash,
      nextKey: gateway.journal.heads.at(-1)?.nextKey,
    });
    const listed = await room.call('GET', '/journal?limit=3');
    expect(listed.body.items.map(({ kind }: { kind: string }) => kind)).toEqual([
      'door.closed',
      'door.opened',
      'gateway.started',
    ]);
  });

  it('sent again, or overlapping what was sent, is stored once', async () => {
    const gateway = await withHistory(3);
    expect(await gateway.upload(gateway.journal.upload(1))).toMatchObject({ status: 200 });
    gateway.journal.append('door.opened');
    const overlap = await gateway.upload(gateway.journal.upload(2));
    expect(await ackOf(gateway, overlap.body.ack)).toMatchObject({ seq: 4 });
    expect(await storedOf(gateway)).toBe(4);
  });

  it('sent at the same time by two connections is stored once', async () => {
    const gateway = await room.gateway();
    for (let n = 0; n < 40; n += 1) gateway.journal.append('door.opened');
    const piece = gateway.journal.upload(1);
    const answers = await Promise.all(Array.from({ length: 4 }, () => gateway.upload(piece)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await storedOf(gateway)).toBe(40);
  });

  it('that leaves something out is refused with where the cloud stands', async () => {
    const gateway = await withHistory(2);
    gateway.journal.append('door.opened');
    gateway.journal.append('door.closed');
    const answer = await gateway.upload(gateway.journal.upload(4));
    expect(answer).toMatchObject({ status: 409, body: { code: 'JOURNAL_GAP', current: { epoch: 1, seq: 2 } } });
    expect(await ackOf(gateway, answer.body.current.ack)).toMatchObject({ seq: 2 });
    expect(await storedOf(gateway)).toBe(2);
  });

  it('that was edited, cut, reordered or signed by another key changes nothing and is counted', async () => {
    const gateway = await withHistory(1);
    for (const kind of ['door.opened', 'door.closed', 'door.opened']) gateway.journal.append(kind);
    // biome-ignore lint/suspicious/noExplicitAny: pieces are bent in every way.
    const piece = gateway.journal.upload() as any;
    const [first, second, third] = piece.entries;
    const stranger = new TestJournal();
    stranger.append('x');
    const bent: readonly (readonly [string, object])[] = [
      ['edited', { entries: [{ ...first, kind: 'door.closed' }, second, third] }],
      ['edited', { entries: [{ ...first, at: first.at + 1 }, second, third] }],
      ['misnumbered', { entries: [second, first, third] }],
      ['misnumbered', { entries: [first, third] }],
      ['unsigned-end', { entries: [first, second, third], heads: [] }],
      ['head-differs', { entries: [first, second] }],
    ];
    for (const [reason, changes] of bent) {
      const before = await room.ignored('/journal', reason);
      expect(await gateway.upload({ ...piece, ...changes })).toMatchObject({
        status: 422,
        body: { code: 'STATEMENT_INVALID' },
      });
      expect(await room.ignored('/journal', reason)).toBe(before + 1);
    }
    expect(await storedOf(gateway)).toBe(1);
    expect(await gateway.upload(piece)).toMatchObject({ status: 200 });
  });

  it('under a head of another key changes nothing, and is told by a signed ack which entry and key the cloud knows', async () => {
    const gateway = await withHistory(1);
    gateway.journal.append('door.opened');
    // biome-ignore lint/suspicious/noExplicitAny: heads are bent.
    const piece = gateway.journal.upload() as any;
    const [head] = piece.heads;
    for (const change of [{ signature: toBase64url(randomBytes(64)) }, { nextKey: toBase64url(randomBytes(32)) }]) {
      const before = await room.ignored('/journal', 'head-forged');
      const answer = await gateway.upload({ ...piece, heads: [{ ...head, ...change }] });
      expect(answer).toMatchObject({ status: 409, body: { code: 'JOURNAL_FORKED', current: { epoch: 1, seq: 1 } } });
      const { current } = answer.body as { current: { ack: string } };
      expect(await ackOf(gateway, current.ack)).toMatchObject({ seq: 1, nextKey: expect.any(String) });
      expect(await room.ignored('/journal', 'head-forged')).toBe(before + 1);
    }
    expect(await storedOf(gateway)).toBe(1);
    expect(await gateway.upload(piece)).toMatchObject({ status: 200 });
  });

  it('keeps values about persons apart from the chain, where they can be erased', async () => {
    const gateway = await room.gateway();
    const salt = randomBytes(16);
    const value = '{"holder":"Hana"}';
    const personalHash = createHash('sha256').update(salt).update(value).digest('hex');
    gateway.journal.append('access.granted', {
      requestId: 'reqPersonal',
      personalHash,
      personal: { salt: toBase64url(salt), value },
    });
    expect(await gateway.upload()).toMatchObject({ status: 200 });
    const { body } = await room.call('GET', '/journal?request=reqPersonal');
    expect(body.items).toMatchObject([{ kind: 'access.granted', personal: { holder: 'Hana' } }]);
    await room.asApp((transaction) =>
      sql`delete from journal_personal where facility_id = ${room.facility} and gateway_id = ${gateway.id}`.execute(
        transaction,
      ),
    );
    const after = await room.call('GET', '/journal?request=reqPersonal');
    expect(after.body.items[0]).not.toHaveProperty('personal');
  });
});

describe('a journal that lost something', () => {
  it('goes on behind a gap that the door process itself signed, and an alarm says so', async () => {
    const gateway = await withHistory(2);
    for (let n = 0; n < 4; n += 1) gateway.journal.append('door.opened');
    gateway.journal.sign();
    for (let n = 0; n < 2; n += 1) gateway.journal.append('door.closed');
    const { entries, heads } = gateway.journal;
    const gap = {
      gateway: gateway.id,
      epoch: 1,
      fromSeq: 3,
      toSeq: 6,
      lastHash: entries[5]?.hash,
      nextKey: heads.at(-1)?.nextKey,
    };
    const signed = await signStatement(statementType.journalGap, gap, gateway.door);
    const forged = await signStatement(statementType.journalGap, gap, gateway.edge);
    const piece = gateway.journal.upload(7);
    expect(await gateway.upload({ ...piece, gap: forged })).toMatchObject({ status: 422 });
    expect(await gateway.upload({ ...piece, gap: signed })).toMatchObject({ status: 200 });
    expect(await storedOf(gateway)).toBe(4);
    expect(await gateway.upload({ ...piece, gap: signed })).toMatchObject({ status: 200 });
    const alarms = await room.call('GET', '/alarms');
    expect(alarms.body.items).toContainEqual(
      expect.objectContaining({
        code: 'JOURNAL_MISSING',
        gateway: gateway.id,
        detail: { epoch: 1, fromSeq: 3, toSeq: 6 },
      }),
    );
  });

  it('begins anew in a later epoch by the word of the door process', async () => {
    const gateway = await withHistory(3);
    const next = new TestJournal();
    next.epoch = 2;
    next.append('journal.lost', { body: '{"aside":null}' });
    const prevHash = '0'.repeat(64);
    const firstKey = toBase64url(next.firstKey);
    const beginning = { gateway: gateway.id, epoch: 2, firstKey, prevHash, before: { epoch: 1, seq: 3 } };
    const proof = await signStatement(statementType.journalBeginning, beginning, gateway.door);
    const forged = await signStatement(statementType.journalBeginning, beginning, gateway.edge);
    expect(await gateway.upload(next.upload(1))).toMatchObject({ status: 409, body: { code: 'JOURNAL_GAP' } });
    expect(await gateway.upload({ ...next.upload(1), begins: { firstKey, proof: forged } })).toMatchObject({
      status: 422,
    });
    const answer = await gateway.upload({ ...next.upload(1), begins: { firstKey, proof } });
    expect(await ackOf(gateway, answer.body.ack)).toMatchObject({ epoch: 2, seq: 1 });
    gateway.journal.append('door.opened');
    expect(await gateway.upload()).toMatchObject({ status: 409, body: { code: 'JOURNAL_GAP', current: { epoch: 2 } } });
    expect(await storedOf(gateway)).toBe(4);
  });
});

describe('two copies of one box', () => {
  it('are found out by the second history under one number: both are kept, the gateway is set apart', async () => {
    const gateway = await withHistory(2);
    const copy = gateway.journal.copy();
    gateway.journal.append('door.opened');
    expect(await gateway.upload()).toMatchObject({ status: 200 });
    copy.append('door.closed');
    const answer = await gateway.upload(copy.upload(3));
    expect(answer).toMatchObject({ status: 409, body: { code: 'JOURNAL_FORKED', current: { epoch: 1, seq: 3 } } });
    await gateway.upload(copy.upload(3));
    const forks = await sql<{
      seq: number;
      told: object[];
    }>`select seq, told from journal_fork where gateway_id = ${gateway.id}`.execute(room.database.admin);
    expect(forks.rows).toMatchObject([{ seq: 3, told: [{ kind: 'door.closed' }] }]);
    expect(await room.call('GET', `/gateways/${gateway.id}`)).toMatchObject({
      body: { status: 'quarantined', alarms: ['GATEWAY_FORKED'] },
    });
    expect(await room.call('POST', `/gateways/${gateway.id}/refresh`, {})).toMatchObject({ status: 422 });
    expect(await room.call('POST', `/gateways/${gateway.id}/release`, {})).toMatchObject({
      body: { item: { status: 'active' } },
    });
  });
});

describe('what history tells', () => {
  it('is done once, however often it is sent; of an alarm the last word counts, in whatever order events are processed', async () => {
    const parts = {
      database: room.database.worker,
      sourcePrefix: gatewaySourcePrefix,
      handle: handleEntry,
      onFault: (error: unknown) => {
        throw error;
      },
    };
    await processInbox(parts);
    const gateway = await room.gateway();
    const body = '{"code":"DEVICE_OFFLINE","detail":"","device":"dev1"}';
    for (let turn = 0; turn < 3; turn += 1) {
      gateway.journal.append('alarm.raised', { body });
      gateway.journal.append('alarm.cleared', { body });
    }
    gateway.journal.append('alarm.raised', { body });
    const piece = gateway.journal.upload(1);
    for (let turn = 0; turn < 3; turn += 1) expect(await gateway.upload(piece)).toMatchObject({ status: 200 });
    expect(await processInbox(parts)).toBe(7);
    expect(await processInbox(parts)).toBe(0);
    const standing = async (): Promise<number> =>
      (
        await sql`select from gateway_alarm where gateway_id = ${gateway.id} and code = 'DEVICE_OFFLINE'
          and cleared_at is null`.execute(room.database.admin)
      ).rows.length;
    expect(await standing()).toBe(1);
    gateway.journal.acked = 7;
    gateway.journal.append('alarm.cleared', { body });
    expect(await gateway.upload()).toMatchObject({ status: 200 });
    expect(await processInbox(parts)).toBe(1);
    expect(await standing()).toBe(0);
  });
});
