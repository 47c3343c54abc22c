import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type InboxEvent, InboxRefusal, processInbox } from '#cloud/database/inbox.ts';
import { newId } from '#cloud/database/new-id.ts';
import { type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { openTestDatabase, type TestDatabase } from './open-database.ts';

describe('the inbox', () => {
  let database: TestDatabase;
  let source: string;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());
  beforeEach(() => {
    source = `test:${newId('src')}`;
  });

  const receive = (id: string): Promise<unknown> =>
    tenantTransaction(database.gateway, { actor: source, facilityIds: ['fac_a'] }, (transaction) =>
      sql`insert into inbox_event (facility_id, source, event_id, type, payload)
        values ('fac_a', ${source}, ${id}, 'test', '{"n": 1}') on conflict do nothing`.execute(transaction),
    );
  const effect = (transaction: TenantTransaction, event: InboxEvent): Promise<void> =>
    asVerb(transaction, 'test.take', undefined, () =>
      audit(transaction, event.facility_id, { action: 'test.taken', entityId: `${source} ${event.event_id}` }),
    );
  const effects = async (): Promise<number> =>
    (await sql`select from audit_event where entity_id like ${`${source} %`}`.execute(database.admin)).rows.length;
  const rows = async (): Promise<readonly Record<string, unknown>[]> =>
    (
      await sql<
        Record<string, unknown>
      >`select event_id, processed_at is not null as processed, failed_at is not null as failed,
        attempts, last_error, retry_at > now() as waits, claim_token from inbox_event where source = ${source} order by event_id`.execute(
        database.admin,
      )
    ).rows;
  const look = (handle = effect): Promise<number> =>
    processInbox({ database: database.worker, sourcePrefix: source, handle, onFault: () => undefined });
  const letPass = (): Promise<unknown> =>
    sql`update inbox_event set retry_at = now(), lease_until = case when claim_token is null then null else now() - interval '1 second' end
      where source = ${source}`.execute(database.admin);

  it('processes an event once, however often it is told and however many look', async () => {
    for (let again = 0; again < 100; again += 1) await receive('e1');
    await receive('e2');
    const looks = await Promise.all([look(), look(), look(), look()]);
    expect(looks.reduce((sum, done) => sum + done, 0)).toBe(2);
    await receive('e1');
    expect(await look()).toBe(0);
    expect(await effects()).toBe(2);
    expect(await rows()).toMatchObject([{ processed: true, attempts: 0 }, { processed: true }]);
  });

  it('empties what has piled up in one call', async () => {
    await sql`insert into inbox_event (facility_id, source, event_id, type, payload)
      select 'fac_' || (n % 3), ${source}, 'e' || n, 'test', '{}' from generate_series(1, 250) n`.execute(
      database.admin,
    );
    expect(await look()).toBe(250);
    expect(await effects()).toBe(250);
    expect(await look()).toBe(0);
  });

  it('undoes the effect of a try that failed, and tries again later', async () => {
    await receive('e1');
    const fail = async (transaction: TenantTransaction, event: InboxEvent): Promise<void> => {
      await effect(transaction, event);
      throw new Error('not now');
    };
    expect(await look(fail)).toBe(0);
    expect(await effects()).toBe(0);
    expect(await rows()).toMatchObject([
      { processed: false, failed: false, attempts: 1, last_error: 'not now', waits: true, claim_token: null },
    ]);
    expect(await look()).toBe(0);
    await letPass();
    expect(await look()).toBe(1);
    expect(await effects()).toBe(1);
  });

  it('sets aside what is refused at once, and what fails too often, with the reason', async () => {
    await receive('refused');
    expect(await look(() => Promise.reject(new InboxRefusal('no such door')))).toBe(0);
    expect(await rows()).toMatchObject([{ failed: true, attempts: 1, last_error: 'no such door' }]);
    await receive('stubborn');
    let tries = 0;
    const stubborn = (): Promise<void> => {
      tries += 1;
      return Promise.reject(new Error('still not'));
    };
    for (let again = 0; again < 20; again += 1) {
      await look(stubborn);
      await letPass();
    }
    expect(tries).toBe(12);
    expect((await rows())[1]).toMatchObject({ failed: true, attempts: 12, last_error: 'still not' });
    expect(await look()).toBe(0);
  });

  it('does nothing twice where a lease ran out: what the first did late is undone', async () => {
    await receive('e1');
    const slow = async (transaction: TenantTransaction, event: InboxEvent): Promise<void> => {
      await effect(transaction, event);
      await letPass();
      expect(await look()).toBe(1);
    };
    expect(await look(slow)).toBe(0);
    expect(await effects()).toBe(1);
    expect(await rows()).toMatchObject([{ processed: true, failed: false, attempts: 0 }]);
  });

  it('leaves alone what a node that died has claimed, until its lease is over', async () => {
    await receive('e1');
    await sql`update inbox_event set claim_token = gen_random_uuid(), lease_until = now() + interval '1 minute'
      where source = ${source}`.execute(database.admin);
    expect(await look()).toBe(0);
    await letPass();
    expect(await look()).toBe(1);
  });
});
