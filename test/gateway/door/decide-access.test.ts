import { describe, expect, it } from 'vitest';
import { accessRules, decideAccess, decideFault, opensChallenge, signalOf } from '#gateway/door/decide-access.ts';
import type { SecondFactorFact } from '#gateway/door/facts.ts';
import { refusals } from '#shared/code.ts';
import { identifier } from '#shared/identifier.ts';
import { monoMs, wallMs } from '#shared/instant.ts';
import {
  card,
  credential,
  door,
  grant,
  granted,
  now,
  type Scenario,
  spoilers,
  windowAround,
  withCredential,
  withDoor,
  withDoorRow,
  withFacts,
  withFound,
  withRequest,
} from './access-scenario.ts';

const decide = ({ request, facts }: Scenario) => decideAccess(request, facts);
const codeOf = (scenario: Scenario) => decide(scenario).code;
const untrusted = (s: Scenario): Scenario =>
  withFacts(s, { clock: { state: 'untrusted', now: undefined, errorMs: 0 } });
const timeless = (s: Scenario): Scenario => withCredential(s, { leaseMs: 'unlimited' });
const rightPin: SecondFactorFact = {
  kind: 'right',
  credential: identifier('pin-1'),
  isDuress: false,
  status: 'issued',
  validFrom: null,
  validUntil: null,
};
const withPin = (s: Scenario, pin: Partial<typeof rightPin> = {}): Scenario =>
  withFacts(withRequest(s, { presented: { kind: 'card-and-pin', card, digits: '4711' } }), {
    secondFactor: { ...rightPin, ...pin },
  });
const flagsOf = (scenario: Scenario) => {
  const decision = decide(scenario);
  return decision.verdict === 'granted' ? decision.flags : decision.code;
};

describe('a request that nothing speaks against', () => {
  it('is granted with everything the lock and the journal need', () => {
    expect(decide(granted)).toEqual({
      verdict: 'granted',
      code: 'GRANTED',
      requestId: 'r-1',
      door: 'front',
      reader: 'front-in',
      credential: 'card-1',
      holder: 'aiko',
      grant: 'staff',
      flags: [],
      releaseMs: door.strikeMs,
      heldMs: door.heldMs,
    });
  });

  it('is granted by the first grant in force among several', () => {
    const later = grant({ grant: 'late', schedule: 'night' }, [windowAround(now + 7_200_000)]);
    const spent = grant({ grant: 'spent', validUntil: now });
    const scenario = withFound(granted, { grants: [later, spent, grant({ grant: 'day' }, [windowAround(now)])] });
    expect(decide(scenario)).toMatchObject({ code: 'GRANTED', grant: 'day' });
  });
});

describe('the precedence of refusals', () => {
  it.each(spoilers)('%s is reachable', (code, spoil) => {
    expect(decide(spoil(granted))).toMatchObject({ verdict: 'refused', code });
  });

  it('knows every refusal of the registry, in its order, and INTERNAL_FAULT outside it', () => {
    const inOrder = Object.keys(refusals).filter((code) => code !== 'INTERNAL_FAULT');
    expect(accessRules.flatMap((rule) => rule.codes)).toEqual(inOrder);
    expect(spoilers.map(([code]) => code)).toEqual(inOrder);
    expect(accessRules.map((rule) => rule.rank)).toEqual(Array.from({ length: 20 }, (_, row) => row + 1));
  });

  // Not only neighbours: every pair. Where two conditions exclude each other (a lookup has one result, a door one mode),
  // the earlier overwrites the later, and the pair says that it alone decides.
  const pairs = spoilers.flatMap(([earlier, spoilEarlier], index) =>
    spoilers.slice(index + 1).map(([later, spoilLater]) => ({ earlier, later, spoilEarlier, spoilLater })),
  );
  it.each(pairs)('$earlier comes before $later', ({ earlier, spoilEarlier, spoilLater }) => {
    expect(codeOf(spoilEarlier(spoilLater(granted)))).toBe(earlier);
  });
});

