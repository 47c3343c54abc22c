import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepFeed } from '#cloud/gateway-sync/sweep-sync.ts';
import { openSync, type SyncRoom, said } from './open-sync.ts';
import type { TestGateway } from './test-gateway.ts';

let room: SyncRoom;
let gateway: TestGateway;
beforeAll(async () => {
  room = await openSync({ isIdle: true });
  await room.emit([said.facility(room.facility), said.door('dor1')]);
  gateway = await room.gateway();
  await room.bind('dor1', gateway.id);
  await room.sync.dispatcher.dispatchOnce();
  await gateway.catchUp();
});
afterAll(async () => {
  await room.close();
});

const admin = () => room.database.admin;
const age = (days: number) =>
  sql`update feed_group set numbered_at = now() - make_interval(days => ${days})`.execute(admin());

describe('a feed', () => {
  it('is kept for a week; who is further behind takes a snapshot and has all the same rows', async () => {
    await room.emit([said.holder('hol1')]);
    await room.sync.dispatcher.dispatchOnce();
    await age(6);
    await sweepFeed(room.database.worker);
    expect((await gateway.poll()).batch?.changes).toMatchObject([{ row: { id: 'hol1' } }]);
    await age(8);
    await sweepFeed(room.database.worker);
    expect(await gateway.poll()).toMatchObject({ snapshotNeeded: true, urgent: undefined });
    await room.emit([said.credential('crdRevoked', { status: 'revoked' })]);
    await room.sync.dispatcher.dispatchOnce();
    expect(await gateway.poll()).toMatchObject({
      snapshotNeeded: true,
      urgent: { credentials: [{ id: 'crdRevoked' }] },
    });
    await gateway.catchUp();
    expect(gateway.rows.has('holder hol1')).toBe(true);
    await room.emit([said.holder('hol2')]);
    await room.sync.dispatcher.dispatchOnce();
    expect((await gateway.poll()).batch?.changes).toMatchObject([{ row: { id: 'hol2' } }]);
    await gateway.catchUp();
  });

  it('forgets a row that was taken out a month after the door knew it, never before', async () => {
    await room.emit([{ op: 'remove', kind: 'holder', id: 'hol1' }]);
    await room.sync.dispatcher.dispatchOnce();
    const traces = async () =>
      (
        await sql`select from feed_row where gateway_id = ${gateway.id} and key = 'hol1' and row is null`.execute(
          admin(),
        )
      ).rows.length;
    await sql`update feed_row set numbered_at = now() - interval '40 days' where key = 'hol1'`.execute(admin());
    await sweepFeed(room.database.worker);
    expect(await traces()).toBe(1);
    await gateway.catchUp();
    await sweepFeed(room.database.worker);
    expect(await traces()).toBe(0);
  });

  it('keeps of the steps of a cursor only those that still say since when a row is effective', async () => {
    for (let n = 0; n < 6; n += 1) {
      await room.emit([said.holder('holSame', `Name ${n}`)]);
      await room.sync.dispatcher.dispatchOnce();
      await gateway.catchUp();
    }
    const steps = async () =>
      (
        await sql<{
          cursor_seq: number;
        }>`select cursor_seq from feed_effective where gateway_id = ${gateway.id}`.execute(admin())
      ).rows.length;
    const effective = async () =>
      (
        await sql<{ key: string; at: Date }>`select key, app.effective_at(facility_id, gateway_id, seq) as at
          from feed_row where gateway_id = ${gateway.id} order by kind, key`.execute(admin())
      ).rows;
    await sql`update feed_effective set effective_at = effective_at - interval '8 days'`.execute(admin());
    const [many, before] = [await steps(), await effective()];
    await sweepFeed(room.database.worker);
    expect(await steps()).toBeLessThan(many);
    expect(await effective()).toEqual(before);
  });
});

describe('history', () => {
  it('cannot be deleted by anybody before its time', async () => {
    gateway.journal.append('door.opened');
    expect(await gateway.upload()).toMatchObject({ status: 200 });
    const attempt = (pool: typeof room.database.worker) =>
      pool.transaction().execute(async (transaction) => {
        await sql`select set_config('app.facility_ids', ${`{${room.facility}}`}, true)`.execute(transaction);
        return (await sql`delete from journal_entry`.execute(transaction)).numAffectedRows;
      });
    expect(await attempt(room.database.worker)).toBe(0n);
    await expect(attempt(room.database.app)).rejects.toThrow(/permission denied/);
    await expect(attempt(room.database.gateway)).rejects.toThrow(/permission denied/);
    await sweepFeed(room.database.worker);
    const left = await sql`select from journal_entry where gateway_id = ${gateway.id}`.execute(admin());
    expect(left.rows).toHaveLength(1);
  });
});
