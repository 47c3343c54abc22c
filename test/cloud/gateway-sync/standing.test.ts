import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStanding } from '#cloud/gateway-sync/standing.ts';
import { addFacilities, addGateways } from '../../benchmark/bench-database.ts';
import { openTestDatabase, type TestDatabase } from '../../database/open-database.ts';

let database: TestDatabase;
let owners: readonly { readonly facilityId: string; readonly gatewayId: string }[] = [];
beforeAll(async () => {
  database = await openTestDatabase();
  await addGateways(database.admin, await addFacilities(database.admin, 40), { each: 3 });
  const found = await sql<{ facilityId: string; gatewayId: string }>`select facility_id as "facilityId",
      id as "gatewayId" from gateway order by random()`.execute(database.admin);
  owners = found.rows;
  await sql`insert into gateway_health (facility_id, gateway_id, kinds, last_seen_at)
    select facility_id, id, 'kinds of ' || id, now() - interval '1 minute' from gateway`.execute(database.admin);
});
afterAll(async () => {
  await database.close();
});

describe('where many gateways stand', () => {
  it('is each one’s own, of whatever facility, and each is noted as seen', async () => {
    const { standOf } = createStanding(database.gateway);
    const stands = await Promise.all(owners.map(standOf));
    expect(stands.map(({ kinds }) => kinds)).toEqual(owners.map(({ gatewayId }) => `kinds of ${gatewayId}`));
    const unseen = await sql<{ n: number }>`select count(*) as n from gateway_health
      where last_seen_at < now() - interval '30 seconds'`.execute(database.admin);
    expect(unseen.rows).toEqual([{ n: 0 }]);
  });

  it('is said though somebody holds the row in which it is noted as seen', async () => {
    await sql`update gateway_health set last_seen_at = now() - interval '1 minute'`.execute(database.admin);
    const [held, other] = owners;
    if (!held || !other) throw new Error('two are needed');
    const { standOf } = createStanding(database.gateway);
    await database.admin.transaction().execute(async (transaction) => {
      await sql`select from gateway_health where gateway_id = ${held.gatewayId} for update`.execute(transaction);
      const [first, second] = await Promise.all([held, other].map(standOf));
      expect([first?.unseenMs, second?.unseenMs].every((ms) => ms !== undefined && ms >= 60_000)).toBe(true);
    });
    const seen = await sql<{ gateway_id: string }>`select gateway_id from gateway_health
      where last_seen_at > now() - interval '30 seconds'`.execute(database.admin);
    expect(seen.rows).toEqual([{ gateway_id: other.gatewayId }]);
  });

  it('changes with the commit: who was put out is known as that by the next question', async () => {
    const { entryOf, standOf } = createStanding(database.gateway);
    const [owner] = owners;
    if (!owner) throw new Error('one is needed');
    const status = async () => [(await entryOf(owner.gatewayId))?.status, (await standOf(owner)).status];
    expect(await status()).toEqual(['active', 'active']);
    await database.admin.transaction().execute(async (transaction) => {
      await sql`set local session_replication_role = replica`.execute(transaction);
      await sql`update gateway set status = 'revoked' where id = ${owner.gatewayId}`.execute(transaction);
    });
    expect(await status()).toEqual(['revoked', 'revoked']);
    expect(await entryOf('gwy_unknown')).toBeUndefined();
  });
});
