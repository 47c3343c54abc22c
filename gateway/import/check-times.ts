/** Whether times make sense: a zone that exists, intervals that have a length, validities that end after they begin. */
import { isKnownZone } from '../door/schedule-windows.ts';
import { civilMoment } from './civil-moment.ts';
import type { ImportIssues } from './import-issue.ts';
import type { Placed, WrittenRows } from './read-rows.ts';

interface Validity {
  readonly validFrom: string | null;
  readonly validUntil: string | null;
}

export function checkTimes(rows: WrittenRows, issues: ImportIssues): void {
  for (const { place, row } of rows.facility) {
    if (!isKnownZone(row.zone))
      issues.add({ place, field: 'zone', rule: `is no zone that is known: ${row.zone}`, example: '"Asia/Tokyo"' });
  }
  for (const schedule of rows.schedules) checkIntervals(schedule, issues);
  const zone = rows.facility.map(({ row }) => row.zone).find(isKnownZone);
  if (zone === undefined) return;
  for (const row of [...rows.credentials, ...rows.grants]) checkValidity(row, zone, issues);
}

function checkIntervals({ place, row }: WrittenRows['schedules'][number], issues: ImportIssues): void {
  const intervals = [
    ...row.weekly.map((interval, at) => ({ field: `weekly[${at}]`, ...interval })),
    ...row.onHolidays.map((interval, at) => ({ field: `onHolidays[${at}]`, ...interval })),
  ];
  for (const { field, from, until } of intervals) {
    if (from !== until) continue;
    const rule = `has no length: it ends when it begins, at ${from}`;
    issues.add({ place, field, rule, example: '00:00 until 24:00 for a whole day' });
  }
  if (intervals.length === 0)
    issues.add({ place, field: 'weekly', rule: 'has no interval', example: '08:00 until 19:00 on mon' });
}

function checkValidity({ place, row }: Placed<Validity>, zone: string, issues: ImportIssues): void {
  const from = row.validFrom === null ? null : civilMoment(row.validFrom, zone, 'from');
  const until = row.validUntil === null ? null : civilMoment(row.validUntil, zone, 'until');
  const example = '"2026-04-01T09:00"';
  if (from === undefined) issues.add({ place, field: 'validFrom', rule: 'is no date that exists', example });
  if (until === undefined) issues.add({ place, field: 'validUntil', rule: 'is no date that exists', example });
  if (typeof from === 'number' && typeof until === 'number' && from >= until)
    issues.add({ place, field: 'validUntil', rule: 'must be after validFrom', example });
}
