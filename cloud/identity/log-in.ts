/**
 * Comes in with an address and a password.
 *
 * Guarantees: each try is counted before the password is looked at, so that many at once are not more than many in a row;
 * an address that nobody has behaves like one that somebody has.
 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { setLocal, type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { type Refused, refused } from '#shared/outcome.ts';
import { lockMs } from './lockout.ts';
import { isRightPassword } from './password.ts';
import { openSession, type SessionParts, type SessionTokens } from './session.ts';

export interface Locked {
  readonly status: 'locked';
  readonly retryAfterS: number;
}

export async function logIn(
  parts: SessionParts,
  input: { readonly email: string; readonly password: string },
): Promise<SessionTokens | Refused | Locked> {
  const email = input.email.toLowerCase();
  const found = await sql<{ id: string | null }>`select app.user_by_email(${email}) as id`.execute(parts.database);
  const userId = found.rows[0]?.id ?? undefined;
  const entrance = createHash('sha256').update(email, 'utf8').digest('hex');
  const counted = await atEntrance(parts, { entrance, userId }, (transaction) =>
    countTry(transaction, entrance, userId),
  );
  if (counted.status === 'locked') return counted;
  if (!(await isRightPassword(counted.hash, input.password)) || userId === undefined) return refused('LOGIN_FAILED');
  await atEntrance(parts, { entrance, userId }, (transaction) =>
    transaction.deleteFrom('login_failure').where('id', '=', entrance).execute(),
  );
  return openSession(parts, userId);
}

function atEntrance<Result>(
  parts: SessionParts,
  who: { readonly entrance: string; readonly userId: string | undefined },
  work: (transaction: TenantTransaction) => Promise<Result>,
): Promise<Result> {
  const claims = { actor: 'entrance', facilityIds: [], ...(who.userId === undefined ? {} : { userId: who.userId }) };
  return tenantTransaction(parts.database, claims, async (transaction) => {
    await setLocal(transaction, { 'app.entrance': who.entrance });
    return work(transaction);
  });
}

async function countTry(
  transaction: TenantTransaction,
  entrance: string,
  userId: string | undefined,
): Promise<Locked | { readonly status: 'counted'; readonly hash: string | undefined }> {
  await transaction
    .insertInto('login_failure')
    .values({ id: entrance })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  const before = await transaction
    .selectFrom('login_failure')
    .select([
      'failures',
      sql<boolean>`failed_at < now() - interval '1 hour'`.as('is_old'),
      sql<number | null>`ceil(extract(epoch from locked_until - now()))::int`.as('locked_s'),
    ])
    .where('id', '=', entrance)
    .forUpdate()
    .executeTakeFirstOrThrow();
  if (before.locked_s !== null && before.locked_s > 0) return { status: 'locked', retryAfterS: before.locked_s };
  const failures = before.is_old ? 1 : before.failures + 1;
  const wait = lockMs(failures);
  await transaction
    .updateTable('login_failure')
    .set({
      failures,
      failed_at: sql<Date>`now()`,
      locked_until: wait === 0 ? null : sql<Date>`now() + make_interval(secs => ${wait / 1000})`,
    })
    .where('id', '=', entrance)
    .execute();
  if (userId === undefined) return { status: 'counted', hash: undefined };
  const stored = await transaction
    .selectFrom('user_password')
    .select('hash')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return { status: 'counted', hash: stored?.hash };
}
