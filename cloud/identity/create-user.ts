/** A person becomes known, in a transaction whose claims are theirs. Not promised: that the address is free; a taken one throws 23505. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';

export interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly language: 'en' | 'ja';
}

/** The address counts as verified: the caller saw a proof of it (an invitation's token, a provider's word, the console). */
export async function createUser(transaction: TenantTransaction, user: NewUser): Promise<void> {
  await transaction
    .insertInto('app_user')
    .values({ ...user, email: user.email.toLowerCase(), email_verified_at: sql<Date>`now()` })
    .execute();
}

/** Sets or replaces the password of the person in the claims. @param hash of `hashPassword`, made outside the transaction. */
export async function setPassword(transaction: TenantTransaction, userId: string, hash: string): Promise<void> {
  await transaction
    .insertInto('user_password')
    .values({ user_id: userId, hash })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ hash, changed_at: sql<Date>`now()` }))
    .execute();
}
