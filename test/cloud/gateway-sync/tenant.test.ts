/** Two facilities: what one has does not exist for the other, whatever ids it knows. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { openSync, type SyncRoom, said } from './open-sync.ts';
import type { TestGateway } from './test-gateway.ts';

let room: SyncRoom;
let gateway: TestGateway;
let command = '';
let other = '';
beforeAll(async () => {
  room = await openSync();
  await room.emit([said.facility(room.facility), said.door('dor1')]);
  gateway = await room.gateway();
  await room.bind('dor1', gateway.id);
  await gateway.catchUp();
  gateway.journal.append('alarm.raised', { body: '{"code":"DURESS"}' });
  await gateway.upload();
  command = (await room.call('POST', '/doors/dor1/release', {})).body.id;
  other = await room.addFacility();
});
afterAll(async () => {
  await room.close();
});

const call = async (method: string, path: string, body?: object) => {
  const response = await fetch(`${room.url}/v1/facilities/${other}${path}`, {
    method,
    headers: {
      authorization: `Bearer owner@${other}`,
      'idempotency-key': randomUUID(),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: response.status, body: await response.text() };
};

describe('another facility', () => {
  it('sees no gateway, command, history or alarm of this one, and cannot touch any', async () => {
    const fingerprint = '0'.repeat(64);
    const attempts: readonly (readonly [string, string, object?])[] = [
      ['GET', `/gateways/${gateway.id}`],
      ['POST', `/gateways/${gateway.id}/confirm`, { fingerprint }],
      ['POST', `/gateways/${gateway.id}/revoke`, {}],
      ['POST', `/gateways/${gateway.id}/release`, {}],
      ['POST', `/gateways/${gateway.id}/mode`, { mode: 'lockdown' }],
      ['POST', `/gateways/${gateway.id}/refresh`, {}],
      ['GET', `/commands/${command}`],
      ['POST', '/alarms/1/clear'],
    ];
    for (const attempt of attempts) {
      const { status, body } = await call(...attempt);
      expect([attempt[1], status]).toEqual([attempt[1], 404]);
      expect(body).not.toContain(gateway.id);
    }
    for (const path of ['/gateways', '/journal', '/alarms']) {
      expect(JSON.parse((await call('GET', path)).body).items).toEqual([]);
    }
    expect((await call('POST', '/doors/dor1/release', {})).body).toContain('DOOR_NOT_BOUND');
    expect((await call('POST', '/enrolment-codes', { name: 'x', replaces: gateway.id })).body).toContain(
      'REFERENCE_UNKNOWN',
    );
    expect(await room.call('GET', `/gateways/${gateway.id}`)).toMatchObject({ body: { status: 'active' } });
  });

  it('is another for the gateway’s role too: with its claims nothing of this one can be read or written', async () => {
    const tables = ['gateway', 'feed_row', 'feed_head', 'feed_ack', 'journal_entry', 'journal_head', 'gateway_command'];
    const claims = { actor: 'gateway:x', facilityIds: [other], gatewayId: gateway.id };
    for (const table of tables) {
      const seen = await tenantTransaction(room.database.gateway, claims, (transaction) =>
        sql`select from ${sql.table(table)}`.execute(transaction),
      );
      expect([table, seen.rows.length]).toEqual([table, 0]);
    }
    const write = tenantTransaction(room.database.gateway, claims, (transaction) =>
      sql`insert into feed_effective (facility_id, gateway_id, cursor_seq, previous_seq, effective_at)
        values (${room.facility}, ${gateway.id}, 99, 0, now())`.execute(transaction),
    );
    await expect(write).rejects.toThrow(/row-level security/);
  });
});
