import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDelivery } from '#cloud/gateway-sync/read-delivery.ts';
import { feedKinds, repairStatement } from '#shared/contract/sync/feed.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { plainHashOf } from '#shared/replica-columns.ts';
import { addHash, bucketOfId, sumHex } from '#shared/replica-digest.ts';
import { signStatement } from '#shared/signed-statement.ts';
import { openSync, type SyncRoom, said } from './open-sync.ts';
import { newNonce, type TestGateway } from './test-gateway.ts';

let room: SyncRoom;
beforeAll(async () => {
  room = await openSync();
  await room.emit([said.facility(room.facility), said.holder('hol1'), said.door('dor1'), said.door('dor2')]);
});
afterAll(async () => {
  await room.close();
});

/** A confirmed gateway that works a door of its own, at the head. */
async function withDoor(door: string): Promise<TestGateway> {
  await room.emit([said.door(door)]);
  const gateway = await room.gateway();
  await room.bind(door, gateway.id);
  await settled();
  await gateway.catchUp();
  return gateway;
}

/** Nothing waits for a place. */
async function settled(): Promise<void> {
  const waiting = async (): Promise<number | undefined> => {
    const open = sql<{ n: number }>`select count(*) as n from feed_group where last_seq is null`;
    return (await open.execute(room.database.admin)).rows[0]?.n;
  };
  await expect.poll(waiting, { timeout: 60_000 }).toBe(0);
}

const deliveryOf = async (credential: string) =>
  await room.asApp((transaction) => readDelivery(transaction, room.facility, [credential]));

describe('what a facility says', () => {
  it('reaches a gateway that comes in by a snapshot with the key for its credentials', async () => {
    const gateway = await room.gateway();
    await settled();
    expect(await gateway.poll()).toMatchObject({ snapshotNeeded: true });
    const [chunk] = await gateway.takeSnapshot();
    expect(chunk).toMatchObject({ index: 0, isLast: true });
    expect([...gateway.rows.keys()]).toEqual([`facility ${room.facility}`, 'holder hol1']);
    expect(gateway.lookupKey).toEqual(room.lookupKey);
    expect(await gateway.ack()).toMatchObject({ status: 200, body: { status: 'applied' } });
    expect(await gateway.poll()).toMatchObject({ snapshotNeeded: false, batch: undefined });
  });

  it('reaches it afterwards in signed batches, complete from where it stands', async () => {
    const gateway = await withDoor('dorA');
    await room.emit([said.credential('crdA'), said.grant('crdA', 'dorA')]);
    await settled();
    const { batch, head } = await gateway.poll();
    expect(batch).toMatchObject({ from: gateway.cursor, to: head, head });
    expect(batch?.changes.map(({ kind }) => kind)).toEqual(['credential', 'grant']);
    if (batch) gateway.apply(batch);
    expect(gateway.rows.get('credential crdA')?.row.version).toBe(gateway.cursor - 1);
    expect(await gateway.ack()).toMatchObject({ body: { status: 'applied', lease: expect.any(String) } });
  });

  it('goes to the gateway of the door only, and with the door where that goes', async () => {
    const first = await withDoor('dorB');
    const second = await withDoor('dorC');
    await room.emit([said.credential('crdB'), said.grant('crdB', 'dorB')]);
    await settled();
    await first.catchUp();
    await second.catchUp();
    const grant = 'grant crdB dorB grt_crdB';
    expect([first.rows.has(grant), second.rows.has(grant)]).toEqual([true, false]);
    await room.bind('dorB', second.id);
    await settled();
    await first.catchUp();
    await second.catchUp();
    expect([first.rows.has(grant), second.rows.has(grant)]).toEqual([false, true]);
    expect([first.rows.has('door dorB'), second.rows.has('door dorB')]).toEqual([false, true]);
    await room.bind('dorB', first.id);
    await settled();
    await first.catchUp();
    expect(first.rows.has(grant)).toBe(true);
  });

  it('comes in whole groups: a group of changes is never divided between batches', async () => {
    const gateway = await withDoor('dorD');
    const group = (name: string) => Array.from({ length: 300 }, (_, n) => said.holder(`${name}${n}`));
    await room.emit(group('x'));
    await room.emit(group('y'));
    await settled();
    const sizes: number[] = [];
    for (;;) {
      const { batch } = await gateway.poll();
      if (!batch) break;
      sizes.push(batch.changes.length);
      gateway.apply(batch);
      await gateway.ack();
    }
    expect(sizes).toEqual([300, 300]);
  });

  it('wakes a poll that waits, which holds no connection meanwhile', async () => {
    const gateway = await withDoor('dorE');
    const before = room.sync.waiters.count();
    const waiting = gateway.poll(20_000);
    await expect.poll(() => room.sync.waiters.count()).toBe(before + 1);
    const held = await sql<{ n: number }>`select count(*) as n from pg_stat_activity
      where application_name = 'test-gateway' and state <> 'idle' and datname = current_database()`.execute(
      room.database.admin,
    );
    expect(held.rows[0]?.n).toBe(0);
    await room.emit([said.holder('holE')]);
    expect((await waiting).batch?.changes).toMatchObject([{ kind: 'holder', row: { id: 'holE' } }]);
  });

  it('leaves out kinds that a gateway does not know, and stops before one that it must not miss', async () => {
    const gateway = await withDoor('dorF');
    gateway.kinds = Object.entries(feedKinds)
      .filter(([kind]) => kind !== 'holder')
      .map(([kind, version]) => `${kind}:${version}`)
      .join(',');
    await room.emit([said.holder('holF')]);
    await settled();
    const { batch } = await gateway.poll();
    expect(batch).toMatchObject({ changes: [] });
    if (batch) gateway.apply(batch);
    for (const name of [...gateway.rows.keys()]) if (name.startsWith('holder ')) gateway.rows.delete(name);
    expect(await gateway.ack()).toMatchObject({ body: { status: 'applied', lease: expect.any(String) } });

    gateway.kinds = gateway.kinds.replace('credential:1', 'credential:0');
    await room.emit([said.credential('crdF')]);
    await settled();
    const stopped = (await gateway.poll()).batch;
    expect(stopped).toMatchObject({ from: gateway.cursor, to: gateway.cursor, unsupported: 'credential', changes: [] });
  });

  it('sends what restricts before its turn to a gateway that is more than a batch behind', async () => {
    const gateway = await withDoor('dorG');
    for (const part of ['p', 'q']) {
      await room.emit(Array.from({ length: 400 }, (_, n) => said.holder(`hol${part}${n}`)));
    }
    await room.emit([said.credential('crdG', { status: 'revoked' }), said.credential('crdH')]);
    await settled();
    const { batch, urgent, head } = await gateway.poll();
    expect(batch?.to).toBeLessThan(head);
    expect(urgent).toMatchObject({ head, credentials: [{ id: 'crdG', status: 'revoked' }] });
    expect(urgent?.credentials).toHaveLength(1);
    await gateway.catchUp();
    const last = gateway.rows.get('credential crdG')?.row.version;
    expect(urgent?.credentials[0]?.version).toBe(last);
  });
});

