/** A reader, a lock's output or an input of a gateway belongs to one door only; a fire input may be many doors’. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { DoorSettings, ReaderSettings } from './derive-feed-rows.ts';
import type { Place } from './thing.ts';

export type WiringField = 'lock' | 'contact' | 'rex' | 'device';

interface Wired {
  readonly id: string;
  readonly door: string;
  readonly settings: DoorSettings | ReaderSettings;
}

/**
 * Doors of no gateway yet are looked at when they are bound.
 * @returns the field of the door, or of one of its readers, that is wired like another's on the same gateway.
 */
export async function wiringConflict(
  transaction: TenantTransaction,
  { facility, id }: Place,
): Promise<WiringField | undefined> {
  const found = await sql<Wired>`
    with bound as (
      select other.door_id from door_binding own
      join door_binding other on other.facility_id = own.facility_id and other.gateway_id = own.gateway_id
      where own.facility_id = ${facility} and own.door_id = ${id})
    select d.id, d.id as door, d.settings from door d
    where d.facility_id = ${facility} and d.id in (select door_id from bound) and d.deleted_at is null
    union all
    select r.id, r.door_id, r.settings from reader r
    where r.facility_id = ${facility} and r.door_id in (select door_id from bound) and r.deleted_at is null`.execute(
    transaction,
  );
  const used = new Map<string, WiringField>();
  const own: (readonly [point: string, field: WiringField])[] = [];
  for (const wired of found.rows) {
    for (const [point, field] of pointsOf(wired.settings)) {
      if (wired.door === id) own.push([point, field]);
      else used.set(point, field);
    }
  }
  const seen = new Set<string>();
  for (const [point, field] of own) {
    if (used.has(point) || seen.has(point)) return field;
    seen.add(point);
  }
  return undefined;
}

function pointsOf(settings: DoorSettings | ReaderSettings): readonly (readonly [string, WiringField])[] {
  if ('head' in settings) return [[`reader ${settings.head} of ${settings.device}`, 'device']];
  const { lock, contact, rex } = settings;
  return [
    ...(lock === null ? [] : [[`output ${lock.output} of ${lock.device}`, 'lock'] as const]),
    ...(contact === null ? [] : [[`input ${contact.input} of ${contact.device}`, 'contact'] as const]),
    ...(rex === null ? [] : [[`input ${rex.input} of ${rex.device}`, 'rex'] as const]),
  ];
}
