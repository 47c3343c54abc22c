/**
 * Sorted, disjoint, half-open spans of wall time, and the one question a decision asks of them.
 */
import type { WallMs, WallWindow } from '#shared/instant.ts';

/** Whether `at` lies in one of the windows. They are ascending and disjoint; the search is binary. */
export function isInside(windows: readonly WallWindow[], at: WallMs): boolean {
  const next = windows[indexAfter(windows, at)];
  return next !== undefined && next.from <= at;
}

/** The first moment not before `at` that lies in a window; `undefined` where no window is left. */
export function nextInside(windows: readonly WallWindow[], at: WallMs): WallMs | undefined {
  const next = windows[indexAfter(windows, at)];
  return next === undefined ? undefined : later(next.from, at);
}

/** The first moment after `at` at which a window begins or ends; what a timer waits for. */
export function nextEdge(windows: readonly WallWindow[], at: WallMs): WallMs | undefined {
  const next = windows[indexAfter(windows, at)];
  if (next === undefined) return undefined;
  return next.from > at ? next.from : next.until;
}

/** Sorts, drops the empty, and joins what overlaps or touches. */
export function unite(windows: readonly WallWindow[]): readonly WallWindow[] {
  const united: { from: WallMs; until: WallMs }[] = [];
  const sorted = windows.filter((window) => window.from < window.until).sort((a, b) => a.from - b.from);
  for (const { from, until } of sorted) {
    const last = united.at(-1);
    if (last !== undefined && from <= last.until) last.until = later(last.until, until);
    else united.push({ from, until });
  }
  return united;
}

/** Index of the first window that ends after `at`. */
function indexAfter(windows: readonly WallWindow[], at: WallMs): number {
  let low = 0;
  let high = windows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const window = windows[middle];
    if (window !== undefined && window.until <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

const later = (a: WallMs, b: WallMs): WallMs => (a > b ? a : b);
