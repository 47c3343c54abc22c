/**
 * Ranks 10–14: what depends on the time. Validity, lease, and the grants at this door.
 *
 * All spans are half-open, [from, until). A clock that is untrusted refuses only what it could change:
 * a credential without bounds and lease, with a grant at all times, still works.
 */
import type { WallMs } from '#shared/instant.ts';
import { type AccessRule, type Known, onceKnown, refuse, usableNow } from './access-rule.ts';
import type { Facts, GrantFact } from './facts.ts';
import { isInside } from './wall-windows.ts';

interface Bounds {
  readonly validFrom: WallMs | null;
  readonly validUntil: WallMs | null;
}

const hasBounds = ({ validFrom, validUntil }: Bounds): boolean => validFrom !== null || validUntil !== null;
const isBefore = ({ validFrom }: Bounds, now: WallMs): boolean => validFrom !== null && now < validFrom;
const isAfter = ({ validUntil }: Bounds, now: WallMs): boolean => validUntil !== null && now >= validUntil;

/** Whether bounds hold now; bounds that are there hold at no unknown time. */
export function isValidNow(bounds: Bounds, now: WallMs | undefined): boolean {
  if (!hasBounds(bounds)) return true;
  return now !== undefined && !isBefore(bounds, now) && !isAfter(bounds, now);
}

const isTimeless = ({ row, windows }: GrantFact): boolean => windows === 'always' && !hasBounds(row);

function isInForce(grant: GrantFact, now: WallMs | undefined): boolean {
  if (!isValidNow(grant.row, now)) return false;
  return grant.windows === 'always' || (now !== undefined && isInside(grant.windows, now));
}

/** The grant that opens this door now: the first in the order of the facts. */
export function grantInForce(grants: readonly GrantFact[], facts: Facts): GrantFact | undefined {
  const now = usableNow(facts.clock);
  return grants.find((grant) => isInForce(grant, now));
}

/** What of the decision an unknown time could change; `undefined` = nothing. */
function timeDependence({ credential, facts }: Known): string | undefined {
  const { row, grants } = credential;
  if (hasBounds(row)) return 'validity';
  if (row.leaseMs !== 'unlimited') return 'lease';
  if (grants.length > 0 && !grants.some(isTimeless)) return 'grant';
  const pin = facts.secondFactor;
  return pin.kind === 'right' && hasBounds(pin) ? 'second factor' : undefined;
}

const clockUntrusted: AccessRule = {
  rank: 10,
  codes: ['CLOCK_UNTRUSTED'],
  decide: onceKnown((known) => {
    if (usableNow(known.facts.clock) !== undefined) return undefined;
    const what = timeDependence(known);
    return what === undefined ? undefined : refuse('CLOCK_UNTRUSTED', what);
  }),
};

const validity: AccessRule = {
  rank: 11,
  codes: ['CREDENTIAL_NOT_YET_VALID', 'CREDENTIAL_EXPIRED'],
  decide: onceKnown(({ credential: { row }, facts }) => {
    const now = usableNow(facts.clock);
    if (now === undefined) return undefined;
    if (isBefore(row, now)) return refuse('CREDENTIAL_NOT_YET_VALID');
    return isAfter(row, now) ? refuse('CREDENTIAL_EXPIRED') : undefined;
  }),
};

const lease: AccessRule = {
  rank: 12,
  codes: ['REPLICA_STALE'],
  decide: onceKnown(({ credential, facts: { replica } }) => {
    if (replica.state === 'quarantined') return refuse('REPLICA_STALE', 'quarantined');
    const { leaseMs } = credential.row;
    if (leaseMs === 'unlimited') return undefined;
    if (replica.contactAgeMs === 'unknown') return refuse('REPLICA_STALE', 'contact unknown');
    return replica.contactAgeMs > leaseMs ? refuse('REPLICA_STALE', 'lease exceeded') : undefined;
  }),
};

const notGranted: AccessRule = {
  rank: 13,
  codes: ['DOOR_NOT_GRANTED'],
  decide: onceKnown(({ credential }) => (credential.grants.length === 0 ? refuse('DOOR_NOT_GRANTED') : undefined)),
};

const outsideSchedule: AccessRule = {
  rank: 14,
  codes: ['OUTSIDE_SCHEDULE'],
  decide: onceKnown(({ credential: { grants }, facts }) => {
    if (grants.length === 0 || grantInForce(grants, facts) !== undefined) return undefined;
    const isAnyValid = grants.some((grant) => isValidNow(grant.row, usableNow(facts.clock)));
    return refuse('OUTSIDE_SCHEDULE', isAnyValid ? 'schedule' : 'validity of the grant');
  }),
};

export const timeRules: readonly AccessRule[] = [clockUntrusted, validity, lease, notGranted, outsideSchedule];
