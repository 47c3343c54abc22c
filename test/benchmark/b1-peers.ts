/**
 * The same questions put to what else one could decide with: a policy engine and a library of access rules.
 *
 * Each at its best: rows already in memory, policies parsed before, only what the question needs handed over.
 */
import { preparsePolicySet, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs';
import { type Enforcer, newEnforcer, newModelFromString, StringAdapter } from 'casbin';
import type { FacilityRows } from '#shared/contract/replica-row.ts';
import type { Oracle, Question } from './oracle.ts';

/** @returns whether the door opens. */
export type Peer = (question: Question) => boolean;

const farFuture = 8_640_000_000_000_000;

/** One parsed policy; the credential and its grants at this door as context. */
export function createCedar(oracle: Oracle): Peer {
  const policies = `permit (principal, action == Action::"open", resource) when {
    context.status == "issued" && context.now >= context.from && context.now < context.until
    && context.age <= context.lease && context.granted && context.open
  };`;
  const parsed = preparsePolicySet('doors', { staticPolicies: policies });
  if (parsed.type !== 'success') throw new Error(JSON.stringify(parsed.errors));
  const action = { type: 'Action', id: 'open' };
  return ({ card, door, now, contactAgeMs }) => {
    const credential = oracle.credential(card);
    if (credential === undefined) return false;
    const grants = oracle.grants(card, door);
    const answer = statefulIsAuthorized({
      principal: { type: 'Credential', id: credential.id },
      action,
      resource: { type: 'Door', id: `d${door}` },
      context: {
        status: credential.status,
        now,
        from: credential.validFrom ?? 0,
        until: credential.validUntil ?? farFuture,
        age: contactAgeMs,
        lease: credential.leaseMs === 'unlimited' ? farFuture : credential.leaseMs,
        granted: grants.length > 0,
        open: grants.some(({ schedule }) => oracle.isOpen(schedule, now)),
      },
      preparsedPolicySetId: 'doors',
      entities: [],
    });
    if (answer.type !== 'success') throw new Error(JSON.stringify(answer.errors));
    return answer.response.decision === 'allow';
  };
}

/** The adapter takes no empty list. */
const nobody = 'p, nobody, 0, 0, 0, always';

const model = `
[request_definition]
r = sub, now, age, office
[policy_definition]
p = sub, from, until, lease, schedule
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && r.now >= p.from && r.now < p.until && r.age <= p.lease && (p.schedule == "always" || r.office)
`;

/** One enforcer per door, holding the grants of issued credentials there. */
export async function createCasbin(rows: FacilityRows, oracle: Oracle): Promise<Peer> {
  const lines = new Map<string, string[]>(rows.doors.map(({ id }) => [id, [nobody]]));
  for (const { credential, door, schedule } of rows.grants) {
    const row = oracle.credential(Number(credential.slice(1)));
    if (row === undefined || row.status !== 'issued') continue;
    const lease = row.leaseMs === 'unlimited' ? farFuture : row.leaseMs;
    const bounds = [row.validFrom ?? 0, row.validUntil ?? farFuture, lease];
    lines.get(door)?.push(['p', credential, ...bounds, schedule ?? 'always'].join(', '));
  }
  const enforcers = new Map<string, Enforcer>();
  for (const [door, policies] of lines)
    enforcers.set(door, await newEnforcer(newModelFromString(model), new StringAdapter(policies.join('\n'))));
  return ({ card, door, now, contactAgeMs }) =>
    enforcers.get(`d${door}`)?.enforceSync(`c${card}`, now, contactAgeMs, oracle.isOpen('office', now)) ?? false;
}
