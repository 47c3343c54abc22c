import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPool } from '#cloud/database/pool.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { createDispatcher } from '#cloud/gateway-sync/dispatch.ts';
import { emitFeed } from '#cloud/gateway-sync/emit-feed.ts';
import { numberQueue } from '#cloud/gateway-sync/number-queue.ts';
import { openSync, type SyncRoom, said } from './open-sync.ts';
import type { TestGateway } from './test-gateway.ts';

let room: SyncRoom;
let gateway: TestGateway;
beforeAll(async () => {
  room = await openSync({ isIdle: true });
  await room.emit([said.facility(room.facility), said.holder('hol1'), said.door('dor1')]);
  gateway = await room.gateway();
  await room.bind('dor1', gateway.id);
  await room.sync.dispatcher.dispatchOnce();
  await gateway.catchUp();
});
afterAll(async () => {
  await room.close();
});

interface Group {
  readonly id: number;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
}

async function groups(): Promise<readonly Group[]> {
  const found = await sql<Group>`select id, first_seq, last_seq from feed_group where gateway_id = ${gateway.id}
    order by first_seq nulls last, id`.execute(room.database.admin);
  return found.rows;
}

const admin = () => room.database.admin;

describe('places in a feed', () => {
  it('have no gaps and no doubles when two nodes give them at once', async () => {
    const other = openPool({ url: room.database.url('worker'), size: 4, name: 'second-node' });
    const hinted: string[] = [];
    const node = (database: typeof other) =>
      createDispatcher({
        database,
        hints: { publish: async (ids) => void hinted.push(...ids) },
        onFault: (error) => {
          throw error;
        },
      });
    const nodes = [node(room.database.worker), node(other)];
    try {
      for (let turn = 0; turn < 10; turn += 1) {
        const verbs = Array.from({ length: 8 }, (_, n) => room.emit([said.holder(`hol${n}`, `Turn ${turn}`)]));
        await Promise.all([...verbs, ...nodes.map((one) => one.dispatchOnce())]);
      }
      await nodes[0]?.dispatchOnce();
    } finally {
      await other.destroy();
    }
    const numbered = await groups();
    expect(numbered.length).toBeGreaterThanOrEqual(80);
    for (const [index, group] of numbered.entries()) {
      expect(group.first_seq).toBe((numbered[index - 1]?.last_seq ?? 0) + 1);
    }
    expect(hinted).toContain(gateway.id);
    await gateway.catchUp();
    expect(await gateway.ack()).toMatchObject({ body: { status: 'applied', lease: expect.any(String) } });
  });

  it('are given in the order of commits, not of ids: a slow transaction holds up nobody', async () => {
    let begun: () => void = () => undefined;
    let end: () => void = () => undefined;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const mayEnd = new Promise<void>((resolve) => {
      end = resolve;
    });
    const slow = room.asApp(async (transaction) => {
      await emitFeed(transaction, room.facility, [said.holder('holSlow')]);
      begun();
      await mayEnd;
    });
    await isBegun;
    await room.emit([said.holder('holQuick')]);
    await room.sync.dispatcher.dispatchOnce();
    expect((await gateway.poll()).batch?.changes).toMatchObject([{ row: { id: 'holQuick' } }]);
    end();
    await slow;
    await room.sync.dispatcher.dispatchOnce();
    expect((await gateway.poll()).batch?.changes).toMatchObject([
      { row: { id: 'holQuick' } },
      { row: { id: 'holSlow' } },
    ]);
    await gateway.catchUp();
  });

  it('of one row follow the order in which its changes committed', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, n) => room.emit([said.holder('holRace', `Name ${n}`)])));
    await room.sync.dispatcher.dispatchOnce();
    await gateway.catchUp();
    const last = await sql<{ name: string }>`select row ->> 'name' as name from feed_source
      where kind = 'holder' and key = 'holRace'`.execute(admin());
    expect(gateway.rows.get('holder holRace')?.row).toMatchObject({ name: last.rows[0]?.name });
  });

  it('are not taken by what was rolled back, nor lost with a node that dies while it gives them', async () => {
    const before = await groups();
    await expect(
      room.asApp(async (transaction) => {
        await emitFeed(transaction, room.facility, [said.holder('holNever')]);
        throw new Error('refused');
      }),
    ).rejects.toThrow('refused');
    await room.emit([said.holder('holDies')]);
    const claims = { actor: 'worker:dispatch', facilityIds: [room.facility], gatewayId: gateway.id };
    const owner = { facilityId: room.facility, gatewayId: gateway.id };
    await expect(
      tenantTransaction(room.database.worker, claims, async (transaction) => {
        expect(await numberQueue(transaction, owner)).toBe('numbered');
        throw new Error('the node dies before its commit');
      }),
    ).rejects.toThrow('dies');
    expect((await groups()).at(-1)).toMatchObject({ last_seq: null });
    expect((await gateway.poll()).batch).toBeUndefined();
    await room.sync.dispatcher.dispatchOnce();
    expect((await groups()).length).toBe(before.length + 1);
    expect((await gateway.poll()).batch?.changes).toMatchObject([{ row: { id: 'holDies' } }]);
    await gateway.catchUp();
  });

  it('stay a gateway’s own: a gateway that is out is told nothing more, one that comes later hears all', async () => {
    const late = await room.gateway();
    await room.emit([said.holder('holLate')]);
    await room.sync.dispatcher.dispatchOnce();
    await late.catchUp();
    await gateway.catchUp();
    expect(late.rows.has('holder holLate')).toBe(true);
    expect([...late.rows.keys()].filter((name) => name.startsWith('holder ')).sort()).toEqual(
      [...gateway.rows.keys()].filter((name) => name.startsWith('holder ')).sort(),
    );
    await room.call('POST', `/gateways/${late.id}/revoke`, {});
    await room.emit([said.holder('holLater')]);
    const queued = await sql`select from feed_group where gateway_id = ${late.id} and last_seq is null`.execute(
      admin(),
    );
    expect(queued.rows).toEqual([]);
  });
});

describe('a snapshot', () => {
  it('is served though the feed goes on while it is frozen, and holds up no change', async () => {
    const behind = await room.gateway();
    await room.sync.dispatcher.dispatchOnce();
    const speaking = (async () => {
      for (let n = 0; n < 10; n += 1) {
        await room.emit([said.holder('holMoves', `Name ${n}`)]);
        await room.sync.dispatcher.dispatchOnce();
      }
    })();
    for (let n = 0; n < 5; n += 1) await behind.takeSnapshot();
    await speaking;
    await behind.ack();
    await behind.catchUp();
    expect(behind.rows.get('holder holMoves')?.row).toMatchObject({ name: 'Name 9' });
  });
});

describe('one card', () => {
  it('is one credential: a second with its value is refused before it is said', async () => {
    const lookup = 'ab'.repeat(32);
    await room.emit([said.credential('crd1', { lookup })]);
    await expect(room.emit([said.credential('crd2', { lookup })])).rejects.toMatchObject({ code: '23505' });
    await room.emit([{ op: 'remove', kind: 'credential', id: 'crd1' }, said.credential('crd2', { lookup })]);
    await room.sync.dispatcher.dispatchOnce();
    await gateway.catchUp();
    expect([gateway.rows.has('credential crd1'), gateway.rows.has('credential crd2')]).toEqual([false, true]);
  });
});
