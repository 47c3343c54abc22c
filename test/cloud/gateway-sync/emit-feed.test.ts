import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedDraft } from '#cloud/gateway-sync/feed-draft.ts';
import { identifier } from '#shared/identifier.ts';
import { openSync, type SyncRoom, said } from './open-sync.ts';
import type { TestGateway } from './test-gateway.ts';

let room: SyncRoom;
let [one, other]: TestGateway[] = [];
beforeAll(async () => {
  room = await openSync({ isIdle: true });
  await room.emit([said.facility(room.facility), said.holder('hol1'), said.door('dor1'), said.door('dor2')]);
  one = await room.gateway();
  other = await room.gateway();
  await room.bind('dor1', one.id);
  await room.bind('dor2', other.id);
});
afterAll(async () => {
  await room.close();
});

/** `gateway op kind key` of what is queued for whom, and forgets it. */
async function queued(): Promise<readonly string[]> {
  const found = await sql<{ line: string }>`select c.gateway_id || ' ' || c.op || ' ' || c.kind || ' ' || c.key as line
    from feed_change c join feed_group g on g.facility_id = c.facility_id and g.id = c.group_id
    where g.last_seq is null order by g.id, c.place`.execute(room.database.admin);
  await room.sync.dispatcher.dispatchOnce();
  return found.rows.map(({ line }) => line.replace(one?.id ?? '-', 'one').replace(other?.id ?? '-', 'other'));
}

const reader = (door: string): FeedDraft => ({
  op: 'put',
  kind: 'reader',
  row: {
    id: identifier('rdr1'),
    name: 'Reader',
    door: identifier(door),
    device: identifier('dev1'),
    head: 0,
    fromArea: null,
    toArea: null,
    uidOrder: 'as-sent',
    cardFormats: [],
  },
});

describe('a change', () => {
  it('of what all doors need goes to every gateway of the facility, once each', async () => {
    await queued();
    await room.emit([said.holder('hol2')]);
    expect((await queued()).toSorted()).toEqual(['one put holder hol2', 'other put holder hol2']);
  });

  it('of a door goes to its gateway; of a door without one it is kept until it has one', async () => {
    await room.emit([said.door('dor1'), said.door('dor3')]);
    expect(await queued()).toEqual(['one put door dor1']);
    await room.bind('dor3', other?.id ?? '');
    expect(await queued()).toEqual(['other put door dor3']);
    await room.bind('dor3', null);
    expect(await queued()).toEqual(['other remove door dor3']);
  });

  it('of a reader that moves takes it out where it was', async () => {
    await room.emit([reader('dor1')]);
    expect(await queued()).toEqual(['one put reader rdr1']);
    await room.emit([reader('dor2')]);
    expect(await queued()).toEqual(['one remove reader rdr1', 'other put reader rdr1']);
    await room.emit([{ op: 'remove', kind: 'reader', id: 'rdr1' }]);
    expect(await queued()).toEqual(['other remove reader rdr1']);
  });

  it('keeps its order: what frees a card comes before what takes it', async () => {
    const lookup = 'cd'.repeat(32);
    await room.emit([said.credential('crdOld', { lookup })]);
    await queued();
    await room.emit([{ op: 'remove', kind: 'credential', id: 'crdOld' }, said.credential('crdNew', { lookup })]);
    const lines = (await queued()).filter((line) => line.startsWith('one'));
    expect(lines).toEqual(['one remove credential crdOld', 'one put credential crdNew']);
  });

  it('of many rows is divided into groups that each fit into a batch', async () => {
    await room.emit(Array.from({ length: 1_234 }, (_, n) => said.credential(`crdM${n}`)));
    const groups = await sql<{
      change_count: number;
      byte_count: number;
      last: number;
    }>`select change_count, byte_count,
        (select max(place) + 1 from feed_change c where c.facility_id = g.facility_id and c.group_id = g.id) as last
      from feed_group g where last_seq is null and gateway_id = ${one?.id} order by id`.execute(room.database.admin);
    expect(groups.rows.reduce((sum, { change_count }) => sum + change_count, 0)).toBe(1_234);
    for (const { change_count, byte_count, last } of groups.rows) {
      expect(change_count).toBeLessThanOrEqual(500);
      expect(byte_count).toBeLessThanOrEqual(256 * 1_024);
      expect(last).toBe(change_count);
    }
    await queued();
  });
});

describe('who comes between', () => {
  it('hears of what was being said while it came in', async () => {
    let end: () => void = () => undefined;
    const mayEnd = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begun: () => void = () => undefined;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { emitFeed } = await import('#cloud/gateway-sync/emit-feed.ts');
    const speaking = room.asApp(async (transaction) => {
      await emitFeed(transaction, room.facility, [said.holder('holBetween')]);
      begun();
      await mayEnd;
    });
    await isBegun;
    const coming = room.gateway();
    const waits = async (): Promise<number | undefined> => {
      const found = await sql<{ n: number }>`select count(*) as n from pg_locks
        where locktype = 'advisory' and not granted`.execute(room.database.admin);
      return found.rows[0]?.n;
    };
    await expect.poll(waits, { timeout: 20_000 }).toBeGreaterThan(0);
    end();
    await speaking;
    const late = await coming;
    await room.sync.dispatcher.dispatchOnce();
    await late.catchUp();
    expect(late.rows.has('holder holBetween')).toBe(true);
  });
});
