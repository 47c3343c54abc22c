/**
 * Why: a past decision from its entry, or one that nobody asked for from the facts as they are now.
 *
 * A hypothetical runs the very rules of a real decision; it journals nothing, spends nothing, moves nothing.
 */
import { type Code, codeText, isCode, type RefusalCode } from '#shared/code.ts';
import { identifier, type RequestId } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';
import type { CallContext } from '../control/door-side.ts';
import { type Arguments, ControlRefusal, type NamedCredential } from '../control/messages.ts';
import type { ExplainReport, ExplainStep } from '../control/replies.ts';
import type { AccessRequest, CardBits, Presented } from '../door/access-request.ts';
import { accessRules } from '../door/decide-access.ts';
import { explainAccess } from '../door/explain-access.ts';
import type { Facts } from '../door/facts.ts';
import { type FactSources, gatherFacts } from '../door/gather-facts.ts';
import type { Entry } from '../journal/entry.ts';
import type { DoorProcess } from './door-process.ts';

/** How far back a past request is looked for. */
const entriesBack = 100_000;
const pageSize = 1_000;

export async function explainPast({ request }: Arguments<'explain'>, process: DoorProcess): Promise<ExplainReport> {
  const entry = await findDecision(request, process);
  if (!entry) throw new ControlRefusal('NOT_FOUND', `no decision ${request} among the newest ${entriesBack} entries`);
  const code = String(entry.body['code']);
  if (!isCode(code)) throw new ControlRefusal('INTERNAL_FAULT', `the entry carries the unknown code ${code}`);
  const decidedAt = accessRules.find(({ codes }) => (codes as readonly string[]).includes(code))?.rank;
  const detail = entry.body['detail'];
  const facts = Object.entries(entry.body).map(([name, value]) => ({ name, value: JSON.stringify(value) }));
  return {
    verdict: entry.kind === 'access.granted' ? 'granted' : 'refused',
    code,
    facts: [
      { name: 'at', value: new Date(entry.at).toISOString() },
      { name: 'clock', value: entry.clockState },
      { name: 'door', value: entry.door ?? 'none' },
      ...facts,
    ],
    steps: accessRules.map(({ rank, codes }) =>
      stepOf(rank, codes, { decidedAt, code, detail: typeof detail === 'string' ? detail : undefined }),
    ),
  };
}

const decisionKinds: ReadonlySet<Entry['kind']> = new Set(['access.granted', 'access.refused', 'access.challenged']);

async function findDecision(request: RequestId, { journal }: DoorProcess): Promise<Entry | undefined> {
  const newest = await journal.read({ newest: pageSize });
  const isIt = (entry: Entry) => entry.requestId === request && decisionKinds.has(entry.kind);
  const found = newest.find(isIt);
  if (found) return found;
  let before = newest[0]?.seq ?? 0;
  for (let read = pageSize; read < entriesBack && before > 1; read += pageSize) {
    const page = await journal.read({ afterSeq: Math.max(0, before - 1 - pageSize), limit: pageSize });
    const hit = page.find(isIt);
    if (hit) return hit;
    before = Math.max(1, before - pageSize);
  }
  return undefined;
}

/**
 * @param rights who may only look asks by a credential's id alone: bits and PINs that can be tried without an entry would
 * be an oracle that no limiter slows.
 */
export async function simulateDecision(
  call: Arguments<'simulate'>,
  process: DoorProcess,
  rights: CallContext['rights'],
): Promise<ExplainReport> {
  if (rights === 'look' && (!('credential' in call.presented) || call.secondFactor !== undefined))
    throw new ControlRefusal('NOT_ALLOWED', 'cards and PINs are tried on the admin socket; name a credential');
  const { replica } = process;
  const reader = replica.readers.find(({ door }) => door === call.door);
  if (!reader)
    throw new ControlRefusal(
      'NOT_FOUND',
      `no door ${call.door} with a reader; doors: ${[...replica.doors.keys()].join(', ') || 'none'}`,
    );
  const presented = presentedOf(call.presented, call.secondFactor);
  const receivedAt = process.now();
  const request: AccessRequest = {
    requestId: identifier<'request'>('simulated'),
    device: reader.device,
    head: reader.head,
    presented,
    receivedAt,
    deviceAgeMs: 0,
  };
  const facts = await gatherFacts(request, hypothetical(call, request, process));
  const holder = facts.credential.kind === 'found' ? facts.credential.row.holder : undefined;
  return reportOf(request, facts, holder && replica.holderOf(holder)?.name);
}

