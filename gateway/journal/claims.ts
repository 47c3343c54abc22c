/**
 * Who decides the fate of a hand-over that is late: the waiter may give it up only before the thread has taken it.
 *
 * Shared memory, one cell per hand-over in flight: an entry that was given up is never written afterwards, and one
 * that was taken is never given up as if it had not been.
 */
const waiting = 1;
const taken = 2;
const givenUp = 3;

/** More hand-overs than this are never in flight. */
export const claimsMax = 4_096;

export type Claims = Int32Array<SharedArrayBuffer>;

export const createClaims = (): Claims => new Int32Array(new SharedArrayBuffer(claimsMax * 4));

const cellOf = (op: number): number => op % claimsMax;

export function offer(claims: Claims, op: number): void {
  Atomics.store(claims, cellOf(op), waiting);
}

/** The thread is about to write it. @returns false if it was given up. */
export function take(claims: Claims, op: number): boolean {
  return Atomics.compareExchange(claims, cellOf(op), waiting, taken) === waiting;
}

/** The waiter's time is up. @returns false if the thread has it already. */
export function giveUp(claims: Claims, op: number): boolean {
  return Atomics.compareExchange(claims, cellOf(op), waiting, givenUp) === waiting;
}