describe('age', () => {
  it('is two seconds at most, the device’s own reckoning included', () => {
    const at = (receivedAt: number, deviceAgeMs: number) =>
      codeOf(withRequest(granted, { receivedAt: monoMs(receivedAt), deviceAgeMs }));
    expect(at(48_010, 0)).toBe('GRANTED');
    expect(at(48_009, 0)).toBe('REQUEST_STALE');
    expect(at(49_010, 1_000)).toBe('GRANTED');
    expect(at(49_010, 1_001)).toBe('REQUEST_STALE');
  });
});

describe('a locked-out reader', () => {
  it('still hears cards, and no PIN of any kind', () => {
    const lockedOut = withFacts(granted, { guessing: 'locked-out', pinQueue: 'full' });
    expect(codeOf(lockedOut)).toBe('GRANTED');
    expect(codeOf(withPin(lockedOut))).toBe('READER_LOCKED_OUT');
  });
});

describe('validity', () => {
  it('is half-open: from counts, until does not', () => {
    const valid = (from: number, until: number) =>
      codeOf(withCredential(granted, { validFrom: wallMs(from), validUntil: wallMs(until) }));
    expect(valid(now, now + 1)).toBe('GRANTED');
    expect(valid(now + 1, now + 2)).toBe('CREDENTIAL_NOT_YET_VALID');
    expect(valid(now - 1, now)).toBe('CREDENTIAL_EXPIRED');
  });

  it('of a grant is half-open too, and outside it the grant does not apply', () => {
    const valid = (from: number, until: number) =>
      decide(withFound(granted, { grants: [grant({ validFrom: from, validUntil: until })] }));
    expect(valid(now, now + 1).code).toBe('GRANTED');
    expect(valid(now + 1, now + 2)).toMatchObject({ code: 'OUTSIDE_SCHEDULE', detail: 'validity of the grant' });
    expect(valid(now - 1, now)).toMatchObject({ code: 'OUTSIDE_SCHEDULE', detail: 'validity of the grant' });
  });

  it('goes by the anchored time in holdover', () => {
    const holdover = withFacts(granted, { clock: { state: 'holdover', now, errorMs: 59_000 } });
    expect(codeOf(holdover)).toBe('GRANTED');
    expect(codeOf(withCredential(holdover, { validUntil: now }))).toBe('CREDENTIAL_EXPIRED');
  });
});

describe('a clock that is not trusted', () => {
  it('leaves a credential without lease and bounds alone', () => {
    expect(codeOf(untrusted(timeless(granted)))).toBe('GRANTED');
  });

  it.each([
    ['a lease', 'lease', (s: Scenario) => withCredential(s, { leaseMs: 1_000 })],
    ['a beginning', 'validity', (s: Scenario) => withCredential(s, { validFrom: wallMs(0) })],
    ['an end', 'validity', (s: Scenario) => withCredential(s, { validUntil: wallMs(now * 2) })],
    ['a scheduled grant', 'grant', (s: Scenario) => withFound(s, { grants: [grant({}, [windowAround(now)])] })],
    ['a bounded grant', 'grant', (s: Scenario) => withFound(s, { grants: [grant({ validFrom: 0 })] })],
    ['a PIN with an end', 'second factor', (s: Scenario) => withPin(s, { validUntil: wallMs(now * 2) })],
  ])('refuses what depends on it: %s', (_, detail, change) => {
    expect(decide(untrusted(change(timeless(granted))))).toMatchObject({ code: 'CLOCK_UNTRUSTED', detail });
  });

  it('does not hide that there is no grant at all', () => {
    expect(codeOf(untrusted(withFound(timeless(granted), { grants: [] })))).toBe('DOOR_NOT_GRANTED');
  });

  it('lets one grant at all times stand beside scheduled ones', () => {
    const grants = [grant({ grant: 'day' }, [windowAround(now)]), grant({ grant: 'always' })];
    expect(decide(untrusted(withFound(timeless(granted), { grants })))).toMatchObject({
      code: 'GRANTED',
      grant: 'always',
    });
  });

  it.each([
    ['SECOND_FACTOR_REQUIRED', { secondFactor: { windows: [] } }],
    ['FIRST_PERSON_REQUIRED', { firstPerson: { windows: [] }, hasFirstPersonEntered: true }],
    ['ESCORT_REQUIRED', { escort: { windows: [] } }],
  ] as const)('takes restrictions by schedule as applying: %s', (code, rule) => {
    const scenario = withDoor(timeless(granted), rule);
    expect(codeOf(scenario)).toBe('GRANTED');
    expect(codeOf(untrusted(scenario))).toBe(code);
  });

  it('counts a trusted state without a time as untrusted', () => {
    expect(codeOf(withFacts(granted, { clock: { state: 'trusted', now: undefined, errorMs: 0 } }))).toBe(
      'CLOCK_UNTRUSTED',
    );
  });
});

