/** A row again from its columns; only after their code was checked. How it stands in them: `#shared/replica-columns.ts`. */

import {
  type CredentialRow,
  type DoorRow,
  doorRow,
  facilityRow,
  type GrantRow,
  type HolderRow,
  holidayRow,
  readerRow,
  scheduleRow,
} from '#shared/contract/replica-row.ts';
import { identifier } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';
import { type Columns, type ColumnValue, credentialFlag } from '#shared/replica-columns.ts';

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
    isDuress: (flags & credentialFlag.isDuress) !== 0,
    overridesLockdown: (flags & credentialFlag.overridesLockdown) !== 0,
    needsExtendedTime: (flags & credentialFlag.needsExtendedTime) !== 0,
    isFirstPerson: (flags & credentialFlag.isFirstPerson) !== 0,
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
