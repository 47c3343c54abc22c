/**
 * Civil time and instants as integers: what a clock on the wall shows, and when it shows it.
 */
export const minuteMs = 60_000;
export const dayMs = 86_400_000;

/** [from, until) UTC milliseconds in which civil time = UTC + offset. */
export interface OffsetSpan {
  readonly from: number;
  readonly until: number;
  readonly offsetMs: number;
}

/**
 * The instants at which a clock on the wall shows `civilMs` (milliseconds of civil time since 1970-01-01T00:00):
 * one, two where it is repeated, and where it is skipped the one moment at which the clock jumps over it.
 */
export function instantsOf(civilMs: number, spans: readonly OffsetSpan[]): { first: number; last: number } {
  let first: number | undefined;
  let last = Number.NaN;
  for (const span of spans) {
    const instant = civilMs - span.offsetMs;
    if (instant < span.from || instant >= span.until) continue;
    first ??= instant;
    last = instant;
  }
  if (first !== undefined) return { first, last };
  const skip = spans.find((span) => span.from + span.offsetMs > civilMs)?.from ?? Number.NaN;
  return { first: skip, last: skip };
}
