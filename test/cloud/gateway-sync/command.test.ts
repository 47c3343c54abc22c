import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processInbox } from '#cloud/database/inbox.ts';
import { gatewaySourcePrefix, handleEntry } from '#cloud/gateway-sync/handle-entry.ts';
import { sweepCommands } from '#cloud/gateway-sync/sweep-sync.ts';
import { openSync, type SyncRoom, said } from './open-sync.ts';
import { newNonce, type TestGateway } from './test-gateway.ts';

let room: SyncRoom;
let gateway: TestGateway;
beforeAll(async () => {
  room = await openSync();
  await room.emit([said.facility(room.facility), said.door('dor1'), said.door('dor2')]);
  gateway = await room.gateway();
  await room.bind('dor1', gateway.id);
  await gateway.catchUp();
});
afterAll(async () => {
  await room.close();
});

const process = () =>
  processInbox({
    database: room.database.worker,
    sourcePrefix: gatewaySourcePrefix,
    handle: handleEntry,
    onFault: (error) => {
      throw error;
    },
  });

async function tell(kind: string, requestId: string, body = '{}'): Promise<void> {
  gateway.journal.append(kind, { requestId, body });
  const answer = await gateway.upload();
  expect(answer.status).toBe(200);
  gateway.journal.acked = gateway.journal.entries.length;
  await process();
}

const release = async (path = '/doors/dor1/release', body: object = {}, role?: 'staff') =>
  await room.call('POST', path, body, role);
const stateOf = async (id: string) => (await room.call('GET', `/commands/${id}`)).body;

describe('a command', () => {
  it('wakes the poll that waits and is bound to its nonce, to gateway, door and id', async () => {
    const nonce = newNonce();
    const waiting = gateway.poll(20_000, nonce);
    await expect.poll(() => room.sync.waiters.count()).toBe(1);
    const asked = await release('/doors/dor1/release', { ms: 3_000 }, 'staff');
    expect(asked).toMatchObject({
      status: 202,
      body: { status: 'queued', gateway: gateway.id, requestedBy: 'user:usr_staff' },
    });
    const [command] = (await waiting).commands;
    expect(command).toMatchObject({
      gateway: gateway.id,
      id: asked.body.id,
      nonce,
      what: { act: 'release', door: 'dor1', ms: 3_000 },
    });
    expect(command?.lifetimeMs).toBeLessThanOrEqual(60_000);
    expect(await stateOf(asked.body.id)).toMatchObject({ status: 'delivered' });
    await tell('lock.released', asked.body.id);
    expect(await stateOf(asked.body.id)).toMatchObject({ status: 'executed', endedAt: expect.any(String) });
    expect((await gateway.poll()).commands).toEqual([]);
  });

  it('is offered again with each poll, for its nonce, until its end is told', async () => {
    const { body } = await release();
    const [first, second] = [newNonce(), newNonce()];
    expect((await gateway.poll(0, first)).commands).toMatchObject([{ id: body.id, nonce: first }]);
    expect((await gateway.poll(0, second)).commands).toMatchObject([{ id: body.id, nonce: second }]);
    await tell('command.refused', body.id, '{"code":"FIRE_ACTIVE"}');
    expect(await stateOf(body.id)).toMatchObject({ status: 'refused', code: 'FIRE_ACTIVE' });
  });

  it('that nobody took expires, and one that nobody answered is unknown, until history tells', async () => {
    const queued = (await release()).body.id;
    const delivered = (await release()).body.id;
    await sql`update gateway_command set requested_at = now() - interval '31 seconds' where id = ${queued}`.execute(
      room.database.admin,
    );
    expect((await gateway.poll()).commands).toMatchObject([{ id: delivered }]);
    await sql`update gateway_command set requested_at = now() - interval '5 minutes' where id = ${delivered}`.execute(
      room.database.admin,
    );
    await sweepCommands(room.database.worker);
    expect(await stateOf(queued)).toMatchObject({ status: 'expired' });
    expect(await stateOf(delivered)).toMatchObject({ status: 'unknown' });
    expect((await gateway.poll()).commands).toEqual([]);
    await tell('release.interrupted', delivered);
    expect(await stateOf(delivered)).toMatchObject({ status: 'interrupted' });
  });

  it('goes to no other gateway, and another gateway’s history does not end it', async () => {
    const other = await room.gateway();
    await other.catchUp();
    const { body } = await release();
    expect((await other.poll()).commands).toEqual([]);
    other.journal.append('lock.released', { requestId: body.id });
    expect((await other.upload()).status).toBe(200);
    await process();
    expect(await stateOf(body.id)).toMatchObject({ status: 'queued' });
    await gateway.poll();
    await tell('lock.released', body.id);
    expect(await stateOf(body.id)).toMatchObject({ status: 'executed' });
  });

  it('needs a door that a gateway works, and a gateway that takes orders', async () => {
    expect(await release('/doors/dor2/release')).toMatchObject({ status: 422, body: { code: 'DOOR_NOT_BOUND' } });
    expect(await release('/doors/nowhere/release')).toMatchObject({ status: 422, body: { code: 'DOOR_NOT_BOUND' } });
    const other = await room.gateway();
    await room.call('POST', `/gateways/${other.id}/revoke`, {});
    expect(await release(`/gateways/${other.id}/mode`, { mode: 'lockdown' })).toMatchObject({
      status: 422,
      body: { code: 'GATEWAY_NOT_SERVED' },
    });
  });

  it('is asked for by those whose role permits it', async () => {
    expect(await room.call('POST', '/doors/dor1/release', {}, 'guest')).toMatchObject({ status: 403 });
    expect(await room.call('POST', '/doors/dor1/mode', { mode: 'free' }, 'staff')).toMatchObject({ status: 403 });
    const asked = await room.call('POST', `/gateways/${gateway.id}/mode`, { mode: 'lockdown' }, 'technician');
    expect(asked).toMatchObject({ status: 202, body: { act: { act: 'mode', door: '*', mode: 'lockdown' } } });
    const [command] = (await gateway.poll()).commands;
    expect(command).toMatchObject({ id: asked.body.id });
    await tell('command.done', asked.body.id);
    expect(await stateOf(asked.body.id)).toMatchObject({ status: 'executed' });
  });
});
