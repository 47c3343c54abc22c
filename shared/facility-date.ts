/**
 * A calendar date is a day in a named zone, never derived from a machine's own offset.
 *
 * The same under every host zone and across changes of the clock. Not promised: dates before 1900, when zones were local.
 */
import { type WallMs, wallMs } from './instant.ts';
import { invariant } from './invariant.ts';

const formats = new Map<string, Intl.DateTimeFormat>();
/** More zones than are known do not come from anywhere honest. */
const formatsMax = 1_000;

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  if (formats.size >= formatsMax) formats.clear();
  formats.set(zone, format);
  return format;
}

/** Whether the zone is an IANA name that is known here, such as Asia/Tokyo; offsets such as +09:00 are not. */
export function isZone(zone: string): boolean {
  if (!/^[A-Za-z]/.test(zone)) return false;
  try {
    formatOf(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** @returns `YYYY-MM-DD`: which day it is in the zone at that instant. @throws RangeError for an unknown zone. */
export function toFacilityDate(at: WallMs, zone: string): string {
  const parts = formatOf(zone).formatToParts(at);
  const part = (type: string) => parts.find((candidate) => candidate.type === type)?.value ?? '';
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
}

const dayMs = 86_400_000;

/**
 * The first instant of a day in the zone: midnight, or the end of the gap where midnight is skipped.
 * @param date `YYYY-MM-DD`. @returns the earliest instant whose date is not before it.
 */
export function facilityDayStart(date: string, zone: string): WallMs {
  invariant(/^\d{4}-\d{2}-\d{2}$/.test(date), `a date is YYYY-MM-DD, not ${date}`);
  const utcMidnight = utcMidnightOf(date);
  let before = utcMidnight - 2 * dayMs;
  let reached = utcMidnight + 2 * dayMs;
  while (reached - before > 1) {
    const middle = Math.floor((before + reached) / 2);
    if (toFacilityDate(wallMs(middle), zone) >= date) reached = middle;
    else before = middle;
  }
  return wallMs(reached);
}

/** Days from civil, Howard Hinnant's public-domain algorithm: years begin in March, eras have 400 of them. */
function utcMidnightOf(date: string): number {
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return (era * 146_097 + dayOfEra - 719_468) * dayMs;
}
