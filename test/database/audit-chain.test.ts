import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sqlState } from '#cloud/database/database-fault.ts';
import { newId } from '#cloud/database/new-id.ts';
import { type Claims, type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { type AuditReport, verifyAudit } from '#cloud/database/verify-audit.ts';
import { chainHash } from '#shared/hash-chain.ts';
import { openTestDatabase, someServers, type TestDatabase } from './open-database.ts';

describe.each(someServers)('the audit chain on PostgreSQL %s', (server) => {
  let database: TestDatabase;
  let facility: string;
  let other: string;
  let claims: Claims;
  beforeAll(async () => {
    database = await openTestDatabase({ server });
  });
  afterAll(() => database.close());
  beforeEach(() => {
    facility = newId('fac');
    other = newId('fac');
    claims = { actor: 'usr_1', facilityIds: [facility, other] };
  });

  const write = (count: number, inside = facility): Promise<void> =>
    tenantTransaction(database.app, claims, (transaction) =>
      asVerb(transaction, 'test.act', undefined, async () => {
        for (let index = 0; index < count; index += 1) {
          await audit(transaction, inside, {
            action: 'test.acted',
            entityId: `e${index}`,
            detail: { index, name: '鍵' },
          });
        }
      }),
    );
  const verify = (expected?: AuditReport['head']): Promise<AuditReport> =>
    tenantTransaction(database.app, claims, (transaction) => verifyAudit(transaction, facility, expected));
  /** As an intruder with the server's own rights: no trigger fires. */
  const tamper = (statement: string): Promise<void> =>
    database.admin.transaction().execute(async (transaction) => {
      await sql
        .raw(`set local session_replication_role = replica; ${statement.replaceAll('FAC', `'${facility}'`)}`)
        .execute(transaction);
    });

  it('seals each event in the order of commits, one chain for each facility', async () => {
    await write(3);
    await write(2, other);
    await Promise.all([write(2), write(2), write(2), write(2, other)]);
    const report = await verify();
    expect(report.faults).toEqual([]);
    expect(report.head.seq).toBe(9);
    const seals = await database.admin
      .selectFrom('audit_seal')
      .selectAll()
      .where('facility_id', '=', other)
      .orderBy('seq')
      .execute();
    expect(seals.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
    for (const seal of seals) expect(seal.hash).toBe(chainHash(seal.previous, seal.content));
    expect(JSON.parse(seals[0]?.content ?? '')).toMatchObject({
      facility: other,
      verb: 'test.act',
      actor: 'usr_1',
      action: 'test.acted',
      entity: 'e0',
      detail: { index: 0, name: '鍵' },
    });
  });

  it('leaves nothing of a transaction that failed, and no gap', async () => {
    await write(1);
    const failed = tenantTransaction(database.app, claims, (transaction) =>
      asVerb(transaction, 'test.act', undefined, async () => {
        await audit(transaction, facility, { action: 'test.acted', entityId: 'e' });
        throw new Error('no');
      }),
    );
    await expect(failed).rejects.toThrow('no');
    await write(1);
    expect(await verify()).toMatchObject({ head: { seq: 2 }, faults: [] });
  });

  it.each([
    [
      `update audit_event set action = 'other' where facility_id = FAC and entity_id = 'e1'`,
      { seq: 2, fault: 'changed' },
    ],
    [
      `update audit_event set detail = '{"index": 7}' where facility_id = FAC and entity_id = 'e1'`,
      { seq: 2, fault: 'changed' },
    ],
    [
      `update audit_seal set content = replace(content, 'e1', 'e7') where facility_id = FAC and seq = 2`,
      { seq: 2, fault: 'edited' },
    ],
    [`delete from audit_seal where facility_id = FAC and seq = 2`, { seq: 3, fault: 'missing' }],
    [`delete from audit_event where facility_id = FAC and entity_id = 'e1'`, { seq: 2, fault: 'changed' }],
    [
      `update audit_seal set sealed_at = sealed_at + interval '1 hour' where facility_id = FAC and seq = 2`,
      { seq: 2, fault: 'changed' },
    ],
    [
      `update audit_seal set previous = repeat('1', 64) where facility_id = FAC and seq = 2`,
      { seq: 2, fault: 'relinked' },
    ],
    [`delete from audit_seal where facility_id = FAC and seq = 4`, { seq: 4, fault: 'cut' }],
    [
      `insert into audit_event (facility_id, verb, actor, action, entity_id, detail) values (FAC, 'v', 'a', 'x', 'y', '{}')`,
      { seq: 5, fault: 'unsealed' },
    ],
  ])('is found by: %s', async (statement, fault) => {
    await write(4);
    await tamper(statement);
    expect((await verify()).faults).toContainEqual(fault);
  });

  it('is cut off at the end by a head that was noted before', async () => {
    await write(4);
    const { head } = await verify();
    await tamper(`delete from audit_seal where facility_id = FAC and seq = 4; delete from audit_event where facility_id = FAC and entity_id = 'e3';
      update audit_head set seq = 3, hash = (select hash from audit_seal where facility_id = FAC and seq = 3) where facility_id = FAC`);
    expect((await verify()).faults).toEqual([]);
    expect((await verify(head)).faults).toEqual([{ seq: 4, fault: 'cut' }]);
  });

  it('takes events only of a claimed facility, in a verb, with an actor', async () => {
    const attempts: readonly (readonly [Claims, string, string, string])[] = [
      [claims, 'test.act', newId('fac'), 'KN016'],
      [claims, '', facility, 'KN010'],
      [{ ...claims, actor: '' }, 'test.act', facility, 'KN010'],
    ];
    for (const [as, verb, where, code] of attempts) {
      const attempt = tenantTransaction(database.app, as, (transaction: TenantTransaction) =>
        asVerb(transaction, verb, undefined, () => audit(transaction, where, { action: 'x', entityId: 'y' })),
      );
      expect(await attempt.catch(sqlState)).toBe(code);
    }
  });
});
