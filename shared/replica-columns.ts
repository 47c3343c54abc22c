/**
 * How a row of the replica stands in its table, and the one text of it that is hashed.
 *
 * The cloud and the gateway hash the same bytes, so that both know whether they hold the same rows.
 * What a decision reads often (credential, grant, holder) is plain columns; what is read once at start keeps its nested
 * parts as canonical JSON.
 */
import { type CanonicalValue, canonicalText } from './canonical.ts';
import type {
  CredentialRow,
  DoorRow,
  FacilityRow,
  GrantRow,
  HolderRow,
  HolidayRow,
  ReaderRow,
  ScheduleRow,
} from './contract/replica-row.ts';
import { plainRowHash, type RowKind } from './replica-digest.ts';

export type ColumnValue = string | number | null;

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
export const credentialFlag = { isDuress: 1, overridesLockdown: 2, needsExtendedTime: 4, isFirstPerson: 8 } as const;

function flagsOf(row: CredentialRow): number {
  return (
    (row.isDuress ? credentialFlag.isDuress : 0) |
    (row.overridesLockdown ? credentialFlag.overridesLockdown : 0) |
    (row.needsExtendedTime ? credentialFlag.needsExtendedTime : 0) |
    (row.isFirstPerson ? credentialFlag.isFirstPerson : 0)
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

/**
 * One text for one row. `columns` are all of them, primary key and version included, in the order of the table.
 * What is none of the three types comes from a damaged file (bytes where there was text: `revoked` in bytes would not equal
 * `revoked`), and has a text that no written row has.
 */
export function rowText(kind: string, columns: readonly ColumnValue[]): string {
  let text = kind;
  for (const value of columns) {
    if (value === null) text += '|n';
    else if (typeof value === 'number') text += `|i${value}`;
    else if (typeof value === 'string') text += `|s${value.length}:${value}`;
    else text += '|x';
  }
  return text;
}

/** Hash of a row that needs no key; what both sides add up. @returns 64 lower-case hexadecimal digits. */
export function plainHashOf<Kind extends RowKind>(kind: Kind, row: RowOf[Kind]): string {
  return plainRowHash(rowText(kind, columnsOf[kind](row)));
}
