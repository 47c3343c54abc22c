/**
 * This credential may exist ⇔ everything it rests on stands. Whoever issues, restores or sweeps asks here, and nobody else
 * has an opinion of their own.
 *
 * It rests on its holder, on its time, and, where the holder's keys come with a role, on that role. What else a key can
 * rest on is one more condition here, with the code that refuses it.
 */
import type { Code } from '#shared/code.ts';
import type { WallMs } from '#shared/instant.ts';
import type { ConditionText } from '#shared/machine.ts';
import type { RoleKey } from '#shared/role.ts';

/** In the order in which they are told. */
export const keyConditions = {
  isHeld: { says: 'its holder is known here and was not erased', refuses: 'HOLDER_ERASED' },
  isRightful: {
    says: 'the holder has a role in the facility, where the holder’s keys come with one',
    refuses: 'HOLDER_WITHOUT_ROLE',
  },
  isWithinTime: { says: 'its validity has not ended', refuses: 'CREDENTIAL_EXPIRED' },
} as const satisfies Record<string, ConditionText & { readonly refuses: Code }>;
export type KeyCondition = keyof typeof keyConditions;

export interface KeyFacts {
  readonly at: WallMs;
  readonly holder: 'present' | 'erased' | 'absent';
  /** `not-needed`: the holder has no account here. Else the role of that account in this facility, or `null`. */
  readonly role: RoleKey | 'not-needed' | null;
  /** End of the half-open validity; `null` = none. */
  readonly validUntil: WallMs | null;
}

/** Each condition, whether it holds. */
export function keyHolds(facts: KeyFacts): { readonly [Name in KeyCondition]: boolean } {
  return {
    isHeld: facts.holder === 'present',
    isRightful: facts.role !== null,
    isWithinTime: facts.validUntil === null || facts.at < facts.validUntil,
  };
}

export type Key = { readonly mayExist: true } | { readonly mayExist: false; readonly code: Code };

/** The first condition that does not hold decides. */
export function deriveKey(facts: KeyFacts): Key {
  const holds = keyHolds(facts);
  for (const [name, { refuses }] of Object.entries(keyConditions)) {
    if (!holds[name as KeyCondition]) return { mayExist: false, code: refuses };
  }
  return { mayExist: true };
}

/**
 * What has to happen to a key that exists: `expire` where only its time is over, `revoke` where what it rests on is gone.
 */
export function dueEvent(facts: KeyFacts): 'expire' | 'revoke' | undefined {
  const key = deriveKey(facts);
  if (key.mayExist) return undefined;
  return key.code === 'CREDENTIAL_EXPIRED' ? 'expire' : 'revoke';
}
