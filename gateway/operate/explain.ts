/**
 * Why: a past decision from its entry, or one that nobody asked for from the facts as they are now.
 *
 * A hypothetical runs the very rules of a real decision; it journals nothing, spends nothing, moves nothing.
 */
import { isCode } from '#shared/code.ts';
import { identifier, type RequestId } from '#shared/identifier.ts';
import { wallMs } from '#shared/instant.ts';
import type { CallContext } from '../control/door-side.ts';
import { type Arguments, ControlRefusal, type NamedCredential } from '../control/messages.ts';
import type { ExplainReport } from '../control/replies.ts';
import type { AccessRequest, CardBits, Presented } from '../door/access-request.ts';
import { type FactSources, gatherFacts } from '../door/gather-facts.ts';
import type { Entry } from '../journal/entry.ts';
import type { DoorProcess } from './door-process.ts';
import { pastReport, simulatedReport } from './explain-report.ts';

/** How far back a past request is looked for. */
const entriesBack = 100_000;
const pageSize = 1_000;

export async function explainPast({ request }: Arguments<'explain'>, process: DoorProcess): Promise<ExplainReport> {
  const entry = await findDecision(request, process);
  if (!entry) throw new ControlRefusal('NOT_FOUND', `no decision ${request} among the newest ${entriesBack} entries`);
  const code = String(entry.body['code']);
  if (!isCode(code)) throw new ControlRefusal('INTERNAL_FAULT', `the entry carries the unknown code ${code}`);
  return pastReport(entry, code, process.replica.facility?.zone);
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
  const holderName = holder && replica.holderOf(holder)?.name;
  return simulatedReport(request, facts, { holderName, zone: replica.facility?.zone });
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
