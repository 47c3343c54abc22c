/** A request that is granted, and one way per code to spoil it. */

import type { AccessRequest, CardBits } from '#gateway/door/access-request.ts';
import type { CredentialFact, DoorFact, Facts, GrantFact } from '#gateway/door/facts.ts';
import type { RefusalCode } from '#shared/code.ts';
import { credentialRow, doorRow, grantRow, readerRow } from '#shared/contract/replica-row.ts';
import { identifier } from '#shared/identifier.ts';
import { monoMs, type WallWindow, wallMs } from '#shared/instant.ts';

export interface Scenario {
  readonly request: AccessRequest;
  readonly facts: Facts;
}

type FoundCredential = Extract<CredentialFact, { kind: 'found' }>;

export const now = wallMs(1_800_000_000_000);
const hour = 3_600_000;
export const windowAround = (at: number): WallWindow => ({ from: wallMs(at - hour), until: wallMs(at + hour) });

export const card: CardBits = { bitCount: 26, bytes: Uint8Array.of(1, 2, 3, 0) };
export const door = doorRow.parse({ id: 'front', name: 'Front', lock: { device: 'io', output: 0 }, version: 1 });
const reader = readerRow.parse({ id: 'front-in', name: 'Front', door: 'front', device: 'bus-1', version: 1 });
export const credential = credentialRow.parse({
  id: 'card-1',
  holder: 'aiko',
  kind: 'card',
  lookup: 'ab'.repeat(32),
  status: 'issued',
  leaseMs: 86_400_000,
  version: 3,
});
export const grant = (row: object = {}, windows: GrantFact['windows'] = 'always'): GrantFact => ({
  row: grantRow.parse({ grant: 'staff', credential: 'card-1', door: 'front', version: 2, ...row }),
  windows,
});

export const granted: Scenario = {
  request: {
    requestId: identifier('r-1'),
    device: identifier('bus-1'),
    head: 0,
    presented: { kind: 'card', card },
    receivedAt: monoMs(50_000),
    deviceAgeMs: 0,
  },
  facts: {
    at: monoMs(50_010),
    clock: { state: 'trusted', now, errorMs: 10 },
    journal: 'available',
    door: {
      row: door,
      reader,
      mode: 'controlled',
      lock: 'ready',
      secondFactor: 'never',
      escort: 'never',
      antiPassback: 'never',
      firstPerson: 'never',
      hasFirstPersonEntered: false,
      escortWaiting: undefined,
      interlockedBy: undefined,
    },
    guessing: 'open',
    pinQueue: 'free',
    credential: { kind: 'found', row: credential, grants: [grant()], usesSpent: 0 },
    secondFactor: { kind: 'not-presented' },
    replica: { state: 'live', epoch: 1, cursor: 9, contactAgeMs: 60_000 },
    holderArea: undefined,
  },
};

export const withFacts = (scenario: Scenario, change: Partial<Facts>): Scenario => ({
  ...scenario,
  facts: { ...scenario.facts, ...change },
});

export const withRequest = (scenario: Scenario, change: Partial<AccessRequest>): Scenario => ({
  ...scenario,
  request: { ...scenario.request, ...change },
});

export const withDoor = (scenario: Scenario, change: Partial<DoorFact>): Scenario =>
  scenario.facts.door === undefined ? scenario : withFacts(scenario, { door: { ...scenario.facts.door, ...change } });

export const withDoorRow = (scenario: Scenario, change: Partial<DoorFact['row']>): Scenario =>
  scenario.facts.door === undefined ? scenario : withDoor(scenario, { row: { ...scenario.facts.door.row, ...change } });

/** Leaves a credential that is not found as it is. */
export const withFound = (scenario: Scenario, change: Partial<FoundCredential>): Scenario =>
  scenario.facts.credential.kind === 'found'
    ? withFacts(scenario, { credential: { ...scenario.facts.credential, ...change } })
    : scenario;

export const withCredential = (scenario: Scenario, change: Partial<FoundCredential['row']>): Scenario =>
  scenario.facts.credential.kind === 'found'
    ? withFound(scenario, { row: { ...scenario.facts.credential.row, ...change } })
    : scenario;

