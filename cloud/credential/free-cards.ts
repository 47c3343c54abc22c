/** One card has one owner. A credential that ended lets go of its card; one that is in force keeps its own. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { NewCredential } from './new-credential.ts';
import type { CardValue } from './read-cards.ts';
import { type RefusedWrite, refusedAt } from './written.ts';

export interface Owner {
  readonly id: string;
  readonly holder: string;
  readonly lookup: string;
  readonly is_ended: boolean;
}

export async function ownersOf(
  transaction: TenantTransaction,
  facility: string,
  cards: Iterable<CardValue>,
): Promise<readonly Owner[]> {
  const lookups = [...cards].map(({ lookup }) => lookup);
  if (lookups.length === 0) return [];
  const found = await sql<Owner>`select id, holder_id as holder, lookup, ended_at is not null as is_ended
    from credential where facility_id = ${facility} and lookup = any (${lookups})`.execute(transaction);
  return found.rows;
}

/** With the owners' holders locked. */
export async function freeCards(
  transaction: TenantTransaction,
  facility: string,
  cards: ReadonlyMap<NewCredential, CardValue>,
): Promise<RefusedWrite | undefined> {
  const owners = await ownersOf(transaction, facility, cards.values());
  const held = new Set(owners.filter(({ is_ended }) => !is_ended).map(({ lookup }) => lookup));
  const taken = [...cards].find(([, { lookup }]) => held.has(lookup));
  if (taken) return refusedAt('CARD_TAKEN', `${taken[0].at}/card`, 'field.taken');
  const ended = owners.map(({ id }) => id);
  if (ended.length === 0) return undefined;
  await sql`update credential set lookup = null, version = version + 1
    where facility_id = ${facility} and id = any (${ended})`.execute(transaction);
  return undefined;
}