/** The sources of a real decision, with the time and the credential that were asked for; nobody waits, so nothing is stale. */
function hypothetical(call: Arguments<'simulate'>, { receivedAt }: AccessRequest, process: DoorProcess): FactSources {
  const { sources, replica } = process;
  const at = call.at === undefined ? undefined : wallMs(Date.parse(call.at));
  const live = {
    ...sources.live,
    now: () => receivedAt,
    guessing: () => 'open' as const,
    ...(at === undefined ? {} : { clock: () => ({ state: 'trusted' as const, now: at, errorMs: 0 }) }),
  };
  const named = 'credential' in call.presented ? call.presented.credential : undefined;
  if (named === undefined) return { ...sources, live };
  const lookup = replica.lookupOf(named);
  if (lookup === undefined) throw new ControlRefusal('NOT_FOUND', `no credential ${named}`);
  // A credential named by its id is read by its own lookup value: nobody has to know its number.
  return { ...sources, live, lookup: { ...sources.lookup, ofCard: () => lookup } };
}

function presentedOf(named: NamedCredential, secondFactor: string | undefined): Presented {
  if ('pin' in named) return { kind: 'pin', digits: named.pin };
  const card: CardBits = 'card' in named ? cardOf(named.card.bits) : { bitCount: 1, bytes: Uint8Array.of(0x80) };
  return secondFactor === undefined ? { kind: 'card', card } : { kind: 'card-and-pin', card, digits: secondFactor };
}

function cardOf(bits: string): CardBits {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0');
  const bytes = Uint8Array.from(padded.match(/.{8}/g) ?? [], (octet) => Number.parseInt(octet, 2));
  return { bitCount: bits.length, bytes };
}

function reportOf(request: AccessRequest, facts: Facts, holderName: string | undefined): ExplainReport {
  const { decision, inTheWay, grantOpensAt } = explainAccess(request, facts);
  const decidedAt = accessRules.find(({ codes }) => (codes as readonly string[]).includes(decision.code))?.rank;
  const detail = decision.verdict === 'refused' ? decision.detail : undefined;
  const also = inTheWay
    .slice(1)
    .map(({ code }) => ({ name: 'also in the way', value: `${codeText(code, 'en')} [${code}]` }));
  return {
    verdict: decision.verdict,
    code: decision.code,
    facts: [
      ...factLines(facts, holderName),
      ...also,
      ...(grantOpensAt === undefined ? [] : [{ name: 'next in force', value: new Date(grantOpensAt).toISOString() }]),
    ],
    steps: accessRules.map(({ rank, codes }) => stepOf(rank, codes, { decidedAt, code: decision.code, detail })),
  };
}

function factLines(
  { clock, door, credential, replica, journal }: Facts,
  holderName: string | undefined,
): ExplainReport['facts'] {
  const found = credential.kind === 'found' ? credential : undefined;
  return [
    {
      name: 'time',
      value:
        clock.now === undefined ? `unknown (${clock.state})` : `${new Date(clock.now).toISOString()} (${clock.state})`,
    },
    {
      name: 'door',
      value: door === undefined ? 'none' : `${door.row.name} (${door.row.id}), mode ${door.mode}, lock ${door.lock}`,
    },
    {
      name: 'credential',
      value:
        found === undefined ? credential.kind : `${found.row.id}, ${found.row.status}, version ${found.row.version}`,
    },
    ...(found === undefined
      ? []
      : [
          { name: 'holder', value: holderName ?? found.row.holder },
          {
            name: 'grants here',
            value:
              found.grants
                .map(({ row }) => `${row.grant}${row.schedule === null ? '' : ` in ${row.schedule}`}`)
                .join(', ') || 'none',
          },
        ]),
    {
      name: 'replica',
      value: `${replica.state}, epoch ${replica.epoch}, contact ${replica.contactAgeMs === 'unknown' ? 'unknown' : `${Math.round(replica.contactAgeMs / 1000)} s ago`}`,
    },
    { name: 'journal', value: journal },
  ];
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
