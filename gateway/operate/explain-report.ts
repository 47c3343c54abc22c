/** An explanation as a report: facts under stable names with plain values, and one step for every rule. Pure. */
import type { Code, RefusalCode } from '#shared/code.ts';
import type { FactName } from '../control/explain-words.ts';
import type { ExplainFact, ExplainReport, ExplainStep } from '../control/replies.ts';
import type { AccessRequest } from '../door/access-request.ts';
import { accessRules } from '../door/decide-access.ts';
import { explainAccess } from '../door/explain-access.ts';
import type { Facts } from '../door/facts.ts';
import type { Entry } from '../journal/entry.ts';

const stated = (name: FactName, value: ExplainFact['value']): ExplainFact => ({ name, value });

/** Of a decision that was made, from its entry. */
export function pastReport(entry: Entry, code: Code, zone: string | undefined): ExplainReport {
  const { code: _shown, detail, ...known } = entry.body;
  const facts = Object.entries(known).map(([name, value]): ExplainFact => ({ name, value: value ?? null }));
  return {
    verdict: entry.kind === 'access.granted' ? 'granted' : 'refused',
    code,
    zone,
    facts: [
      stated('at', entry.at),
      stated('clock', entry.clockState),
      stated('door', entry.door ?? 'none'),
      ...facts,
      ...(detail === undefined ? [] : [stated('detail', detail)]),
    ],
    steps: stepsOf(code, typeof detail === 'string' ? detail : undefined),
  };
}

/** What is known beside the facts of the decision. */
export interface Setting {
  readonly holderName: string | undefined;
  readonly zone: string | undefined;
}

/** Of a request that nobody made. */
export function simulatedReport(request: AccessRequest, facts: Facts, { holderName, zone }: Setting): ExplainReport {
  const { decision, inTheWay, grantOpensAt } = explainAccess(request, facts);
  const also = inTheWay.slice(1).map(({ code }) => code);
  return {
    verdict: decision.verdict,
    code: decision.code,
    zone,
    facts: [
      ...surroundings(facts),
      ...credentialFacts(facts, holderName),
      ...(also.length === 0 ? [] : [stated('alsoInTheWay', also)]),
      ...(grantOpensAt === undefined ? [] : [stated('nextInForce', grantOpensAt)]),
    ],
    steps: stepsOf(decision.code, decision.verdict === 'refused' ? decision.detail : undefined),
  };
}

function surroundings({ clock, door, replica, journal }: Facts): readonly ExplainFact[] {
  return [
    stated('at', clock.now ?? 'unknown'),
    stated('clock', clock.state),
    stated('door', door === undefined ? 'none' : `${door.row.name} (${door.row.id})`),
    ...(door === undefined ? [] : [stated('mode', door.mode), stated('lock', door.lock)]),
    stated('replica', replica.state),
    stated('replicaEpoch', replica.epoch),
    stated('contactAgeMs', replica.contactAgeMs),
    stated('journal', journal),
  ];
}

function credentialFacts({ credential }: Facts, holderName: string | undefined): readonly ExplainFact[] {
  if (credential.kind !== 'found') return [stated('credentialState', credential.kind)];
  const { row, grants } = credential;
  return [
    stated('credential', row.id),
    stated('credentialState', row.status),
    stated('credentialVersion', row.version),
    stated('holder', holderName ?? row.holder),
    stated(
      'grants',
      grants.map(({ row: { grant, schedule } }) => (schedule === null ? grant : `${grant} (${schedule})`)),
    ),
  ];
}

/** One for each rule. @param detail the part of the rule that decided. */
function stepsOf(code: Code, detail: string | undefined): readonly ExplainStep[] {
  const isOf = (codes: readonly string[]) => codes.includes(code);
  const decidedAt = accessRules.find(({ codes }) => isOf(codes))?.rank;
  return accessRules.map(({ rank, codes }) => stepOf(rank, codes, { decidedAt, code, detail }));
}

interface Ended {
  readonly decidedAt: number | undefined;
  readonly code: Code;
  readonly detail: string | undefined;
}

function stepOf(rank: number, codes: readonly RefusalCode[], { decidedAt, code, detail }: Ended): ExplainStep {
  const rule = codes.join(', ');
  // A fault is no rule's: nothing is known to have passed.
  if (code === 'INTERNAL_FAULT') return { rank, rule, verdict: 'not-reached', code: undefined, words: '' };
  if (decidedAt === undefined || rank < decidedAt) return { rank, rule, verdict: 'passed', code: undefined, words: '' };
  if (rank > decidedAt) return { rank, rule, verdict: 'not-reached', code: undefined, words: '' };
  return { rank, rule, verdict: 'refused', code, words: detail ?? '' };
}
