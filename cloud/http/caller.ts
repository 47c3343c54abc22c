/**
 * Who asks: a person in their roles, or a service token with the actions it was given.
 *
 * What may be done is decided here and nowhere else; the database then holds every row to the same facilities.
 */
import type { Claims } from '#cloud/database/tenant-transaction.ts';
import { type Action, can, type RoleKey } from '#shared/role.ts';

interface PersonCaller {
  readonly kind: 'person';
  readonly userId: string;
  readonly sessionId: string;
  /** Facility → role; a facility that is not here does not exist for this person. */
  readonly roles: ReadonlyMap<string, RoleKey>;
  /** Facility → organization. */
  readonly organizations: ReadonlyMap<string, string>;
}

interface TokenCaller {
  readonly kind: 'token';
  readonly tokenId: string;
  readonly facilityId: string;
  readonly organizationId: string;
  readonly actions: readonly Action[];
}

export type Caller = PersonCaller | TokenCaller;

/** As logs, audit and idempotency know the caller. */
export const actorOf = (caller: Caller): string =>
  caller.kind === 'person' ? `user:${caller.userId}` : `token:${caller.tokenId}`;

/** Whether the facility exists for the caller at all. */
export function belongsTo(caller: Caller, facility: string): boolean {
  return caller.kind === 'person' ? caller.roles.has(facility) : caller.facilityId === facility;
}

/** Whether the caller may do this in that facility. */
export function mayAct(caller: Caller, facility: string, action: Action): boolean {
  if (caller.kind === 'token') return caller.facilityId === facility && caller.actions.includes(action);
  const role = caller.roles.get(facility);
  return role !== undefined && can(role, action);
}

/** The claims of one request: the one facility it names, or all that are the caller's. */
export function claimsOf(caller: Caller, facility: string | undefined): Claims {
  const base = { actor: actorOf(caller) };
  if (caller.kind === 'token') {
    return { ...base, facilityIds: [caller.facilityId], organizationId: caller.organizationId };
  }
  const organizationId = facility === undefined ? undefined : caller.organizations.get(facility);
  const roles = facility === undefined ? [...caller.roles] : [...caller.roles].filter(([id]) => id === facility);
  return {
    ...base,
    userId: caller.userId,
    facilityIds: roles.map(([id]) => id),
    roles: Object.fromEntries(roles),
    ...(organizationId === undefined ? {} : { organizationId }),
  };
}