describe('an ack', () => {
  it('makes a credential effective from the time the door process says, and only then', async () => {
    const gateway = await withDoor('dorI');
    await room.emit([said.credential('crdI'), said.grant('crdI', 'dorI')]);
    expect(await deliveryOf('crdI')).toMatchObject([{ door: 'dorI', gateway: gateway.id, state: 'pending_at_door' }]);
    await settled();
    const { batch } = await gateway.poll();
    if (batch) gateway.apply(batch);
    expect(await deliveryOf('crdI')).toMatchObject([{ state: 'pending_at_door' }]);
    const at = Date.now() - 5_000;
    await gateway.ack({ at });
    expect(await deliveryOf('crdI')).toMatchObject([{ state: 'effective_at_door', since: new Date(at) }]);
    await room.emit([said.credential('crdI', { status: 'revoked' })]);
    expect(await deliveryOf('crdI')).toMatchObject([{ state: 'pending_at_door' }]);
    await sql`update gateway_health set last_seen_at = now() - interval '5 minutes' where gateway_id = ${gateway.id}`.execute(
      room.database.admin,
    );
    expect(await deliveryOf('crdI')).toMatchObject([{ state: 'unreachable', lastSeenAt: expect.any(Date) }]);
    await settled();
    await gateway.catchUp();
    expect(await deliveryOf('crdI')).toMatchObject([{ state: 'effective_at_door' }]);
  });

  it('counts as now where it claims to be of the future, or the door process does not know the time', async () => {
    const gateway = await withDoor('dorJ');
    for (const at of [Date.now() + 3_600_000, null]) {
      await room.emit([said.credential('crdJ'), said.grant('crdJ', 'dorJ')]);
      await settled();
      const { batch } = await gateway.poll();
      if (batch) gateway.apply(batch);
      await gateway.ack({ at });
      const [delivery] = await deliveryOf('crdJ');
      expect(Math.abs((delivery?.since.getTime() ?? 0) - Date.now())).toBeLessThan(30_000);
    }
  });

  it('of a boot counts once and in order; a forged or foreign one changes nothing and is counted', async () => {
    const gateway = await withDoor('dorK');
    const other = await withDoor('dorL');
    const first = await gateway.ackStatement();
    const second = await gateway.ackStatement();
    const send = (ack: string) => gateway.send('POST', '/gateway/v1/feed/ack', { body: { ack } });
    expect(await send(second)).toMatchObject({ body: { status: 'applied' } });
    expect(await send(second)).toMatchObject({ body: { status: 'noop' } });
    expect(await send(first)).toMatchObject({ body: { status: 'noop' } });
    const before = await room.ignored('/feed/ack', 'wrong-signature');
    expect(await send(await other.ackStatement())).toMatchObject({ status: 422, body: { code: 'STATEMENT_INVALID' } });
    expect(await room.ignored('/feed/ack', 'wrong-signature')).toBe(before + 1);
    expect(await send(await gateway.ackStatement({ gateway: other.id }))).toMatchObject({ status: 422 });
    const byEdge = await signStatement(statementType.feedAck, { cursor: 1 }, gateway.edge);
    expect(await send(byEdge)).toMatchObject({ status: 422, body: { code: 'STATEMENT_INVALID' } });
    const wrongType = await signStatement(statementType.enrolmentProof, {}, gateway.door);
    expect(await send(wrongType)).toMatchObject({ status: 422 });
    expect(await room.ignored('/feed/ack', 'wrong-type')).toBe(1);
  });

  it('from before, replayed after the door process went back, does not make anything effective again', async () => {
    const gateway = await withDoor('dorM');
    await room.emit([said.credential('crdM'), said.grant('crdM', 'dorM')]);
    await settled();
    const old = gateway.cursor;
    await gateway.catchUp();
    const ahead = await gateway.ackStatement();
    await gateway.ack();
    expect(await deliveryOf('crdM')).toMatchObject([{ state: 'effective_at_door' }]);
    const rebooted = { bootId: 'after-restore', count: 1 };
    await gateway.ack({ ...rebooted, cursor: old, digest: '0'.repeat(64) });
    expect(await deliveryOf('crdM')).toMatchObject([{ state: 'pending_at_door' }]);
    await gateway.send('POST', '/gateway/v1/feed/ack', { body: { ack: ahead } });
    expect(await deliveryOf('crdM')).toMatchObject([{ state: 'pending_at_door' }]);
    expect(await room.call('GET', '/alarms')).toMatchObject({
      body: {
        items: expect.arrayContaining([expect.objectContaining({ code: 'GATEWAY_REGRESSED', gateway: gateway.id })]),
      },
    });
  });
});

