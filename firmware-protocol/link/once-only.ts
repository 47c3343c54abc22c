/**
 * Which commands of a session a lock has begun, and what came of them: each is carried out once.
 *
 * A table of 32 places, a command's number deciding its place. Guarantee: a number is called new at most once, for ever:
 * its place remembers it until a greater number takes it, and then it is `too-old`, which says nothing about whether it was
 * carried out. A gateway that keeps its open numbers within 32 never meets it. The table lives and dies with its session.
 */
import type { Result } from './from-lock.ts';

export const placesCount = 32;

interface Place {
  readonly request: number;
  /** `undefined` while it is being carried out. */
  readonly result: Result | undefined;
}

export type OnceOnly = ReadonlyMap<number, Place>;

export const nothingBegun: OnceOnly = new Map();

export type Standing =
  | { readonly kind: 'new'; readonly table: OnceOnly }
  | { readonly kind: 'begun' }
  | { readonly kind: 'answered'; readonly result: Result }
  | { readonly kind: 'too-old' };

/** Whether the command may be carried out; `new` notes that it is. @param request 1 and more. */
export function beginOnce(table: OnceOnly, request: number): Standing {
  const place = table.get(request % placesCount);
  if (place === undefined || place.request < request) {
    return { kind: 'new', table: new Map(table).set(request % placesCount, { request, result: undefined }) };
  }
  if (place.request > request) return { kind: 'too-old' };
  return place.result === undefined ? { kind: 'begun' } : { kind: 'answered', result: place.result };
}

/** Remembers what came of a command; `undefined` for one that is not being carried out. */
export function answerOnce(table: OnceOnly, request: number, result: Result): OnceOnly | undefined {
  const place = table.get(request % placesCount);
  if (place?.request !== request || place.result !== undefined) return undefined;
  return new Map(table).set(request % placesCount, { request, result });
}
