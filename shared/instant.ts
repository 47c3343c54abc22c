/**
 * Two kinds of time that must never be mixed.
 *
 * `WallMs` says when something happened to people; it can be missing, wrong, or stepped.
 * `MonoMs` measures how long; it only grows, and means nothing in another boot or another process.
 */
declare const unit: unique symbol;

/** Milliseconds since 1970-01-01T00:00:00Z, integer. */
export type WallMs = number & { readonly [unit]: 'wall' };

/** Monotonic milliseconds since an arbitrary point of this boot. */
export type MonoMs = number & { readonly [unit]: 'mono' };

export const wallMs = (milliseconds: number): WallMs => milliseconds as WallMs;
export const monoMs = (milliseconds: number): MonoMs => milliseconds as MonoMs;

/** The instant `ms` milliseconds after `at` (before it, if negative), on the same clock. */
export function later<Instant extends WallMs | MonoMs>(at: Instant, ms: number): Instant {
  return (at + ms) as Instant;
}

/** Milliseconds from `from` to `to`, on one clock; negative if `to` is the earlier. */
export function elapsedMs<Instant extends WallMs | MonoMs>(from: Instant, to: Instant): number {
  return to - from;
}

/** A half-open span of wall time, [from, until). */
export interface WallWindow {
  readonly from: WallMs;
  readonly until: WallMs;
}