describe('the lease', () => {
  const contact = (contactAgeMs: number | 'unknown') =>
    withFacts(granted, { replica: { ...granted.facts.replica, contactAgeMs } });

  it('lasts up to its last millisecond', () => {
    expect(codeOf(contact(86_400_000))).toBe('GRANTED');
    expect(codeOf(contact(86_400_001))).toBe('REPLICA_STALE');
  });

  it('counts an unknown age as exceeded, unless it is unlimited', () => {
    expect(codeOf(contact('unknown'))).toBe('REPLICA_STALE');
    expect(codeOf(timeless(contact('unknown')))).toBe('GRANTED');
  });

  it('does not help a quarantined replica', () => {
    const quarantined = withFacts(granted, { replica: { ...granted.facts.replica, state: 'quarantined' } });
    expect(codeOf(timeless(quarantined))).toBe('REPLICA_STALE');
  });
});

describe('card and PIN', () => {
  const cardAndPin = withDoor(granted, { secondFactor: 'always' });

  it('challenges the card, grants both', () => {
    const challenged = decide(cardAndPin);
    expect(challenged.code).toBe('SECOND_FACTOR_REQUIRED');
    expect(opensChallenge(challenged)).toBe(true);
    expect(signalOf(challenged)).toBe('enter-pin');
    expect(codeOf(withPin(cardAndPin))).toBe('GRANTED');
  });

  it('does not take a PIN alone for both, and does not ask for another', () => {
    const decision = decide(withRequest(cardAndPin, { presented: { kind: 'pin', digits: '4711' } }));
    expect(decision).toMatchObject({ code: 'SECOND_FACTOR_REQUIRED', detail: 'card' });
    expect(opensChallenge(decision)).toBe(false);
    expect(signalOf(decision)).toBe('refused');
  });

  it.each([
    { status: 'revoked' },
    { status: 'suspended' },
    { validUntil: now },
    { validFrom: wallMs(now + 1) },
  ] as const)('refuses a PIN that may not be used: %o', (pin) => {
    expect(codeOf(withPin(cardAndPin, pin))).toBe('SECOND_FACTOR_WRONG');
  });

  it('judges a typed PIN even when the schedule that asked has ended', () => {
    const ended = withDoor(granted, { secondFactor: { windows: [windowAround(now + 7_200_000)] } });
    expect(codeOf(ended)).toBe('GRANTED');
    expect(codeOf(withFacts(ended, { secondFactor: { kind: 'wrong' } }))).toBe('SECOND_FACTOR_WRONG');
  });

  it('asks inside its schedule only', () => {
    expect(codeOf(withDoor(granted, { secondFactor: { windows: [windowAround(now)] } }))).toBe(
      'SECOND_FACTOR_REQUIRED',
    );
  });
});

