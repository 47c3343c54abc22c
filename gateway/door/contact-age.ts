/**
 * How long ago the gateway last had verified contact with the cloud: what a lease is measured by.
 *
 * Within one boot it is monotonic and needs no clock. Across a boot it needs the wall time of both ends;
 * without either it is unknown, which a lease counts as exceeded.
 */
import type { MonoMs, WallMs } from '#shared/instant.ts';
import { usableNow } from './access-rule.ts';
import type { ClockFact } from './facts.ts';

/** Persisted at each verified contact. */
export interface Contact {
  readonly bootId: string;
  readonly at: MonoMs;
  /** Trusted time of the contact; `undefined` where the clock was untrusted even then. */
  readonly wall: WallMs | undefined;
}

/** @returns milliseconds, or `unknown`. A contact that seems to lie ahead is unknown, too: one of the clocks was wrong. */
export function contactAgeMs(
  contact: Contact | undefined,
  now: { readonly bootId: string; readonly at: MonoMs; readonly clock: ClockFact },
): number | 'unknown' {
  if (contact === undefined) return 'unknown';
  if (contact.bootId === now.bootId) return Math.max(0, now.at - contact.at);
  const wall = usableNow(now.clock);
  if (wall === undefined || contact.wall === undefined) return 'unknown';
  const ageMs = wall - contact.wall;
  return ageMs < -now.clock.errorMs ? 'unknown' : Math.max(0, ageMs);
}
