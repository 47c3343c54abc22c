/**
 * From an account at the provider to a person here: one that was linked before, one with the verified address, or a new one
 * whose invitation was sent to that address. Anybody else is nobody here.
 */
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { type Refused, refused } from '#shared/outcome.ts';
import { createUser } from './create-user.ts';
import type { OidcPerson } from './oidc.ts';
import { tokenHash } from './secret-token.ts';
import { openSession, ownClaims, type SessionParts, type SessionTokens } from './session.ts';

export async function logInOidc(
  parts: SessionParts,
  person: OidcPerson,
  invitation: string | undefined,
): Promise<SessionTokens | Refused> {
  const linked = await one<{ id: string | null }>(
    parts,
    sql`select app.user_by_account(${person.issuer}, ${person.subject}) as id`,
  );
  if (linked?.id) return openSession(parts, linked.id);
  const email = person.verifiedEmail;
  if (email === undefined) return refused('USER_UNKNOWN');
  const known = await one<{ id: string | null }>(parts, sql`select app.user_by_email(${email}) as id`);
  const isInvited = !known?.id && invitation !== undefined && (await invitedEmail(parts, invitation)) === email;
  const userId = known?.id ?? (isInvited ? newId<'user'>('usr') : undefined);
  if (userId === undefined) return refused('USER_UNKNOWN');
  await tenantTransaction(parts.database, ownClaims(userId), async (transaction) => {
    if (isInvited) {
      const name = person.name?.trim().slice(0, 120) || email.slice(0, 120);
      await createUser(transaction, { id: userId, email, name, language: 'ja' });
    }
    await transaction
      .insertInto('user_account')
      .values({ issuer: person.issuer, subject: person.subject, user_id: userId })
      .execute();
  });
  return openSession(parts, userId);
}

async function invitedEmail(parts: SessionParts, invitation: string): Promise<string | undefined> {
  const hash = tokenHash('kin', invitation);
  if (!hash) return undefined;
  return (await one<{ email: string }>(parts, sql`select email from app.invitation_by_token(${hash})`))?.email;
}

async function one<Row>(parts: SessionParts, query: ReturnType<typeof sql>): Promise<Row | undefined> {
  const { rows } = await query.execute(parts.database);
  return rows[0] as Row | undefined;
}
