/** Reads what is said of the touched part of a facility, in the shape from which rows are derived. */
import { sql } from 'kysely';
import type { TenantTransaction } from '#cloud/database/tenant-transaction.ts';
import type { HolidayRow, ScheduleRow } from '#shared/contract/replica-row.ts';
import { type DoorId, identifier } from '#shared/identifier.ts';
import { type WallMs, wallMs } from '#shared/instant.ts';
import type {
  DoorSettings,
  ReaderSettings,
  SaidCredential,
  SaidDoor,
  SaidFacility,
  SaidGrant,
  SaidReader,
} from './derive-feed-rows.ts';
import type { Touched } from './touched.ts';

const wall = (at: Date | null): WallMs | null => (at === null ? null : wallMs(at.getTime()));

/** Deleted things are not there. */
export async function readSaid(
  transaction: TenantTransaction,
  facilityId: string,
  touched: Touched,
): Promise<SaidFacility> {
  const credentials = await readCredentials(transaction, facilityId, touched.holders ?? []);
  const grants = await readGrants(
    transaction,
    facilityId,
    credentials.map(({ id }) => id),
  );
  const groups = await readGroups(transaction, facilityId, grants);
  // A grant counts at a door that is there, and a reader with its door.
  const named = [
    ...(touched.doors ?? []),
    ...grants.flatMap(({ target }) => ('door' in target ? [target.door] : (groups.get(target.group) ?? []))),
  ];
  const readers = await readReaders(transaction, facilityId, touched.readers ?? []);
  const doors = await readDoors(transaction, facilityId, [...new Set([...named, ...readers.map(({ door }) => door)])]);
  return {
    facility: touched.facility ? await readFacility(transaction, facilityId) : undefined,
    schedules: await readSchedules(transaction, facilityId, touched.schedules ?? []),
    holidays: await readHolidays(transaction, facilityId, touched.holidays ?? []),
    doors,
    readers,
    groups,
    holders: await readHolders(transaction, facilityId, touched.holders ?? []),
    credentials,
    grants,
  };
}

async function readFacility(transaction: TenantTransaction, facilityId: string): Promise<SaidFacility['facility']> {
  const found = await sql<{ name: string; zone: string; pin_salt: Buffer }>`
    select name, zone, pin_salt from facility where id = ${facilityId}`.execute(transaction);
  return found.rows
    .map(({ name, zone, pin_salt }) => ({
      id: identifier<'facility'>(facilityId),
      name,
      zone,
      pinSalt: pin_salt.toString('hex'),
    }))
    .at(0);
}

async function readSchedules(
  transaction: TenantTransaction,
  facilityId: string,
  ids: readonly string[],
): Promise<SaidFacility['schedules']> {
  if (ids.length === 0) return [];
  const found = await sql<{
    id: string;
    name: string;
    weekly: ScheduleRow['weekly'];
    on_holidays: ScheduleRow['onHolidays'];
  }>`select id, name, weekly, on_holidays from schedule
    where facility_id = ${facilityId} and id = any (${ids}) and deleted_at is null order by id`.execute(transaction);
  return found.rows.map(({ id, name, weekly, on_holidays }) => ({
    id: identifier<'schedule'>(id),
    name,
    weekly,
    onHolidays: on_holidays,
  }));
}

async function readHolidays(
  transaction: TenantTransaction,
  facilityId: string,
  ids: readonly string[],
): Promise<SaidFacility['holidays']> {
  if (ids.length === 0) return [];
  const found = await sql<Pick<HolidayRow, 'id' | 'name' | 'date'>>`
    select id, name, to_char(date, 'YYYY-MM-DD') as date from holiday
    where facility_id = ${facilityId} and id = any (${ids}) and deleted_at is null order by id`.execute(transaction);
  return found.rows;
}

async function readDoors(
  transaction: TenantTransaction,
  facilityId: string,
  ids: readonly string[],
): Promise<readonly SaidDoor[]> {
  if (ids.length === 0) return [];
  const found = await sql<{ id: DoorId; name: string; settings: DoorSettings }>`
    select id, name, settings from door
    where facility_id = ${facilityId} and id = any (${ids}) and deleted_at is null order by id`.execute(transaction);
  return found.rows;
}

