/**
 * How a row stands in its table: the columns in order, and the row again from them.
 *
 * What a decision reads often (credential, grant, holder) is plain columns; what is read once at start keeps its nested
 * parts as canonical JSON. Columns are only turned back into rows after their code was checked.
 */
import { type CanonicalValue, canonicalText } from '#shared/canonical.ts';
import {
  type CredentialRow,
  type DoorRow,
  doorRow,
  type FacilityRow,
  facilityRow,
  type GrantRow,
  type HolderRow,
  type HolidayRow,
  holidayRow,
  type ReaderRow,
  readerRow,
  type ScheduleRow,
  scheduleRow,
} from '#shared/contract/replica-row.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';
import type { RowKind } from './digest.ts';
import type { ColumnValue } from './row-mac.ts';

export interface RowOf {
  readonly facility: FacilityRow;
  readonly schedule: ScheduleRow;
  readonly holiday: HolidayRow;
  readonly door: DoorRow;
  readonly reader: ReaderRow;
  readonly holder: HolderRow;
  readonly credential: CredentialRow;
  readonly grant: GrantRow;
}

export type Columns = readonly ColumnValue[];

const json = (value: CanonicalValue): string => canonicalText(value);

/** Bits of the `flags` column. */
const flag = { isDuress: 1, overridesLockdown: 2, needsExtendedTime: 4, isFirstPerson: 8 } as const;

function flagsOf(row: CredentialRow): number {
  return (
    (row.isDuress ? flag.isDuress : 0) |
    (row.overridesLockdown ? flag.overridesLockdown : 0) |
    (row.needsExtendedTime ? flag.needsExtendedTime : 0) |
    (row.isFirstPerson ? flag.isFirstPerson : 0)
  );
}

function doorColumns(row: DoorRow): Columns {
  const { id, name, version, lock, contact, rex, fire, ...rest } = row;
  const { secondFactor, escort, antiPassback, firstPerson, freeSchedule, interlockGroup, ...timing } = rest;
  const rules = { secondFactor, escort, antiPassback, firstPerson, freeSchedule, interlockGroup };
  return [id, name, json({ lock, contact, rex, fire }), json(timing), json(rules), version];
}

function credentialColumns(row: CredentialRow): Columns {
  const leaseMs = row.leaseMs === 'unlimited' ? null : row.leaseMs;
  const bounds = [row.validFrom, row.validUntil, leaseMs, row.usesMax];
  return [row.lookup, row.id, row.holder, row.kind, row.status, ...bounds, flagsOf(row), row.version];
}

/** Every column of a row but the bucket and the code, in the order of its table. */
export const columnsOf: { readonly [Kind in RowKind]: (row: RowOf[Kind]) => Columns } = {
  facility: (row) => [row.id, row.name, row.zone, row.pinSalt, row.version],
  schedule: (row) => [row.id, row.name, json(row.weekly), json(row.onHolidays), row.version],
  holiday: (row) => [row.id, row.name, row.date, row.version],
  door: doorColumns,
  reader: (row) => {
    const formats = json(row.cardFormats);
    const areas = [row.fromArea, row.toArea];
    return [row.id, row.name, row.door, row.device, row.head, ...areas, row.uidOrder, formats, row.version];
  },
  holder: (row) => [row.id, row.name, row.version],
  credential: credentialColumns,
  grant: (row) => [row.credential, row.door, row.grant, row.schedule, row.validFrom, row.validUntil, row.version],
};

const parsed = (column: ColumnValue | undefined): unknown => JSON.parse(String(column));

function doorFrom([id, name, wiring, timing, rules, version]: Columns): DoorRow {
  const nested = Object.assign({}, parsed(wiring), parsed(timing), parsed(rules));
  return doorRow.parse({ id, name, ...nested, version });
}

/** The rows that are read at start, again from their columns. */
export const smallRowFrom = {
  facility: ([id, name, zone, pinSalt, version]: Columns) => facilityRow.parse({ id, name, zone, pinSalt, version }),
  schedule: ([id, name, weekly, onHolidays, version]: Columns) =>
    scheduleRow.parse({ id, name, weekly: parsed(weekly), onHolidays: parsed(onHolidays), version }),
  holiday: ([id, name, date, version]: Columns) => holidayRow.parse({ id, name, date, version }),
  door: doorFrom,
  reader: ([id, name, door, device, head, fromArea, toArea, uidOrder, formats, version]: Columns) => {
    const cardFormats = parsed(formats);
    return readerRow.parse({ id, name, door, device, head, fromArea, toArea, uidOrder, cardFormats, version });
  },
};

const boundFrom = (column: ColumnValue | undefined) => (typeof column === 'number' ? wallMs(column) : null);
const textFrom = (column: ColumnValue | undefined): string => column as string;
const numberFrom = (column: ColumnValue | undefined): number => column as number;

/** A credential whose code was checked; nothing is parsed again on the way of a decision. */
export function credentialFrom(columns: Columns): CredentialRow {
  const flags = numberFrom(columns[9]);
  return {
    id: identifier(textFrom(columns[1])),
    holder: identifier(textFrom(columns[2])),
    kind: columns[3] as CredentialRow['kind'],
    lookup: textFrom(columns[0]),
    status: columns[4] as CredentialRow['status'],
    validFrom: boundFrom(columns[5]),
    validUntil: boundFrom(columns[6]),
    leaseMs: columns[7] === null ? 'unlimited' : numberFrom(columns[7]),
    usesMax: columns[8] === null ? null : numberFrom(columns[8]),
    isDuress: (flags & flag.isDuress) !== 0,
    overridesLockdown: (flags & flag.overridesLockdown) !== 0,
    needsExtendedTime: (flags & flag.needsExtendedTime) !== 0,
    isFirstPerson: (flags & flag.isFirstPerson) !== 0,
    version: numberFrom(columns[10]),
  };
}

export function grantFrom(columns: Columns): GrantRow {
  return {
    grant: identifier(textFrom(columns[2])),
    credential: identifier(textFrom(columns[0])),
    door: identifier(textFrom(columns[1])),
    schedule: columns[3] === null ? null : identifier(textFrom(columns[3])),
    validFrom: boundFrom(columns[4]),
    validUntil: boundFrom(columns[5]),
    version: numberFrom(columns[6]),
  };
}

export function holderFrom(columns: Columns): HolderRow {
  return { id: identifier(textFrom(columns[0])), name: textFrom(columns[1]), version: numberFrom(columns[2]) };
}
