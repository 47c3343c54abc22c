/**
 * One rule of the precedence table: looks at the facts and finds a reason to refuse, or finds none.
 *
 * A rule neither grants nor knows the rules before or after it; the order of the list does.
 * Not promised: an answer from a rule about a credential when none was found; the rules before it have then refused.
 */
import type { RefusalCode } from '#shared/code.ts';
import type { WallMs } from '#shared/instant.ts';
import type { AccessRequest } from './access-request.ts';
import type { ClockFact, CredentialFact, DoorFact, Facts, RuleFact } from './facts.ts';
import { isInside } from './wall-windows.ts';

export interface Finding {
  readonly code: RefusalCode;
  /** The part of the rule that decided: a parity, a table, another door's id. Never a secret. */
  readonly detail: string | undefined;
}

export interface AccessRule {
  /** Row of the precedence table, 1 first. */
  readonly rank: number;
  /** Every code this rule can find. */
  readonly codes: readonly [RefusalCode, ...RefusalCode[]];
  readonly decide: (request: AccessRequest, facts: Facts) => Finding | undefined;
}

type FoundCredential = Extract<CredentialFact, { kind: 'found' }>;

/** What the later rules stand on: the door and the credential are known. */
export interface Known {
  readonly request: AccessRequest;
  readonly facts: Facts;
  readonly door: DoorFact;
  readonly credential: FoundCredential;
}

export const refuse = (code: RefusalCode, detail?: string): Finding => ({ code, detail });

/** The door and the credential of a request, once both are known. */
export function knownOf(request: AccessRequest, facts: Facts): Known | undefined {
  const { door, credential } = facts;
  return door === undefined || credential.kind !== 'found' ? undefined : { request, facts, door, credential };
}

/** Makes a rule that has something to say only once door and credential are known. */
export function onceKnown(judge: (known: Known) => Finding | undefined): AccessRule['decide'] {
  return (request, facts) => {
    const known = knownOf(request, facts);
    return known === undefined ? undefined : judge(known);
  };
}

/**
 * The time decisions may use; `undefined` while the clock is untrusted.
 * In holdover this is up to 60 s wrong: windows then open and close that much early or late, and the entry says so.
 */
export function usableNow(clock: ClockFact): WallMs | undefined {
  return clock.state === 'untrusted' ? undefined : clock.now;
}

/** Whether a restriction holds now. One with a schedule holds while the time is unknown: nobody gains by losing the clock. */
export function applies(rule: RuleFact, clock: ClockFact): boolean {
  if (rule === 'never') return false;
  if (rule === 'always') return true;
  const now = usableNow(clock);
  return now === undefined || isInside(rule.windows, now);
}
