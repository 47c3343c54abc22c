/**
 * A date and time as it is written, as an instant. Without an offset it is civil time in the facility's zone.
 *
 * Where the clock repeats or skips, a beginning is the later and an end the earlier: a validity is never wider than written.
 */
import { Temporal } from 'temporal-polyfill';
import { type WallMs, wallMs } from '#shared/instant.ts';

/** @returns `undefined` for a date that does not exist, such as 30 February. */
export function civilMoment(text: string, zone: string, bound: 'from' | 'until'): WallMs | undefined {
  try {
    if (/(Z|[+-]\d{2}:\d{2})$/.test(text)) return wallMs(Temporal.Instant.from(text).epochMilliseconds);
    const disambiguation = bound === 'from' ? 'later' : 'earlier';
    const civil = Temporal.PlainDateTime.from(text, { overflow: 'reject' });
    return wallMs(civil.toZonedDateTime(zone, { disambiguation }).epochMilliseconds);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