async function readReaders(
  transaction: TenantTransaction,
  facilityId: string,
  ids: readonly string[],
): Promise<readonly SaidReader[]> {
  if (ids.length === 0) return [];
  const found = await sql<{ id: SaidReader['id']; name: string; door: DoorId; settings: ReaderSettings }>`
    select id, name, door_id as door, settings from reader
    where facility_id = ${facilityId} and id = any (${ids}) and deleted_at is null order by id`.execute(transaction);
  return found.rows;
}

async function readHolders(
  transaction: TenantTransaction,
  facilityId: string,
  ids: readonly string[],
): Promise<SaidFacility['holders']> {
  if (ids.length === 0) return [];
  const found = await sql<SaidFacility['holders'][number]>`select id, name from holder
    where facility_id = ${facilityId} and id = any (${ids}) and erased_at is null order by id`.execute(transaction);
  return found.rows;
}

interface CredentialColumns {
  readonly id: SaidCredential['id'];
  readonly holder_id: SaidCredential['holder'];
  readonly kind: SaidCredential['kind'];
  readonly lookup: string | null;
  readonly status: SaidCredential['status'];
  readonly valid_from: Date | null;
  readonly valid_until: Date | null;
  readonly lease_ms: number | null;
  readonly uses_max: number | null;
  readonly is_duress: boolean;
  readonly overrides_lockdown: boolean;
  readonly needs_extended_time: boolean;
  readonly is_first_person: boolean;
}

async function readCredentials(
  transaction: TenantTransaction,
  facilityId: string,
  holders: readonly string[],
): Promise<readonly SaidCredential[]> {
  if (holders.length === 0) return [];
  const found = await sql<CredentialColumns>`select id, holder_id, kind, lookup, status, valid_from, valid_until,
      lease_ms, uses_max, is_duress, overrides_lockdown, needs_extended_time, is_first_person
    from credential where facility_id = ${facilityId} and holder_id = any (${holders})
    order by id`.execute(transaction);
  return found.rows.map((row) => ({
    id: row.id,
    holder: row.holder_id,
    kind: row.kind,
    lookup: row.lookup,
    status: row.status,
    validFrom: wall(row.valid_from),
    validUntil: wall(row.valid_until),
    leaseMs: row.lease_ms,
    usesMax: row.uses_max,
    isDuress: row.is_duress,
    overridesLockdown: row.overrides_lockdown,
    needsExtendedTime: row.needs_extended_time,
    isFirstPerson: row.is_first_person,
  }));
}

interface GrantColumns {
  readonly id: SaidGrant['id'];
  readonly credential_id: SaidGrant['credential'];
  readonly door_id: DoorId | null;
  readonly group_id: string;
  readonly schedule_id: SaidGrant['schedule'];
  readonly valid_from: Date | null;
  readonly valid_until: Date | null;
}

async function readGrants(
  transaction: TenantTransaction,
  facilityId: string,
  credentials: readonly string[],
): Promise<readonly SaidGrant[]> {
  if (credentials.length === 0) return [];
  const found = await sql<GrantColumns>`
    select id, credential_id, door_id, group_id, schedule_id, valid_from, valid_until from credential_grant
    where facility_id = ${facilityId} and credential_id = any (${credentials}) and deleted_at is null
    order by id`.execute(transaction);
  return found.rows.map((row) => ({
    id: row.id,
    credential: row.credential_id,
    target: row.door_id === null ? { group: row.group_id } : { door: row.door_id },
    schedule: row.schedule_id,
    validFrom: wall(row.valid_from),
    validUntil: wall(row.valid_until),
  }));
}

async function readGroups(
  transaction: TenantTransaction,
  facilityId: string,
  grants: readonly SaidGrant[],
): Promise<ReadonlyMap<string, readonly DoorId[]>> {
  const ids = [...new Set(grants.flatMap(({ target }) => ('group' in target ? [target.group] : [])))];
  if (ids.length === 0) return new Map();
  const found = await sql<{ group_id: string; doors: DoorId[] }>`
    select group_id, array_agg(door_id order by door_id) as doors from door_group_member
    where facility_id = ${facilityId} and group_id = any (${ids}) group by group_id`.execute(transaction);
  return new Map(found.rows.map(({ group_id, doors }) => [group_id, doors]));
}
