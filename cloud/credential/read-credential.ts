/** Reads credentials as they leave: their terms and grants, and for each door since when it knows them. Never their values. */
import { type RawBuilder, sql } from 'kysely';
import * as z from 'zod';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { readDelivery } from '#cloud/gateway-sync/read-delivery.ts';
import { cloneableAs } from '#protocol/wiegand/written-card.ts';
import { credentialMachine } from './machine.ts';
import { itemHead } from './read-thing.ts';

const instantText = z.iso.datetime();

export const grantItem = z.object({
  id: z.string(),
  version: z.int(),
  credential: z.string(),
  door: z.string().nullable(),
  group: z.string().nullable(),
  schedule: z.string().nullable(),
  validFrom: instantText.nullable(),
  validUntil: instantText.nullable(),
});
export type GrantItem = z.output<typeof grantItem>;

const deliveryItem = z.object({
  door: z.string(),
  gateway: z.string().nullable(),
  state: z
    .enum(['pending_at_door', 'effective_at_door', 'unreachable'])
    .describe('Whether the door is known to act on the credential as it is now: by its own signed word, or not yet.'),
  since: instantText.nullable(),
  lastSeenAt: instantText.nullable().describe('When the gateway was last heard of.'),
});

export const credentialItem = z.object({
  ...itemHead,
  holder: z.string(),
  kind: z.enum(['card', 'pin', 'pass']),
  status: z.enum(credentialMachine.states),
  cardBits: z.int().nullable(),
  cloneableAs: z.string().nullable().describe('Why anyone could copy this card: ask for a PIN too where it matters.'),
  pinDigits: z.int().nullable(),
  validFrom: instantText.nullable(),
  validUntil: instantText.nullable(),
  leaseMs: z.union([z.number(), z.literal('unlimited')]),
  usesMax: z.int().nullable(),
  isDuress: z.boolean(),
  overridesLockdown: z.boolean(),
  needsExtendedTime: z.boolean(),
  isFirstPerson: z.boolean(),
  replaces: z.string().nullable(),
  endedAt: instantText.nullable(),
  grants: z.array(grantItem),
  delivery: z.array(deliveryItem),
});
export type CredentialItem = z.output<typeof credentialItem>;

interface Row {
  readonly id: string;
  readonly version: number;
  readonly created_at: Date;
  readonly holder_id: string;
  readonly kind: CredentialItem['kind'];
  readonly status: CredentialItem['status'];
  readonly card_bits: number | null;
  readonly pin_digits: number | null;
  readonly valid_from: Date | null;
  readonly valid_until: Date | null;
  readonly lease_ms: number | null;
  readonly uses_max: number | null;
  readonly is_duress: boolean;
  readonly overrides_lockdown: boolean;
  readonly needs_extended_time: boolean;
  readonly is_first_person: boolean;
  readonly replaces: string | null;
  readonly ended_at: Date | null;
}

const text = (at: Date | null): string | null => at?.toISOString() ?? null;

/** @param where over `c`. @param limit at most. @returns in the order of their ids. */
export async function readCredentials(
  transaction: TenantTransaction,
  facility: string,
  where: RawBuilder<unknown>,
  limit: number,
): Promise<readonly CredentialItem[]> {
  const found = await sql<Row>`select c.id, c.version, c.created_at, c.holder_id, c.kind, c.status, c.card_bits,
      c.pin_digits, c.valid_from, c.valid_until, c.lease_ms, c.uses_max, c.is_duress, c.overrides_lockdown,
      c.needs_extended_time, c.is_first_person, c.replaces, c.ended_at
    from credential c where c.facility_id = ${facility} and ${where} order by c.id limit ${limit}`.execute(transaction);
  const ids = found.rows.map(({ id }) => id);
  const grants = await readGrants(transaction, facility, sql`g.credential_id = any (${ids})`, ids.length * 1_000);
  const delivery = ids.length === 0 ? [] : await readDelivery(transaction, facility, ids);
  return found.rows.map((row) => ({
    ...termsOf(row),
    grants: grants.filter(({ credential }) => credential === row.id),
    delivery: delivery
      .filter(({ credential }) => credential === row.id)
      .map(({ credential: _, ...at }) => ({ ...at, since: text(at.since), lastSeenAt: text(at.lastSeenAt) })),
  }));
}

export async function readCredential(
  transaction: TenantTransaction,
  facility: string,
  id: string,
): Promise<CredentialItem | undefined> {
  return (await readCredentials(transaction, facility, sql`c.id = ${id}`, 1))[0];
}

function termsOf(row: Row): Omit<CredentialItem, 'grants' | 'delivery'> {
  return {
    id: row.id,
    version: row.version,
    createdAt: row.created_at.toISOString(),
    holder: row.holder_id,
    kind: row.kind,
    status: row.status,
    cardBits: row.card_bits,
    cloneableAs: row.card_bits === null ? null : (cloneableAs(row.card_bits) ?? null),
    pinDigits: row.pin_digits,
    validFrom: text(row.valid_from),
    validUntil: text(row.valid_until),
    leaseMs: row.lease_ms ?? 'unlimited',
    usesMax: row.uses_max,
    isDuress: row.is_duress,
    overridesLockdown: row.overrides_lockdown,
    needsExtendedTime: row.needs_extended_time,
    isFirstPerson: row.is_first_person,
    replaces: row.replaces,
    endedAt: text(row.ended_at),
  };
}

interface GrantRow {
  readonly id: string;
  readonly version: number;
  readonly credential_id: string;
  readonly door_id: string | null;
  readonly group_id: string | null;
  readonly schedule_id: string | null;
  readonly valid_from: Date | null;
  readonly valid_until: Date | null;
}

/** @param where over `g`. */
export async function readGrants(
  transaction: TenantTransaction,
  facility: string,
  where: RawBuilder<unknown>,
  limit: number,
): Promise<readonly GrantItem[]> {
  const found = await sql<GrantRow>`select g.id, g.version, g.credential_id, g.door_id, g.group_id, g.schedule_id,
      g.valid_from, g.valid_until
    from credential_grant g where g.facility_id = ${facility} and ${where} order by g.id limit ${limit}`.execute(
    transaction,
  );
  return found.rows.map((row) => ({
    id: row.id,
    version: row.version,
    credential: row.credential_id,
    door: row.door_id,
    group: row.group_id,
    schedule: row.schedule_id,
    validFrom: text(row.valid_from),
    validUntil: text(row.valid_until),
  }));
}