describe('duress', () => {
  it('is granted with a flag, by credential or by PIN, and looks like any grant', () => {
    const byCard = withCredential(granted, { isDuress: true });
    const byPin = withPin(withDoor(granted, { secondFactor: 'always' }), { isDuress: true });
    for (const scenario of [byCard, byPin]) {
      expect(flagsOf(scenario)).toEqual(['duress']);
      expect(signalOf(decide(scenario))).toBe(signalOf(decide(granted)));
    }
  });

  it('is told even when something else refuses, and the reader shows nothing of it', () => {
    const decision = decide(withDoor(withCredential(granted, { isDuress: true }), { escort: 'always' }));
    expect(decision).toMatchObject({ code: 'ESCORT_REQUIRED', isDuress: true });
    expect(signalOf(decision)).toBe('refused');
  });
});

describe('flags', () => {
  it('say that lockdown was overridden', () => {
    expect(flagsOf(withDoor(withCredential(granted, { overridesLockdown: true }), { mode: 'lockdown' }))).toEqual([
      'lockdown_override',
    ]);
  });

  it('do not let anybody override a fire', () => {
    expect(codeOf(withDoor(withCredential(granted, { overridesLockdown: true }), { mode: 'fire' }))).toBe(
      'FIRE_ACTIVE',
    );
  });

  it('give a holder who needs it more time', () => {
    expect(decide(withCredential(granted, { needsExtendedTime: true }))).toMatchObject({
      flags: ['extended_time'],
      releaseMs: door.extendedStrikeMs,
      heldMs: door.extendedHeldMs,
    });
  });

  it('mark the first person of the day, once', () => {
    const first = withDoor(withCredential(granted, { isFirstPerson: true }), { firstPerson: 'always' });
    expect(flagsOf(first)).toEqual(['first_in']);
    expect(flagsOf(withDoor(first, { hasFirstPersonEntered: true }))).toEqual([]);
  });

  it('say that soft anti-passback was broken', () => {
    const reader = { ...(granted.facts.door?.reader ?? expect.fail()), fromArea: null, toArea: 'hall' };
    const soft = withDoor(withDoorRow(granted, { antiPassback: { mode: 'soft', when: 'always' } }), {
      reader,
      antiPassback: 'always',
    });
    expect(flagsOf(withFacts(soft, { holderArea: { area: 'hall' } }))).toEqual(['apb_breach']);
    expect(flagsOf(withFacts(soft, { holderArea: { area: null } }))).toEqual([]);
  });
});

describe('the second of two holders', () => {
  const escorted = withDoor(granted, { escort: 'always' });

  it('opens the door for both, the same holder again does not', () => {
    expect(codeOf(withDoor(escorted, { escortWaiting: identifier('kenji') }))).toBe('GRANTED');
    expect(codeOf(withDoor(escorted, { escortWaiting: credential.holder }))).toBe('ESCORT_REQUIRED');
  });
});

describe('a door without a lock', () => {
  it('does not need one to be reachable', () => {
    expect(codeOf(withDoorRow(withDoor(granted, { lock: 'unreachable' }), { lock: null }))).toBe('GRANTED');
  });
});

describe('uses', () => {
  it('are counted up to the last', () => {
    const uses = (usesSpent: number) => codeOf(withFound(withCredential(granted, { usesMax: 2 }), { usesSpent }));
    expect([uses(0), uses(1), uses(2), uses(3)]).toEqual(['GRANTED', 'GRANTED', 'USES_EXHAUSTED', 'USES_EXHAUSTED']);
  });
});

describe('a fault while gathering facts', () => {
  it('is a decision of its own, and looks like any refusal', () => {
    const decision = decideFault(granted.request, 'SQLITE_IOERR');
    expect(decision).toMatchObject({ verdict: 'refused', code: 'INTERNAL_FAULT', requestId: 'r-1' });
    expect(signalOf(decision)).toBe('refused');
  });
});

describe('what the person at the reader sees', () => {
  it.each(spoilers)('of %s tells nothing about the reason', (code, spoil) => {
    expect(signalOf(decide(spoil(granted)))).toBe(code === 'SECOND_FACTOR_REQUIRED' ? 'enter-pin' : 'refused');
  });
});
