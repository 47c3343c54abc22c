/** Signs the pass that a phone shows: its doors are those of its grants as they are now. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { type Pass, passDoorsMax } from '#shared/contract/pass.ts';
import { identifier } from '#shared/identifier.ts';
import type { NewCredential } from './new-credential.ts';

/** @returns the pass as text, or `undefined` if it would be too long for a code that phones show well. */
export type PassSigner = (pass: Pass) => Promise<string | undefined>;

/** @param from the moment of issue, where the pass is valid at once. @returns `undefined` for too many doors. */
export async function signNewPass(
  transaction: TenantTransaction,
  sign: PassSigner,
  {
    facility,
    id,
    item,
    from,
  }: {
    readonly facility: string;
    readonly id: string;
    readonly item: NewCredential;
    readonly from: Date;
  },
): Promise<string | undefined> {
  const { validFrom, validUntil, leaseMs, usesMax } = item.terms;
  const doors = await doorsOf(transaction, facility, item);
  const isSayable = doors.length > 0 && doors.length <= passDoorsMax && validUntil !== null && leaseMs !== 'unlimited';
  if (!isSayable) return undefined;
  return sign({
    id: identifier(id),
    facility: identifier(facility),
    doors: doors.map((door) => identifier<'door'>(door)),
    from: (validFrom ?? from).getTime(),
    until: validUntil.getTime(),
    leaseMs,
    once: usesMax === 1,
  });
}

async function doorsOf(
  transaction: TenantTransaction,
  facility: string,
  { grants }: NewCredential,
): Promise<readonly string[]> {
  const doors = grants.flatMap(({ door }) => (door === undefined ? [] : [door as string]));
  const groups = grants.flatMap(({ group }) => (group === undefined ? [] : [group as string]));
  const found = await sql<{ door_id: string }>`select door_id from door_group_member
    where facility_id = ${facility} and group_id = any (${groups})`.execute(transaction);
  return [...new Set([...doors, ...found.rows.map(({ door_id }) => door_id)])].sort();
}
