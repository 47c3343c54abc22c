/** Creates or replaces a thing: what it names is there, nobody wrote it meanwhile, and the gateways hear of it. */
import { sql } from 'kysely';
import { newId } from '#cloud/database/new-id.ts';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import { asVerb, audit } from '#cloud/database/verb.ts';
import { lockReferences, lockThing } from './lock-rows.ts';
import { publish } from './publish.ts';
import type { Place, Thing } from './thing.ts';
import { type RefusedWrite, refusedAt, type Written } from './written.ts';

type Body = Readonly<Record<string, unknown>>;

export function createThing(
  transaction: TenantTransaction,
  thing: Thing,
  facility: string,
  { id = newId(thing.prefix), ...body }: Body & { readonly id?: string },
): Promise<Written> {
  return asVerb(transaction, `${thing.table}.create`, undefined, async () => {
    const place = { facility, id };
    const refused = await refusalOf(transaction, thing, place, body);
    if (refused) return refused;
    const columns = { ...place, ...thing.columns(body) };
    const { facility: facility_id, ...own } = columns;
    const entries = Object.entries({ facility_id, ...own });
    const inserted =
      await sql`insert into ${sql.table(thing.table)} (${sql.join(entries.map(([name]) => sql.ref(name)))})
      values (${sql.join(entries.map(([, value]) => value))})
      on conflict (facility_id, id) do nothing`.execute(transaction);
    // Also an id that was deleted: it stands in history.
    if (inserted.numAffectedRows === 0n) return refusedAt('ALREADY_EXISTS', '/body/id', 'field.taken');
    return settle(transaction, thing, { place, body, action: 'created' });
  });
}

/** @param version the one the caller saw. */
export function updateThing(
  transaction: TenantTransaction,
  thing: Thing,
  place: Place,
  { version, ...body }: Body & { readonly version: number },
): Promise<Written> {
  return asVerb(transaction, `${thing.table}.update`, undefined, async () => {
    const refused = await refusalOf(transaction, thing, place, body);
    const row = await lockThing(transaction, thing.table, place);
    if (!row) return { status: 'absent' };
    if (row.version !== version) return { status: 'stale' };
    if (refused) return refused;
    const entries = Object.entries({ ...thing.columns(body), version: version + 1 });
    await sql`update ${sql.table(thing.table)}
      set ${sql.join(entries.map(([name, value]) => sql`${sql.ref(name)} = ${value}`))}
      where facility_id = ${place.facility} and id = ${place.id}`.execute(transaction);
    return settle(transaction, thing, { place, body, action: 'updated' });
  });
}

async function refusalOf(
  transaction: TenantTransaction,
  thing: Thing,
  place: Place,
  body: Body,
): Promise<RefusedWrite | undefined> {
  const missing = await lockReferences(transaction, place.facility, thing.references(body));
  if (missing) return refusedAt('REFERENCE_UNKNOWN', missing.path, 'field.reference_unknown');
  const unique = thing.unique(body);
  if (unique === undefined) return undefined;
  const taken = await sql`select from ${sql.table(thing.table)} t
    where t.facility_id = ${place.facility} and t.${sql.ref(unique.column)} = ${unique.value} and t.id <> ${place.id}
    limit 1`.execute(transaction);
  return taken.rows.length > 0 ? refusedAt('ALREADY_EXISTS', unique.path, 'field.taken') : undefined;
}

interface Change {
  readonly place: Place;
  readonly body: Body;
  readonly action: 'created' | 'updated';
}

async function settle(transaction: TenantTransaction, thing: Thing, change: Change): Promise<Written> {
  const { place, body, action } = change;
  const refused = await thing.settle?.(transaction, place, body);
  if (refused) return refused;
  await audit(transaction, place.facility, { action: `${thing.table}.${action}`, entityId: place.id });
  await publish(transaction, place.facility, await thing.touched(transaction, place));
  return { status: 'written', id: place.id };
}
