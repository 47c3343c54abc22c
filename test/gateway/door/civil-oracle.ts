/**
 * Schedules by brute force: every minute is asked what the clock on the wall shows.
 *
 * Granting: the minutes inside an interval after which the clock never again shows a time at or before its start, and
 * before which it has never shown a time at or after its end. Restricting: the minutes between the first at or after the
 * start and the last before the end, and what lies before the end is shown for the last time. The clock is the runtime’s Intl, not the library under test.
 */
import type { HolidayRow, ScheduleRow } from '#shared/contract/replica-row.ts';

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const names = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

/** Civil milliseconds (as if UTC) that a clock in the zone shows. */
export function civilClock(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (instant) => {
    const part = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
    const at = (name: Intl.DateTimeFormatPartTypes) => part.get(name) ?? Number.NaN;
    return Date.UTC(at('year'), at('month') - 1, at('day'), at('hour'), at('minute'), at('second'));
  };
}

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** @returns for each minute of [from, until), whether it is inside by the granting and by the restricting rule. */
export function insideByMinute(
  schedule: Pick<ScheduleRow, 'weekly' | 'onHolidays'>,
  holidays: readonly Pick<HolidayRow, 'date'>[],
  zone: string,
  range: { readonly from: number; readonly until: number },
): { readonly granting: readonly boolean[]; readonly restricting: readonly boolean[] } {
  const start = range.from - 3 * dayMs;
  const count = (range.until - range.from + 6 * dayMs) / minuteMs;
  const clock = civilClock(zone);
  const civil = Array.from({ length: count }, (_, minute) => clock(start + minute * minuteMs));
  const granting = new Set<number>();
  const restricting = new Set<number>();
  const [firstDay, lastDay] = [Math.floor((civil[0] ?? 0) / dayMs), Math.floor((civil.at(-1) ?? 0) / dayMs)];
  for (let day = firstDay; day <= lastDay; day += 1) {
    for (const { from, until } of intervalsOn(day, schedule, holidays)) {
      const opens = day * dayMs + minuteOf(from) * minuteMs;
      const wholeDay = minuteOf(until) > minuteOf(from) ? 0 : dayMs;
      const closes = day * dayMs + minuteOf(until) * minuteMs + wholeDay;
      markInterval(civil, opens, closes, { granting, restricting });
    }
  }
  const skipped = (range.from - start) / minuteMs;
  const minutes = Array.from({ length: (range.until - range.from) / minuteMs }, (_, minute) => minute + skipped);
  return {
    granting: minutes.map((minute) => granting.has(minute)),
    restricting: minutes.map((minute) => restricting.has(minute)),
  };
}

function intervalsOn(
  day: number,
  { weekly, onHolidays }: Pick<ScheduleRow, 'weekly' | 'onHolidays'>,
  holidays: readonly Pick<HolidayRow, 'date'>[],
) {
  const date = new Date(day * dayMs);
  if (holidays.some((holiday) => holiday.date === date.toISOString().slice(0, 10))) return onHolidays;
  const name = names[date.getUTCDay()];
  return weekly.filter(({ days }) => name !== undefined && days.includes(name));
}

function markInterval(
  civil: readonly number[],
  opens: number,
  closes: number,
  { granting, restricting }: { granting: Set<number>; restricting: Set<number> },
): void {
  // Civil time jumps by hours, never by days, around an interval: a window of three days sees every repetition.
  const low = lowest(civil, opens - dayMs);
  const high = lowest(civil, closes + dayMs);
  let grantsFrom = low;
  let firstAfter = high;
  let firstInside = high;
  let restrictsUntil = low;
  for (let minute = low; minute < high; minute += 1) {
    const shown = civil[minute] ?? Number.NaN;
    // A start or an end that is shown twice is meant where it is shown the second time.
    if (shown < opens) grantsFrom = minute + 1;
    if (shown === opens) grantsFrom = minute;
    if (shown >= closes && firstAfter === high) firstAfter = minute;
    if (shown >= opens && firstInside === high) firstInside = minute;
    if (shown < closes) restrictsUntil = minute + 1;
    if (shown === closes) restrictsUntil = minute;
  }
  for (let minute = grantsFrom; minute < firstAfter; minute += 1) granting.add(minute);
  for (let minute = firstInside; minute < restrictsUntil; minute += 1) restricting.add(minute);
}

/** First minute whose civil time is at or after `target`, roughly: civil time is sorted but for repetitions. */
function lowest(civil: readonly number[], target: number): number {
  const first = civil[0] ?? 0;
  const guess = Math.round((target - first) / minuteMs);
  return Math.max(0, Math.min(civil.length, guess));
}
