/** Writes the rows of new credentials and their grants, with the values sealed. */
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { Sealer } from '#cloud/identity/sealed-value.ts';
import { credentialValueName, type PinValue } from './draw-pins.ts';
import { databaseTime } from './key-facts.ts';
import type { NewCredential } from './new-credential.ts';
import { bitCountOf, type CardValue } from './read-cards.ts';
import { type PassSigner, signNewPass } from './sign-passes.ts';
import { type RefusedWrite, refusedAt } from './written.ts';

export type IssuedSecret = { readonly pin: string } | { readonly pass: string };

export interface PlacedCredential {
  readonly item: NewCredential;
  readonly id: string;
  readonly card: CardValue | undefined;
  readonly pin: PinValue | undefined;
}

interface Desk {
  readonly sealer: Sealer;
  readonly signPass: PassSigner;
}

/** @returns what is shown of each, by id. */
export async function insertCredentials(
  transaction: TenantTransaction,
  desk: Desk,
  facility: string,
  placed: readonly PlacedCredential[],
): Promise<Map<string, IssuedSecret> | RefusedWrite> {
  const secrets = await makeSecrets(transaction, desk, facility, placed);
  if ('status' in secrets) return secrets;
  const rows = placed.map(({ item, id, card, pin }) => {
    const shown = secrets.get(id);
    const text = shown === undefined ? '' : 'pin' in shown ? shown.pin : shown.pass;
    const value = card?.normalized ?? Buffer.from(text, 'utf8');
    return rowOf(facility, { item, id, card, pin }, desk.sealer.seal(credentialValueName(id), value));
  });
  const inserted = await sql<
    Pick<PlacedCredential, 'id'>
  >`insert into credential (facility_id, id, holder_id, kind, lookup, value_sealed, pin_digits, card_bits,
    valid_from, valid_until, lease_ms, uses_max, is_duress, overrides_lockdown, needs_extended_time, is_first_person,
    replaces) values ${sql.join(rows)} on conflict (facility_id, lookup) do nothing returning id`.execute(transaction);
  const made = new Set(inserted.rows.map(({ id }) => id));
  // Somebody else gave out the same card at this very moment.
  const late = placed.find(({ id }) => !made.has(id));
  if (late) return refusedAt('CARD_TAKEN', `${late.item.at}/card`, 'field.taken');
  await insertGrants(
    transaction,
    facility,
    placed.flatMap(({ id, item }) => item.grants.map((grant) => ({ credential: id, ...grant }))),
  );
  return secrets;
}

async function makeSecrets(
  transaction: TenantTransaction,
  { signPass }: Desk,
  facility: string,
  placed: readonly PlacedCredential[],
): Promise<Map<string, IssuedSecret> | RefusedWrite> {
  const from = await databaseTime(transaction);
  const secrets = new Map<string, IssuedSecret>();
  for (const { item, id, pin } of placed) {
    if (pin) secrets.set(id, { pin: pin.pin });
    if (item.secret.kind !== 'pass') continue;
    const pass = await signNewPass(transaction, signPass, { facility, id, item, from });
    if (pass === undefined) return refusedAt('PASS_TOO_LARGE', `${item.at}/grants`, 'field.too_long');
    secrets.set(id, { pass });
  }
  return secrets;
}

function rowOf(facility: string, { item, id, card, pin }: PlacedCredential, sealed: Buffer) {
  const { terms, secret } = item;
  const lease = terms.leaseMs === 'unlimited' ? null : terms.leaseMs;
  const bits = card === undefined ? null : bitCountOf(card.normalized);
  return sql`(${facility}, ${id}, ${item.holder}, ${secret.kind}, ${card?.lookup ?? pin?.lookup ?? null}, ${sealed},
    ${pin?.pin.length ?? null}, ${bits}, ${terms.validFrom}, ${terms.validUntil}, ${lease}, ${terms.usesMax},
    ${terms.isDuress}, ${terms.overridesLockdown}, ${terms.needsExtendedTime}, ${terms.isFirstPerson}, ${item.replaces})`;
}

export interface GrantColumns {
  readonly credential: string;
  readonly door?: string | undefined;
  readonly group?: string | undefined;
  readonly schedule: string | null;
  readonly validFrom: Date | null;
  readonly validUntil: Date | null;
}

/** @returns their ids, in order. */
export async function insertGrants(
  transaction: TenantTransaction,
  facility: string,
  grants: readonly GrantColumns[],
): Promise<readonly string[]> {
  if (grants.length === 0) return [];
  const ids = grants.map(() => newId<'grant'>('grt') as string);
  const rows = grants.map(
    ({ credential, door = null, group = null, schedule, validFrom, validUntil }, at) =>
      sql`(${facility}, ${ids[at]}, ${credential}, ${door}, ${group}, ${schedule}, ${validFrom}, ${validUntil})`,
  );
  // A thousand rows of eight parameters a time: a statement has room for 65 535.
  for (let from = 0; from < rows.length; from += 1_000) {
    await sql`insert into credential_grant
      (facility_id, id, credential_id, door_id, group_id, schedule_id, valid_from, valid_until)
      values ${sql.join(rows.slice(from, from + 1_000))}`.execute(transaction);
  }
  return ids;
}
