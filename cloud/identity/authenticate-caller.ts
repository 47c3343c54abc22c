/**
 * From an Authorization header to whoever stands behind it, as of now.
 *
 * Guarantees: a session or token that ended, or a person who is gone, is nobody at once; a role counts only if the access
 * token says so and it still stands, so that what was taken back is gone at once, and what was given comes with a refresh.
 */
import { sql } from 'kysely';
import { withDatabaseFaults } from '#cloud/database/database-fault.ts';
import type { Database } from '#cloud/database/pool.ts';
import type { Caller } from '#cloud/http/caller.ts';
import { type Action, actions, type RoleKey } from '#shared/role.ts';
import type { AccessTokens } from './access-token.ts';
import { tokenHash } from './secret-token.ts';

export function createAuthenticate(database: Database, accessTokens: AccessTokens) {
  return async (authorization: string | undefined): Promise<Caller | undefined> => {
    const bearer = /^Bearer ([\x21-\x7e]{1,32000})$/i.exec(authorization ?? '')?.[1];
    if (bearer === undefined) return undefined;
    const hash = tokenHash('kst', bearer);
    return withDatabaseFaults(() =>
      hash ? tokenCaller(database, hash) : personCaller(database, accessTokens, bearer),
    );
  };
}

async function personCaller(
  database: Database,
  accessTokens: AccessTokens,
  bearer: string,
): Promise<Caller | undefined> {
  const claimed = await accessTokens.verify(bearer);
  if (!claimed) return undefined;
  const found = await sql<{ roles: Record<string, RoleKey>; organizations: Record<string, string> }>`
    select roles, organizations from app.session_roles(${claimed.sessionId}) where user_id = ${claimed.userId}`.execute(
    database,
  );
  const now = found.rows[0];
  if (!now) return undefined;
  const roles = Object.entries(claimed.roles ?? now.roles).filter(([facility, role]) => now.roles[facility] === role);
  return {
    kind: 'person',
    userId: claimed.userId,
    sessionId: claimed.sessionId,
    roles: new Map(roles),
    organizations: new Map(Object.entries(now.organizations)),
  };
}

async function tokenCaller(database: Database, hash: Buffer): Promise<Caller | undefined> {
  const found = await sql<{ facility_id: string; token_id: string; actions: string[]; organization_id: string }>`
    select facility_id, token_id, actions, organization_id from app.token_by_hash(${hash})`.execute(database);
  const token = found.rows[0];
  if (!token) return undefined;
  return {
    kind: 'token',
    tokenId: token.token_id,
    facilityId: token.facility_id,
    organizationId: token.organization_id,
    actions: token.actions.filter((action): action is Action => actions.includes(action as Action)),
  };
}
