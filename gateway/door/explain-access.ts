/**
 * Why a door decided as it did, or would: each rule's verdict in order, the rule that decided, and all that stands in the way.
 *
 * Runs the very rules of the decision, so an explanation cannot disagree with it.
 * Not promised: findings of later rules where door or credential are not known; there is nothing to judge then.
 */
import type { RefusalCode } from '#shared/code.ts';
import type { WallMs } from '#shared/instant.ts';
import type { AccessRequest } from './access-request.ts';
import { type Finding, usableNow } from './access-rule.ts';
import { accessRules, decideAccess } from './decide-access.ts';
import type { Decision } from './decision.ts';
import type { Facts, GrantFact } from './facts.ts';
import { nextInside } from './wall-windows.ts';

interface RuleVerdict {
  readonly rank: number;
  readonly codes: readonly RefusalCode[];
  /** What the rule found; `undefined` = it let the request pass. */
  readonly finding: Finding | undefined;
}

export interface Explanation {
  readonly decision: Decision;
  /** In order, up to and including the rule that decided. */
  readonly verdicts: readonly RuleVerdict[];
  /** Everything that would have to change for a grant, in order; empty for a grant. */
  readonly inTheWay: readonly Finding[];
  /** When a grant at this door is next in force, if it is not now and the time is known. */
  readonly grantOpensAt: WallMs | undefined;
}

export function explainAccess(request: AccessRequest, facts: Facts): Explanation {
  const all = accessRules.map(
    (rule): RuleVerdict => ({ rank: rule.rank, codes: rule.codes, finding: rule.decide(request, facts) }),
  );
  const decidedBy = all.findIndex((verdict) => verdict.finding !== undefined);
  return {
    decision: decideAccess(request, facts),
    verdicts: decidedBy === -1 ? all : all.slice(0, decidedBy + 1),
    inTheWay: all.flatMap(({ finding }) => (finding === undefined ? [] : [finding])),
    grantOpensAt: grantOpensAt(facts),
  };
}

function grantOpensAt({ clock, credential }: Facts): WallMs | undefined {
  const now = usableNow(clock);
  if (now === undefined || credential.kind !== 'found') return undefined;
  const openings = credential.grants.flatMap((grant) => opensAt(grant, now) ?? []).sort((a, b) => a - b);
  const first = openings[0];
  return first === undefined || first === now ? undefined : first;
}

function opensAt({ row, windows }: GrantFact, now: WallMs): WallMs | undefined {
  const earliest = row.validFrom !== null && row.validFrom > now ? row.validFrom : now;
  const at = windows === 'always' ? earliest : nextInside(windows, earliest);
  return at === undefined || (row.validUntil !== null && at >= row.validUntil) ? undefined : at;
}
