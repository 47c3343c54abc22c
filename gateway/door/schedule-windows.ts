/**
 * Schedules are civil time; decisions compare integers. This compiles the one into the other.
 *
 * Guarantees: a granting window is never wider than written, a restricting one never narrower, on every day of every zone.
 * Where the clock repeats an hour, a granting start is the second occurrence and an end the first; restricting, the other
 * way. A time that the clock skips is the moment of the skip. What a skip or a repetition leaves empty is said.
 * An interval belongs to the day on which it starts: a holiday replaces what starts on it, not what runs into it.
 * The rules of zones come from the runtime’s tzdata; the host’s own zone plays no part.
 */
import { Temporal } from 'temporal-polyfill';
import type { HolidayRow, ScheduleRow, Weekday } from '#shared/contract/replica-row.ts';
import { type WallMs, type WallWindow, wallMs } from '#shared/instant.ts';
import { unite } from './wall-windows.ts';
import { dayMs, instantsOf, minuteMs, type OffsetSpan } from './zone-offsets.ts';

export interface CompiledSchedule {
  /** Ascending and disjoint. */
  readonly windows: readonly WallWindow[];
  /** Intervals that came out empty, by the civil date on which they start. */
  readonly emptied: readonly { readonly date: string; readonly from: string; readonly until: string }[];
}

export interface ScheduleContext {
  /** IANA zone of the facility. */
  readonly zone: string;
  readonly holidays: readonly Pick<HolidayRow, 'date'>[];
  /** What is compiled. Decisions outside it are closed: no grant, every restriction. */
  readonly range: WallWindow;
  /** A grant or free mode: `granting`. Second factor, anti-passback, escort, first person: `restricting`. */
  readonly use: 'granting' | 'restricting';
}

type Interval = { readonly from: string; readonly until: string };
const weekdays: readonly Weekday[] = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
/** 1970-01-01 was a Thursday. */
const weekdayOf = (day: number): Weekday | undefined => weekdays[(((day + 4) % 7) + 7) % 7];
/** The last instant a wall time can name. */
const endOfTime = 8_640_000_000_000_000;

/** @throws RangeError for a zone the runtime does not know */
export function compileSchedule(schedule: ScheduleRow, context: ScheduleContext): CompiledSchedule {
  const { zone, range, use } = context;
  const reach = { from: wallMs(range.from - 3 * dayMs), until: wallMs(range.until + 3 * dayMs) };
  const spans = offsetsOver(zone, reach);
  const holidays = new Set(context.holidays.map(({ date }) => dayNumber(date)));
  const windows: WallWindow[] = use === 'restricting' ? beyond(range) : [];
  const emptied: { date: string; from: string; until: string }[] = [];
  const lastDay = civilDay(reach.until, spans);
  for (let day = civilDay(reach.from, spans); day <= lastDay; day += 1) {
    for (const { from, until } of intervalsOf(schedule, day, holidays)) {
      const window = resolve({ from, until }, day, spans, use);
      if (window.from >= window.until) emptied.push({ date: dateOf(day), from, until });
      else windows.push(clip(window, range));
    }
  }
  return { windows: unite(windows), emptied };
}

function intervalsOf(schedule: ScheduleRow, day: number, holidays: ReadonlySet<number>): readonly Interval[] {
  if (holidays.has(day)) return schedule.onHolidays;
  const weekday = weekdayOf(day);
  return schedule.weekly.filter(({ days }) => weekday !== undefined && days.includes(weekday));
}

/** A window of one day's interval; from ≥ until where nothing is left of it. */
function resolve(
  interval: Interval,
  day: number,
  spans: readonly OffsetSpan[],
  use: ScheduleContext['use'],
): WallWindow {
  const start = minuteOf(interval.from);
  const end = minuteOf(interval.until);
  const lastsMinutes = end > start ? end - start : end + 24 * 60 - start;
  const startsAt = day * dayMs + start * minuteMs;
  const from = instantsOf(startsAt, spans);
  const until = instantsOf(startsAt + lastsMinutes * minuteMs, spans);
  return use === 'granting'
    ? { from: wallMs(from.last), until: wallMs(until.first) }
    : { from: wallMs(from.first), until: wallMs(until.last) };
}

/** Minutes since midnight of `HH:MM`, 0–1 440. */
function minuteOf(time: string): number {
  return Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
}

const civilDay = (instant: number, spans: readonly OffsetSpan[]): number => {
  const span = spans.find(({ until }) => instant < until);
  return Math.floor((instant + (span?.offsetMs ?? 0)) / dayMs);
};

const clip = (window: WallWindow, range: WallWindow): WallWindow => ({
  from: wallMs(Math.max(window.from, range.from)),
  until: wallMs(Math.min(window.until, range.until)),
});

/** What was not compiled is restricted. */
const beyond = (range: WallWindow): WallWindow[] => [
  { from: wallMs(0), until: range.from },
  { from: range.until, until: wallMs(endOfTime) },
];

/** The facility's civil day around `at`: from its midnight to the next, however long that day is. */
export function facilityDay(zone: string, at: WallMs): WallWindow {
  const midnight = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).startOfDay();
  const next = midnight.add({ days: 1 }).startOfDay();
  return { from: wallMs(midnight.epochMilliseconds), until: wallMs(next.epochMilliseconds) };
}

const at = (zone: string, instant: number): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);

/** Whether the runtime knows a zone by this name. */
export function isKnownZone(zone: string): boolean {
  try {
    at(zone, 0);
    return true;
  } catch {
    return false;
  }
}

/** The spans that cover `range`, ascending and without holes; the first and last have no end. @throws RangeError for an unknown zone */
function offsetsOver(zone: string, range: WallWindow): readonly [OffsetSpan, ...OffsetSpan[]] {
  let moment = at(zone, range.from);
  let first: OffsetSpan = { from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY, offsetMs: offset(moment) };
  const spans: OffsetSpan[] = [];
  for (;;) {
    const next = moment.getTimeZoneTransition('next');
    if (next === null || next.epochMilliseconds >= range.until) return [first, ...spans];
    const from = next.epochMilliseconds;
    const last = spans.pop();
    if (last === undefined) first = { ...first, until: from };
    else spans.push({ ...last, until: from });
    spans.push({ from, until: Number.POSITIVE_INFINITY, offsetMs: offset(next) });
    moment = next;
  }
}

const offset = (moment: Temporal.ZonedDateTime): number => moment.offsetNanoseconds / 1_000_000;

/** Days since 1970-01-01 of a civil date `YYYY-MM-DD`. */
function dayNumber(date: string): number {
  return Temporal.PlainDate.from(date).toZonedDateTime('UTC').epochMilliseconds / dayMs;
}

/** The civil date of a day number. */
function dateOf(day: number): string {
  return at('UTC', day * dayMs)
    .toPlainDate()
    .toString();
}