describe('an ack beyond the head', () => {
  it('says that an older database was put back: the feed goes on above it, never again in its places', async () => {
    const gateway = await withDoor('dorAhead');
    const head = gateway.cursor;
    gateway.cursor = head + 10;
    expect(await gateway.ack()).toMatchObject({ body: { status: 'applied', lease: expect.any(String) } });
    expect(await room.call('GET', `/gateways/${gateway.id}`)).toMatchObject({
      body: { feed: { head: head + 10 }, alarms: ['CLOUD_REGRESSED'] },
    });
    await room.emit([said.holder('holAhead')]);
    await settled();
    expect((await gateway.poll()).batch).toMatchObject({ from: head + 10, to: head + 11 });
    await gateway.catchUp();
    expect(gateway.rows.get('holder holAhead')?.row.version).toBe(head + 11);
  });

  it('in the middle of a group, or of another feed there, counts for nothing until a snapshot is taken', async () => {
    const gateway = await withDoor('dorStray');
    await room.emit([said.credential('crdStray'), said.grant('crdStray', 'dorStray')]);
    await settled();
    const before = gateway.cursor;
    gateway.cursor = before + 1;
    expect(await gateway.ack()).toMatchObject({ body: { status: 'applied' } });
    expect(await deliveryOf('crdStray')).toMatchObject([{ state: 'pending_at_door' }]);
    expect(await gateway.poll()).toMatchObject({ snapshotNeeded: true });
    await gateway.catchUp();
    expect(await deliveryOf('crdStray')).toMatchObject([{ state: 'effective_at_door' }]);
  });
});

