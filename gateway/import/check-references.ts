/**
 * Whether rows fit together: ids once, names that name something, points of wiring used once.
 */

import { standardFormats } from '#protocol/wiegand/standard-formats.ts';
import type { Rule } from '#shared/contract/replica-row.ts';
import type { ImportIssues } from './import-issue.ts';
import type { Placed, WrittenRows } from './read-rows.ts';
import { type Section, sections } from './section.ts';
import type { SourceRecord } from './source-record.ts';

/** What a field names, and the section in which it must stand. */
interface Reference {
  readonly field: string;
  readonly to: Section;
  readonly id: string;
}

const nouns = {
  facility: 'facility',
  schedules: 'schedule',
  holidays: 'holiday',
  doors: 'door',
  readers: 'reader',
  holders: 'holder',
  credentials: 'credential',
  grants: 'grant',
} as const satisfies Record<Section, string>;

/** @param records all that was written: a row that failed its schema still has an id that others may name. */
export function checkReferences(rows: WrittenRows, records: readonly SourceRecord[], issues: ImportIssues): void {
  const ids = collectIds(records, issues);
  const check = (row: Placed<unknown>, references: readonly Reference[]) => {
    for (const { field, to, id } of references) {
      if (ids[to].has(id) || issues.isPartial(to)) continue;
      const example = [...ids[to]].slice(0, 3).join(', ');
      issues.add({ place: row.place, field, rule: `names no ${nouns[to]}: ${id}`, example });
    }
  };
  for (const row of rows.doors) check(row, doorReferences(row.row));
  for (const row of rows.readers) check(row, [{ field: 'door', to: 'doors', id: row.row.door }]);
  for (const row of rows.credentials) check(row, [{ field: 'holder', to: 'holders', id: row.row.holder }]);
  for (const row of rows.grants) check(row, grantReferences(row.row));
  checkWiring(rows, issues);
  checkFormats(rows.readers, issues);
}

function collectIds(records: readonly SourceRecord[], issues: ImportIssues): Readonly<Record<Section, Set<string>>> {
  const ids = Object.fromEntries(sections.map((section) => [section, new Map<string, SourceRecord>()]));
  for (const record of records) {
    const { section, place, value } = record;
    const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : undefined;
    if (typeof id !== 'string') continue;
    const first = ids[section]?.get(id);
    if (first === undefined) ids[section]?.set(id, record);
    else {
      const rule = `is used twice: ${id} stands already on line ${first.place.line} (${first.place.row})`;
      issues.add({ place, field: 'id', rule, example: '' });
    }
  }
  const keys = sections.map((section) => [section, new Set(ids[section]?.keys())]);
  return Object.fromEntries(keys) as Record<Section, Set<string>>;
}

function doorReferences(door: WrittenRows['doors'][number]['row']): readonly Reference[] {
  const references: Reference[] = [];
  const rule = (field: string, written: Rule) => {
    if (typeof written !== 'string') references.push({ field, to: 'schedules', id: written.schedule });
  };
  rule('secondFactor', door.secondFactor);
  rule('escort', door.escort);
  rule('antiPassback.when', door.antiPassback.when);
  rule('firstPerson', door.firstPerson);
  if (door.freeSchedule !== null) references.push({ field: 'freeSchedule', to: 'schedules', id: door.freeSchedule });
  return references;
}

function grantReferences(grant: WrittenRows['grants'][number]['row']): readonly Reference[] {
  const references: Reference[] = [
    ...grant.credentials.map((id, at) => ({ field: `credentials[${at}]`, to: 'credentials' as const, id })),
    ...grant.doors.map((id, at) => ({ field: `doors[${at}]`, to: 'doors' as const, id })),
  ];
  if (grant.schedule !== null) references.push({ field: 'schedule', to: 'schedules', id: grant.schedule });
  return references;
}

/** A reader, a lock output or an input belongs to one door only. */
function checkWiring(rows: WrittenRows, issues: ImportIssues): void {
  const used = new Map<string, Placed<{ readonly id: string }>>();
  const use = (row: Placed<{ readonly id: string }>, field: string, point: string) => {
    const other = used.get(point);
    if (other === undefined) used.set(point, row);
    else issues.add({ place: row.place, field, rule: `is ${point}, which ${other.row.id} already has`, example: '' });
  };
  for (const row of rows.readers) use(row, 'head', `reader ${row.row.head} of ${row.row.device}`);
  for (const door of rows.doors) {
    const { lock, contact, rex } = door.row;
    if (lock !== null) use(door, 'lock', `output ${lock.output} of ${lock.device}`);
    // A fire input is one for many doors.
    if (contact !== null) use(door, 'contact', `input ${contact.input} of ${contact.device}`);
    if (rex !== null) use(door, 'rex', `input ${rex.input} of ${rex.device}`);
  }
}

function checkFormats(readers: WrittenRows['readers'], issues: ImportIssues): void {
  const names = standardFormats.map(({ name }) => name);
  for (const { place, row } of readers) {
    for (const [at, name] of row.cardFormats.entries()) {
      if (names.includes(name)) continue;
      const rule = `is not a known format: ${name}`;
      issues.add({ place, field: `cardFormats[${at}]`, rule, example: names.join(', ') });
    }
  }
}
