/**
 * The logins of the embedded default: one for each role, with a password that derives from one secret.
 *
 * Each login may do what its role may, and cannot become another. Where an operator runs the server, he makes logins of
 * his own, grants each its role, and gives their connection strings.
 */
import { createHash, createHmac } from 'node:crypto';
import pg from 'pg';

/** Who a pool speaks as. */
export type LoginRole = 'app' | 'worker' | 'gateway' | 'backup';
const roles: readonly LoginRole[] = ['app', 'worker', 'gateway', 'backup'];

const loginName = (role: LoginRole): string => `kannuki_${role}_login`;

function password(secret: Uint8Array, role: LoginRole): string {
  return createHmac('sha256', secret).update(`kannuki login ${role}`).digest('hex');
}

/** The connection string of a role's login, at the place where `adminUrl` points. */
export function loginUrl(adminUrl: string, role: LoginRole, secret: Uint8Array): string {
  const url = new URL(adminUrl);
  url.username = loginName(role);
  url.password = password(secret, role);
  return url.href;
}

/** Makes the logins, or gives them the password of `secret`; a login that has it already is left alone. */
export async function createLogins(client: pg.Client, secret: Uint8Array): Promise<void> {
  for (const role of roles) {
    const name = pg.escapeIdentifier(loginName(role));
    // A fingerprint of 256 random bits gives nothing away, and spares every start a change of the server's catalog.
    const mark = createHash('sha256').update(password(secret, role)).digest('hex');
    const found = await client.query<{ mark: string | null }>(
      "select shobj_description(oid, 'pg_authid') as mark from pg_roles where rolname = $1",
      [loginName(role)],
    );
    if (found.rows[0]?.mark === mark) continue;
    if (!found.rows[0]) await createLogin(client, name);
    await client.query(`alter role ${name} login inherit password ${pg.escapeLiteral(password(secret, role))}`);
    // What a login creates by name it finds by name: never in front of the schema's own.
    await client.query(`alter role ${name} set search_path = public, pg_temp`);
    await client.query(`grant kannuki_${role} to ${name}`);
    await client.query(`comment on role ${name} is ${pg.escapeLiteral(mark)}`);
  }
}

/** Another database of the same server may make it at the same moment. */
async function createLogin(client: pg.Client, name: string): Promise<void> {
  try {
    await client.query(`create role ${name}`);
  } catch (error) {
    const isThere = error instanceof pg.DatabaseError && (error.code === '42710' || error.code === '23505');
    if (!isThere) throw error;
  }
}