describe('contact', () => {
  it('is signed for the nonce of who stands at the head with the right sum, and for nobody else', async () => {
    const gateway = await withDoor('dorN');
    const nonce = newNonce();
    expect((await gateway.poll(0, nonce)).lease).toMatchObject({
      nonce,
      epoch: gateway.epoch,
      head: gateway.cursor,
      digest: gateway.digest(),
    });
    await room.emit([said.holder('holN')]);
    await settled();
    expect((await gateway.poll()).lease).toBeUndefined();
    await gateway.catchUp();
    expect((await gateway.poll()).lease).toBeDefined();
    await gateway.ack({ digest: '0'.repeat(64) });
    expect((await gateway.poll()).lease).toBeUndefined();
  });
});

describe('a gateway whose rows are not what they should be', () => {
  it('is told so, and given the rows of the buckets that differ', async () => {
    const gateway = await withDoor('dorO');
    await room.emit(Array.from({ length: 50 }, (_, n) => said.holder(`holO${n}`)));
    await settled();
    await gateway.catchUp();
    gateway.rows.delete('holder holO7');
    expect(await gateway.ack()).toMatchObject({ body: { status: 'differs' } });
    const sums = new Map<number, bigint>();
    for (const { kind, row } of gateway.rows.values()) {
      if (kind !== 'holder') continue;
      const bucket = bucketOfId(row.id);
      sums.set(bucket, addHash(sums.get(bucket) ?? 0n, plainHashOf('holder', row)));
    }
    const body = {
      epoch: gateway.epoch,
      cursor: gateway.cursor,
      kind: 'holder',
      sums: Object.fromEntries([...sums].map(([bucket, sum]) => [bucket, sumHex(sum)])),
    };
    const answer = await gateway.send('POST', '/gateway/v1/feed/repair', { body });
    const repair = await gateway.verified(statementType.repair, repairStatement, answer.body.repair);
    expect(repair.buckets).toEqual([bucketOfId('holO7')]);
    expect(repair.rows.map(({ row }) => 'id' in row && row.id)).toContain('holO7');
    for (const put of repair.rows) if (put.kind === 'holder') gateway.rows.set(`holder ${put.row.id}`, put);
    expect(await gateway.ack()).toMatchObject({ body: { status: 'applied', lease: expect.any(String) } });
  });
});

describe('a snapshot', () => {
  it('comes in pieces that can be fetched again and show one place, whatever is said meanwhile', async () => {
    const gateway = await room.gateway();
    const many = Array.from({ length: 3_000 }, (_, n) => said.credential(`crdS${n}`));
    for (let at = 0; at < many.length; at += 500) await room.emit(many.slice(at, at + 500));
    await settled();
    const first = await gateway.send('GET', '/gateway/v1/snapshot?index=0');
    await room.emit([said.holder('holS')]);
    await settled();
    const chunks = await gateway.takeSnapshot();
    expect(chunks.length).toBeGreaterThan(1);
    expect(gateway.rows.size).toBeGreaterThan(3_000);
    expect(new Set(chunks.map(({ cursor }) => cursor)).size).toBe(1);
    expect(first.status).toBe(200);
    const { snapshot } = chunks[0] ?? {};
    const again = await gateway.send('GET', `/gateway/v1/snapshot?index=1&snapshot=${snapshot}`);
    expect(again.status).toBe(200);
    expect(await gateway.send('GET', `/gateway/v1/snapshot?index=900&snapshot=${snapshot}`)).toMatchObject({
      status: 409,
      body: { code: 'SNAPSHOT_GONE' },
    });
    expect(await gateway.send('GET', '/gateway/v1/snapshot?index=0&snapshot=snp_other')).toMatchObject({ status: 409 });
    await gateway.ack();
    await gateway.catchUp();
    expect(gateway.rows.has('holder holS')).toBe(true);
  });
});

describe('signed time', () => {
  it('is given to whoever asks, for the nonce asked with', async () => {
    const gateway = await room.gateway();
    const nonce = newNonce();
    const answer = await gateway.send('GET', `/gateway/v1/time?nonce=${nonce}`, { token: null });
    expect(answer.status).toBe(200);
    const { timeStatement } = await import('#shared/contract/sync/feed.ts');
    expect(await gateway.verified(statementType.time, timeStatement, answer.body.time)).toMatchObject({ nonce });
  });
});
