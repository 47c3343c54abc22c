/**
 * The door process's questions that may still be answered: random numbers in memory, each with the moment it was asked.
 *
 * An answer proves that the cloud spoke after that moment, and nothing later: so what is counted from an answer is counted
 * from the question. A restart forgets them all, and with them every answer under way.
 * Bounded: the oldest is forgotten first.
 */
import { elapsedMs, type MonoMs } from '#shared/instant.ts';

/** What a question may be answered with: one asked for the time never renews a lease. */
export type NoncePurpose = 'poll' | 'time';

export interface LiveNonce {
  readonly nonce: string;
  readonly purpose: NoncePurpose;
  readonly issuedAt: MonoMs;
  /** It renewed the leases already. */
  readonly isSpent: boolean;
}

/** More are never open: one poll, its repetitions, one question for the time. */
const noncesMax = 16;
/** A long poll and a slow line; also the longest life of a command. */
export const nonceLifeMs = 60_000;

/** @param nonce 16 random bytes in base64url, made by the caller. */
export function withNonce(
  nonces: readonly LiveNonce[],
  issued: { readonly nonce: string; readonly purpose: NoncePurpose },
  at: MonoMs,
): readonly LiveNonce[] {
  return [...liveNonces(nonces, at), { ...issued, issuedAt: at, isSpent: false }].slice(-noncesMax);
}

/** Those that are still heard. */
export function liveNonces(nonces: readonly LiveNonce[], at: MonoMs): readonly LiveNonce[] {
  return nonces.filter((nonce) => isAlive(nonce, at));
}

/** @returns the question that this is the answer to, or `undefined`: unknown, of another purpose, too long ago. */
export function findNonce(
  nonces: readonly LiveNonce[],
  asked: { readonly nonce: string; readonly purpose: NoncePurpose },
  at: MonoMs,
): LiveNonce | undefined {
  return nonces.find((nonce) => nonce.nonce === asked.nonce && nonce.purpose === asked.purpose && isAlive(nonce, at));
}

/** A clock that goes backwards is none: then nothing is alive. */
function isAlive(nonce: LiveNonce, at: MonoMs): boolean {
  const ageMs = elapsedMs(nonce.issuedAt, at);
  return ageMs >= 0 && ageMs < nonceLifeMs;
}
