/**
 * The first of everything, from the console of the machine: an organization, a facility, and a person who owns it.
 *
 * A person who is known already becomes owner of another organization's first facility, with the password they have.
 */
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import type { Database } from '#cloud/database/pool.ts';
import { tenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { createFacility, type NewFacility } from './create-facility.ts';
import { createUser, setPassword } from './create-user.ts';
import { hashPassword } from './password.ts';
import type { Sealer } from './sealed-value.ts';

interface NewOwner {
  readonly email: string;
  /** Not looked at where the person is known already. */
  readonly password: string;
  readonly name: string;
  readonly organization: string;
  readonly facility: NewFacility;
}

interface Owned {
  readonly user: string;
  readonly organization: string;
  readonly facility: string;
  readonly isKnown: boolean;
}

export async function createOwner(database: Database, sealer: Sealer, owner: NewOwner): Promise<Owned> {
  const email = owner.email.trim().toLowerCase();
  const found = await sql<{ id: string | null }>`select app.user_by_email(${email}) as id`.execute(database);
  const known = found.rows[0]?.id ?? undefined;
  const user = known ?? newId<'user'>('usr');
  const organization = newId<'organization'>('org');
  const hash = known === undefined ? await hashPassword(owner.password) : undefined;
  const claims = { actor: `user:${user}`, userId: user, organizationId: organization, facilityIds: [] };
  return tenantTransaction(database, claims, async (transaction) => {
    if (hash !== undefined) {
      await createUser(transaction, { id: user, email, name: owner.name, language: owner.facility.language });
      await setPassword(transaction, user, hash);
    }
    await transaction.insertInto('organization').values({ id: organization, name: owner.organization }).execute();
    const by = { userId: user, organizationId: organization };
    const facility = await createFacility(transaction, sealer, by, owner.facility);
    return { user, organization, facility, isKnown: known !== undefined };
  });
}
