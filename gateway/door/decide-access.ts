/**
 * One request, one decision. Pure: no I/O, no clock, and no catch, so that a bug never opens a door.
 *
 * The list of rules is the precedence: the first that finds a reason refuses, and where none does the request is granted.
 * Not promised: that the lock moves; that is for the door machine, and for an entry of its own.
 */
import type { RefusalCode } from '#shared/code.ts';
import type { DoorId, ReaderId } from '#shared/identifier.ts';
import { invariant } from '#shared/invariant.ts';
import type { AccessRequest } from './access-request.ts';
import { type AccessRule, type Finding, type Known, knownOf } from './access-rule.ts';
import { judgePassback } from './anti-passback.ts';
import type { Decision, GrantFlag } from './decision.ts';
import { doorRules, emergencyRule } from './door-rules.ts';
import type { Facts } from './facts.ts';
import { judgeFirstPerson } from './first-person.ts';
import { requestRules } from './request-rules.ts';
import { grantInForce, timeRules } from './time-rules.ts';

export type GrantedDecision = Extract<Decision, { verdict: 'granted' }>;
export type RefusedDecision = Extract<Decision, { verdict: 'refused' }>;

/** Every reason to refuse, in the order in which they count. */
export const accessRules: readonly AccessRule[] = [...requestRules, emergencyRule, ...timeRules, ...doorRules];

/** @returns the decision that release, lamp and journal all follow. Throws only for a bug. */
export function decideAccess(request: AccessRequest, facts: Facts): Decision {
  for (const rule of accessRules) {
    const finding = rule.decide(request, facts);
    if (finding !== undefined) return refusedDecision(request, facts, finding);
  }
  const known = knownOf(request, facts);
  invariant(known !== undefined, 'what no rule refused has a door and a credential');
  return grantedDecision(known);
}

/** The decision where the facts could not be gathered. `detail` names the fault's code, never a value that was read. */
export function decideFault(request: AccessRequest, detail: string): RefusedDecision {
  return {
    verdict: 'refused',
    code: 'INTERNAL_FAULT',
    detail,
    isDuress: false,
    requestId: request.requestId,
    door: undefined,
    reader: undefined,
    credential: undefined,
    holder: undefined,
  };
}

/** Whether the reader should now wait for the PIN that belongs to this card. */
export function opensChallenge(decision: Decision): boolean {
  return decision.code === 'SECOND_FACTOR_REQUIRED' && decision.detail === 'pin';
}

/** What the person at the reader is shown. Every refusal looks the same; duress looks like any grant. */
export function signalOf(decision: Decision): 'granted' | 'refused' | 'enter-pin' {
  if (decision.verdict === 'granted') return 'granted';
  return opensChallenge(decision) ? 'enter-pin' : 'refused';
}

function evidenceOf<Door extends DoorId | undefined>(
  { requestId }: AccessRequest,
  { credential }: Facts,
  door: Door,
  reader: ReaderId | undefined,
) {
  const row = credential.kind === 'found' ? credential.row : undefined;
  return { requestId, door, reader, credential: row?.id, holder: row?.holder };
}

function refusedDecision(request: AccessRequest, facts: Facts, finding: Finding): RefusedDecision {
  const code: RefusalCode = finding.code;
  const evidence = evidenceOf(request, facts, facts.door?.row.id, facts.door?.reader.id);
  return { verdict: 'refused', code, detail: finding.detail, isDuress: isDuress(facts), ...evidence };
}

function grantedDecision(known: Known): GrantedDecision {
  const { request, facts, door, credential } = known;
  const grant = grantInForce(credential.grants, facts);
  invariant(grant !== undefined, 'what no rule refused has a grant in force');
  const needsTime = credential.row.needsExtendedTime;
  return {
    verdict: 'granted',
    code: 'GRANTED',
    grant: grant.row.grant,
    flags: flagsOf(known),
    releaseMs: needsTime ? door.row.extendedStrikeMs : door.row.strikeMs,
    heldMs: needsTime ? door.row.extendedHeldMs : door.row.heldMs,
    ...evidenceOf(request, facts, door.row.id, door.reader.id),
  };
}

function isDuress({ credential, secondFactor }: Facts): boolean {
  const byCredential = credential.kind === 'found' && credential.row.isDuress;
  return byCredential || (secondFactor.kind === 'right' && secondFactor.isDuress);
}

function flagsOf(known: Known): readonly GrantFlag[] {
  const { door, credential, facts } = known;
  const flags: GrantFlag[] = [];
  if (isDuress(facts)) flags.push('duress');
  if (judgePassback(door, facts) === 'soft-breach') flags.push('apb_breach');
  if (door.mode === 'lockdown') flags.push('lockdown_override');
  if (credential.row.needsExtendedTime) flags.push('extended_time');
  if (judgeFirstPerson(known) === 'enters-now') flags.push('first_in');
  return flags;
}
