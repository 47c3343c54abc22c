/**
 * Schedules in CSV: one row per interval, rows of one id together making one schedule.
 *
 * `days` lists weekdays, or spans of them (`mon-fri`), or is `holidays` for what replaces the weekday then.
 */
import { type Weekday, weekday } from '#shared/contract/replica-row.ts';
import type { SourceRecord } from './source-record.ts';

interface Interval {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly days?: unknown;
  readonly from?: unknown;
  readonly until?: unknown;
}

interface Gathered {
  readonly place: SourceRecord['place'];
  readonly value: Record<string, unknown> & { weekly: unknown[]; onHolidays: unknown[] };
}

export function gatherSchedules(intervals: readonly SourceRecord[]): readonly SourceRecord[] {
  const schedules = new Map<unknown, Gathered>();
  for (const { place, value } of intervals) {
    const { id, name, days, from, until } = value as Interval;
    const known = schedules.get(id);
    const schedule = known ?? { place, value: { id, name, weekly: [], onHolidays: [] } };
    if (known === undefined) schedules.set(id, schedule);
    const list = Array.isArray(days) ? days : [];
    if (list.length === 1 && list[0] === 'holidays') schedule.value.onHolidays.push({ from, until });
    else schedule.value.weekly.push({ days: list.flatMap((day) => weekdaysOf(String(day))), from, until });
  }
  return [...schedules.values()].map(({ place, value }) => ({ section: 'schedules', place, value }));
}

/** `mon-fri` is five days, `sat-mon` three; what is neither a day nor a span is left for the schema to refuse. */
function weekdaysOf(text: string): readonly string[] {
  const [first = '', last] = text.split('-');
  const week = weekday.options;
  const from = week.indexOf(first as Weekday);
  const until = week.indexOf(last as Weekday);
  if (last === undefined || from < 0 || until < 0) return [text];
  const length = ((until - from + week.length) % week.length) + 1;
  return Array.from({ length }, (_, offset) => week[(from + offset) % week.length] ?? text);
}
