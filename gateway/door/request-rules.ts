/**
 * Ranks 1–8: whether the request can be heard, what was presented, and whether it is still good.
 */
import type { AccessRequest } from './access-request.ts';
import { type AccessRule, onceKnown, refuse } from './access-rule.ts';

/** A request older than this at the decision is refused, ms. */
const requestAgeMaxMs = 2_000;

const carriesPin = (request: AccessRequest): boolean => request.presented.kind !== 'card';

const stale: AccessRule = {
  rank: 1,
  codes: ['REQUEST_STALE'],
  decide: (request, facts) => {
    const ageMs = facts.at - request.receivedAt + request.deviceAgeMs;
    return ageMs > requestAgeMaxMs ? refuse('REQUEST_STALE', `${Math.round(ageMs)} ms`) : undefined;
  },
};

const doorUnknown: AccessRule = {
  rank: 2,
  codes: ['DOOR_UNKNOWN'],
  decide: (request, facts) =>
    facts.door === undefined ? refuse('DOOR_UNKNOWN', `${request.device} reader ${request.head}`) : undefined,
};

const journalUnavailable: AccessRule = {
  rank: 3,
  codes: ['JOURNAL_UNAVAILABLE'],
  decide: (_, facts) => (facts.journal === 'unavailable' ? refuse('JOURNAL_UNAVAILABLE') : undefined),
};

const pinUnheard: AccessRule = {
  rank: 4,
  codes: ['READER_LOCKED_OUT', 'PIN_BUSY'],
  decide: (request, facts) => {
    if (!carriesPin(request)) return undefined;
    if (facts.guessing === 'locked-out') return refuse('READER_LOCKED_OUT');
    return facts.pinQueue === 'full' ? refuse('PIN_BUSY') : undefined;
  },
};

const malformed: AccessRule = {
  rank: 5,
  codes: ['CREDENTIAL_MALFORMED'],
  decide: (_, { credential }) =>
    credential.kind === 'malformed' ? refuse('CREDENTIAL_MALFORMED', credential.reason) : undefined,
};

const unknown: AccessRule = {
  rank: 6,
  codes: ['CREDENTIAL_UNKNOWN'],
  decide: (_, { credential }) => (credential.kind === 'unknown' ? refuse('CREDENTIAL_UNKNOWN') : undefined),
};

const tampered: AccessRule = {
  rank: 7,
  codes: ['CREDENTIAL_TAMPERED'],
  decide: (_, { credential }) =>
    credential.kind === 'tampered' ? refuse('CREDENTIAL_TAMPERED', `${credential.table} ${credential.key}`) : undefined,
};

const withdrawn: AccessRule = {
  rank: 8,
  codes: ['CREDENTIAL_REVOKED', 'CREDENTIAL_SUSPENDED'],
  decide: onceKnown(({ credential }) => {
    if (credential.row.status === 'revoked') return refuse('CREDENTIAL_REVOKED');
    return credential.row.status === 'suspended' ? refuse('CREDENTIAL_SUSPENDED') : undefined;
  }),
};

export const requestRules: readonly AccessRule[] = [
  stale,
  doorUnknown,
  journalUnavailable,
  pinUnheard,
  malformed,
  unknown,
  tampered,
  withdrawn,
];
