/**
 * Sessions: a refresh token that changes with each use, and short access tokens made from it.
 *
 * Guarantees: a session ends when it is idle too long, too old, ended, or its person is gone; a refresh token that was
 * used before ends the session (it was copied), except for a moment after its use, when the answer may have been lost.
 */
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import type { Database } from '#cloud/database/pool.ts';
import { type Claims, type TenantTransaction, tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { type Refused, refused } from '#shared/outcome.ts';
import type { RoleKey } from '#shared/role.ts';
import type { AccessTokens } from './access-token.ts';
import { newToken, tokenHash } from './secret-token.ts';

export interface SessionParts {
  readonly database: Database;
  readonly accessTokens: AccessTokens;
  readonly limits: SessionLimits;
}

export interface SessionLimits {
  /** Without a refresh for this long it ends. */
  readonly idleMinutes: number;
  /** It ends then, whatever happens. */
  readonly absoluteHours: number;
  readonly accessSeconds: number;
}

export interface SessionTokens {
  readonly status: 'applied';
  readonly session: string;
  readonly user: string;
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  readonly refreshToken: string;
}

/** After a refresh the token before it is good for this long. */
const graceSeconds = 30;

/** The claims of somebody who acts on nothing but themselves. */
export const ownClaims = (userId: string): Claims => ({ actor: `user:${userId}`, userId, facilityIds: [] });

/** The person was authenticated just now. */
export async function openSession(parts: SessionParts, userId: string): Promise<SessionTokens> {
  const { token, hash } = newToken('krt');
  const id = newId<'session'>('ses');
  await tenantTransaction(parts.database, ownClaims(userId), async (transaction) => {
    await transaction
      .insertInto('user_session')
      .values({
        id,
        user_id: userId,
        refresh_hash: hash,
        idle_until: idleEnd(parts),
        ends_at: sql<Date>`now() + make_interval(hours => ${parts.limits.absoluteHours})`,
      })
      .execute();
  });
  return tokensOf(parts, { session: id, user: userId, refreshToken: token });
}

/** A new access token, with the roles as they stand now. */
export async function refreshSession(parts: SessionParts, refreshToken: string): Promise<SessionTokens | Refused> {
  const presented = tokenHash('krt', refreshToken);
  if (!presented) return refused('SESSION_ENDED');
  const found = await sql<{ session_id: string; user_id: string }>`
    select session_id, user_id from app.session_by_refresh(${presented})`.execute(parts.database);
  const known = found.rows[0];
  if (!known) return refused('SESSION_ENDED');
  const { token, hash } = newToken('krt');
  const isRenewed = await tenantTransaction(parts.database, ownClaims(known.user_id), (transaction) =>
    renew(transaction, parts, { id: known.session_id, presented, next: hash }),
  );
  if (!isRenewed) return refused('SESSION_ENDED');
  return tokensOf(parts, { session: known.session_id, user: known.user_id, refreshToken: token });
}

interface Renewal {
  readonly id: string;
  readonly presented: Buffer;
  readonly next: Buffer;
}

async function renew(transaction: TenantTransaction, parts: SessionParts, renewal: Renewal): Promise<boolean> {
  const session = await transaction
    .selectFrom('user_session')
    .innerJoin('app_user', 'app_user.id', 'user_session.user_id')
    .select([
      'refresh_hash',
      sql<boolean>`ended_at is null and idle_until > now() and ends_at > now() and disabled_at is null`.as('is_live'),
      sql<boolean>`refreshed_at > now() - make_interval(secs => ${graceSeconds})`.as('is_fresh'),
    ])
    .where('user_session.id', '=', renewal.id)
    .forUpdate('user_session')
    .executeTakeFirst();
  if (!session?.is_live) return false;
  const isCurrent = renewal.presented.equals(session.refresh_hash);
  if (!isCurrent && !session.is_fresh) {
    await endSessions(transaction, renewal.id);
    return false;
  }
  await transaction
    .updateTable('user_session')
    .set({
      refresh_hash: renewal.next,
      previous_hash: renewal.presented,
      idle_until: idleEnd(parts),
      refreshed_at: isCurrent ? sql<Date>`now()` : sql<Date>`refreshed_at`,
    })
    .where('id', '=', renewal.id)
    .execute();
  return true;
}

/** @param id one session of the person in the claims; absent: all of them. */
export async function endSessions(transaction: TenantTransaction, id?: string): Promise<void> {
  await transaction
    .updateTable('user_session')
    .set({ ended_at: sql<Date>`now()` })
    .where('ended_at', 'is', null)
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? ''))
    .execute();
}

const idleEnd = ({ limits }: SessionParts) => sql<Date>`now() + make_interval(mins => ${limits.idleMinutes})`;

async function tokensOf(
  parts: SessionParts,
  given: { readonly session: string; readonly user: string; readonly refreshToken: string },
): Promise<SessionTokens> {
  const held = await sql<{ roles: Record<string, RoleKey> }>`select roles from app.roles_of(${given.user})`.execute(
    parts.database,
  );
  const roles = held.rows[0]?.roles ?? {};
  const accessToken = await parts.accessTokens.sign({ userId: given.user, sessionId: given.session, roles });
  return { status: 'applied', ...given, accessToken, expiresInSeconds: parts.limits.accessSeconds };
}