const pin = { kind: 'pin', digits: '4711' } as const;
const passbackDoor = { mode: 'hard', when: 'always' } as const;

const intoHall = (scenario: Scenario): Scenario =>
  withDoor(withDoorRow(scenario, { antiPassback: passbackDoor }), {
    antiPassback: 'always',
    reader: { ...reader, fromArea: null, toArea: 'hall' },
  });

/** What makes each code’s condition true, in the order of precedence; everything else stays as it was. */
export const spoilers: readonly (readonly [RefusalCode, (scenario: Scenario) => Scenario])[] = [
  ['REQUEST_STALE', (s) => withRequest(s, { receivedAt: monoMs(s.facts.at - 2_001) })],
  ['DOOR_UNKNOWN', (s) => withFacts(s, { door: undefined })],
  ['JOURNAL_UNAVAILABLE', (s) => withFacts(s, { journal: 'unavailable' })],
  ['READER_LOCKED_OUT', (s) => withFacts(withRequest(s, { presented: pin }), { guessing: 'locked-out' })],
  ['PIN_BUSY', (s) => withFacts(withRequest(s, { presented: pin }), { pinQueue: 'full' })],
  ['CREDENTIAL_MALFORMED', (s) => withFacts(s, { credential: { kind: 'malformed', reason: 'even parity' } })],
  ['CREDENTIAL_UNKNOWN', (s) => withFacts(s, { credential: { kind: 'unknown' } })],
  [
    'CREDENTIAL_TAMPERED',
    (s) => withFacts(s, { credential: { kind: 'tampered', table: 'credential', key: 'card-1' } }),
  ],
  ['CREDENTIAL_REVOKED', (s) => withCredential(s, { status: 'revoked' })],
  ['CREDENTIAL_SUSPENDED', (s) => withCredential(s, { status: 'suspended' })],
  ['FIRE_ACTIVE', (s) => withDoor(s, { mode: 'fire' })],
  ['DOOR_LOCKED_DOWN', (s) => withDoor(s, { mode: 'lockdown' })],
  ['CLOCK_UNTRUSTED', (s) => withFacts(s, { clock: { state: 'untrusted', now: undefined, errorMs: 0 } })],
  ['CREDENTIAL_NOT_YET_VALID', (s) => withCredential(s, { validFrom: wallMs(now + 1) })],
  ['CREDENTIAL_EXPIRED', (s) => withCredential(s, { validUntil: now })],
  ['REPLICA_STALE', (s) => withFacts(s, { replica: { ...s.facts.replica, contactAgeMs: 86_400_001 } })],
  ['DOOR_NOT_GRANTED', (s) => withFound(s, { grants: [] })],
  [
    'OUTSIDE_SCHEDULE',
    (s) =>
      s.facts.credential.kind === 'found' && s.facts.credential.grants.length > 0
        ? withFound(s, { grants: [grant({ schedule: 'office' }, [windowAround(now + 2 * hour)])] })
        : s,
  ],
  [
    'SECOND_FACTOR_REQUIRED',
    (s) => withFacts(withDoor(s, { secondFactor: 'always' }), { secondFactor: { kind: 'not-presented' } }),
  ],
  ['SECOND_FACTOR_WRONG', (s) => withFacts(s, { secondFactor: { kind: 'wrong' } })],
  ['USES_EXHAUSTED', (s) => withFound(withCredential(s, { usesMax: 2 }), { usesSpent: 2 })],
  ['ANTI_PASSBACK', (s) => withFacts(intoHall(s), { holderArea: { area: 'hall' } })],
  ['FIRST_PERSON_REQUIRED', (s) => withDoor(s, { firstPerson: 'always' })],
  ['ESCORT_REQUIRED', (s) => withDoor(s, { escort: 'always' })],
  ['INTERLOCK', (s) => withDoor(s, { interlockedBy: identifier('inner') })],
  ['LOCK_UNREACHABLE', (s) => withDoor(s, { lock: 'unreachable' })],
];
