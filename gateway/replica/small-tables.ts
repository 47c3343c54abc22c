/**
 * The tables that are read whole: facility, schedules, holidays, doors, readers. Verified before the first decision.
 *
 * Guarantees: a set of rows that is not the one applied is refused; a row that does not fit its code is named, and then
 * no decision is made on any of them.
 */

import type { DoorRow, FacilityRow, HolidayRow, ReaderRow, ScheduleRow } from '#shared/contract/replica-row.ts';
import type { DoorId, ScheduleId } from '#shared/identifier.ts';
import { type Columns, type ColumnValue, rowText } from '#shared/replica-columns.ts';
import { slotOf, sumHex } from '#shared/replica-digest.ts';
import type { Store } from '../store/open-database.ts';
import { type Sums, sumOfCodes } from './bucket-check.ts';
import { smallRowFrom } from './row-from-columns.ts';
import type { RowCodes } from './row-mac.ts';
import { rowSql } from './row-sql.ts';

export interface TamperedRow {
  readonly table: string;
  readonly key: string;
}

export interface SmallTables {
  readonly facility: FacilityRow | undefined;
  readonly schedules: ReadonlyMap<ScheduleId, ScheduleRow>;
  readonly holidays: readonly HolidayRow[];
  readonly doors: ReadonlyMap<DoorId, DoorRow>;
  readonly readers: readonly ReaderRow[];
  /** The first row found that does not fit its code. */
  readonly tampered: TamperedRow | undefined;
}

export type SmallTablesReading =
  | { readonly kind: 'whole'; readonly tables: SmallTables }
  | { readonly kind: 'wrong-set'; readonly table: string };

type SmallKind = keyof typeof smallRowFrom;
const smallKinds: readonly SmallKind[] = ['facility', 'schedule', 'holiday', 'door', 'reader'];

/** Whether two states differ in none of these tables, by their sums. */
export function haveSameSmallTables(one: Sums, other: Sums): boolean {
  return smallKinds.every((kind) => one.get(slotOf(kind, 0)) === other.get(slotOf(kind, 0)));
}

export function readSmallTables(store: Store, codes: RowCodes, sums: Sums): SmallTablesReading {
  const facility = readTable<FacilityRow>(store, codes, 'facility');
  const schedule = readTable<ScheduleRow>(store, codes, 'schedule');
  const holiday = readTable<HolidayRow>(store, codes, 'holiday');
  const door = readTable<DoorRow>(store, codes, 'door');
  const reader = readTable<ReaderRow>(store, codes, 'reader');
  const all = [facility, schedule, holiday, door, reader];
  const wrong = all.find(({ kind, sum }) => sum !== (sums.get(slotOf(kind, 0)) ?? sumHex(0n)));
  if (wrong !== undefined) return { kind: 'wrong-set', table: wrong.kind };
  const tables: SmallTables = {
    facility: facility.rows[0],
    schedules: new Map(schedule.rows.map((row) => [row.id, row])),
    holidays: holiday.rows,
    doors: new Map(door.rows.map((row) => [row.id, row])),
    readers: reader.rows,
    tampered: all.find((table) => table.tampered !== undefined)?.tampered,
  };
  return { kind: 'whole', tables };
}

interface TableReading<Row> {
  readonly kind: SmallKind;
  readonly rows: readonly Row[];
  readonly sum: string;
  readonly tampered: TamperedRow | undefined;
}

function readTable<Row>(store: Store, codes: RowCodes, kind: SmallKind): TableReading<Row> {
  const stored = store.prepare<[], ColumnValue[]>(rowSql[kind].all).raw().all();
  const macs: string[] = [];
  const rows: Row[] = [];
  let tampered: TamperedRow | undefined;
  for (const columns of stored) {
    const mac = String(columns.pop());
    macs.push(mac);
    const isOurs = codes.mac(rowText(kind, columns)) === mac;
    if (!isOurs) tampered ??= { table: kind, key: String(columns[0]) };
    const row = rowOf(kind, columns, isOurs) as Row | undefined;
    if (row !== undefined) rows.push(row);
  }
  return { kind, rows, sum: sumOfCodes(macs, codes), tampered };
}

/** A row that is not ours still says which door was asked for, so that the refusal can be told; it decides nothing. */
function rowOf(kind: SmallKind, columns: Columns, isOurs: boolean): unknown {
  if (isOurs) return smallRowFrom[kind](columns);
  try {
    return smallRowFrom[kind](columns);
  } catch {
    // No row at all any more: what it named is unknown from here on.
    return undefined;
  }
}
