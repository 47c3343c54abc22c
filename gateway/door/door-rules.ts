/**
 * Rank 9 and ranks 15–20: what the door itself demands, beyond a good credential with a grant.
 */
import { type AccessRule, applies, type Known, onceKnown, refuse, usableNow } from './access-rule.ts';
import { judgePassback } from './anti-passback.ts';
import { isEscortMissing } from './escort.ts';
import { judgeFirstPerson } from './first-person.ts';
import { isValidNow } from './time-rules.ts';

export const emergencyRule: AccessRule = {
  rank: 9,
  codes: ['FIRE_ACTIVE', 'DOOR_LOCKED_DOWN'],
  decide: onceKnown(({ door, credential }) => {
    if (door.mode === 'fire') return refuse('FIRE_ACTIVE');
    const isShut = door.mode === 'lockdown' && !credential.row.overridesLockdown;
    return isShut ? refuse('DOOR_LOCKED_DOWN') : undefined;
  }),
};

const secondFactor: AccessRule = {
  rank: 15,
  codes: ['SECOND_FACTOR_REQUIRED', 'SECOND_FACTOR_WRONG'],
  decide: onceKnown((known) => {
    const { request, facts, door } = known;
    const pin = facts.secondFactor;
    // A PIN that was typed is judged even if the schedule that asked for it has just ended.
    if (pin.kind === 'wrong') return refuse('SECOND_FACTOR_WRONG');
    if (pin.kind === 'right') return isPinUsable(known) ? undefined : refuse('SECOND_FACTOR_WRONG', 'not in force');
    if (!applies(door.secondFactor, facts.clock)) return undefined;
    // A PIN alone does not stand for the card it should follow.
    return refuse('SECOND_FACTOR_REQUIRED', request.presented.kind === 'card' ? 'pin' : 'card');
  }),
};

function isPinUsable({ facts }: Known): boolean {
  const pin = facts.secondFactor;
  return pin.kind === 'right' && pin.status === 'issued' && isValidNow(pin, usableNow(facts.clock));
}

const uses: AccessRule = {
  rank: 16,
  codes: ['USES_EXHAUSTED'],
  decide: onceKnown(({ credential: { row, usesSpent } }) =>
    row.usesMax !== null && usesSpent >= row.usesMax
      ? refuse('USES_EXHAUSTED', `${usesSpent} of ${row.usesMax}`)
      : undefined,
  ),
};

const passback: AccessRule = {
  rank: 17,
  codes: ['ANTI_PASSBACK'],
  decide: onceKnown(({ door, facts }) =>
    judgePassback(door, facts) === 'hard-breach'
      ? refuse('ANTI_PASSBACK', facts.holderArea?.area ?? 'outside')
      : undefined,
  ),
};

const company: AccessRule = {
  rank: 18,
  codes: ['FIRST_PERSON_REQUIRED', 'ESCORT_REQUIRED'],
  decide: onceKnown((known) => {
    const { door, credential, facts } = known;
    if (judgeFirstPerson(known) === 'missing') return refuse('FIRST_PERSON_REQUIRED');
    if (!applies(door.escort, facts.clock)) return undefined;
    return isEscortMissing(door.escortWaiting, credential.row.holder) ? refuse('ESCORT_REQUIRED') : undefined;
  }),
};

const interlock: AccessRule = {
  rank: 19,
  codes: ['INTERLOCK'],
  decide: onceKnown(({ door }) =>
    door.interlockedBy === undefined ? undefined : refuse('INTERLOCK', door.interlockedBy),
  ),
};

const lockUnreachable: AccessRule = {
  rank: 20,
  codes: ['LOCK_UNREACHABLE'],
  decide: onceKnown(({ door }) =>
    door.row.lock === null || door.lock === 'ready' ? undefined : refuse('LOCK_UNREACHABLE', door.lock),
  ),
};

export const doorRules: readonly AccessRule[] = [secondFactor, uses, passback, company, interlock, lockUnreachable];
