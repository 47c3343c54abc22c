/**
 * From a request to its end: facts, decision, journal, door, lamp. In this order, and nothing before its turn.
 *
 * Guarantees: a door is told of a grant only after the entries of request and decision are durable; a grant that the journal
 * did not take becomes a refusal, for door, lamp and memory alike; a fault while gathering is a refusal with its own code.
 * Not promised: that the lock moved; that is an entry of its own, later, with the same request id.
 */
import { normalizeCard } from '#protocol/wiegand/normalize-card.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { AccessRequest } from '../door/access-request.ts';
import {
  decideAccess,
  decideFault,
  type GrantedDecision,
  opensChallenge,
  type RefusedDecision,
  signalOf,
} from '../door/decide-access.ts';
import type { Decision } from '../door/decision.ts';
import type { Facts } from '../door/facts.ts';
import { type FactSources, withFacts } from '../door/gather-facts.ts';
import type { EntryDraft, StateWrite } from '../journal/entry.ts';
import type { AppendResult } from '../journal/journal.ts';
import { decidedEntry, requestedEntry, type Stamp } from './access-entries.ts';
import type { AlarmBoard } from './alarm-board.ts';
import type { DoorSet } from './door-set.ts';
import type { DoorShell } from './door-shell.ts';
import type { EscortBook } from './escort-book.ts';
import type { GrantBook } from './grant-book.ts';
import type { Counted, GuessKeeper } from './guess-keeper.ts';
import type { StateMemory } from './state-memory.ts';

export interface AccessDeskPorts {
  readonly now: () => MonoMs;
  readonly stamp: () => Stamp;
  readonly sources: FactSources;
  readonly doors: DoorSet;
  readonly memory: StateMemory;
  readonly grants: GrantBook;
  readonly guesses: GuessKeeper;
  readonly escorts: EscortBook;
  readonly alarms: AlarmBoard;
  readonly append: (entries: readonly EntryDraft[], state: readonly StateWrite[]) => Promise<AppendResult>;
  readonly note: (entries: readonly EntryDraft[], state: readonly StateWrite[]) => void;
  /** Shows the person at the reader what was decided, after `delayMs`. */
  readonly show: (
    request: AccessRequest,
    signal: 'granted' | 'refused' | 'enter-pin',
    lamp: { readonly ms: number; readonly delayMs: number },
  ) => void;
  /** A fault while gathering, for whoever runs the machine. */
  readonly faulted: (error: unknown) => void;
}

interface Decided {
  readonly request: AccessRequest;
  /** `undefined` where gathering failed. */
  readonly facts: Facts | undefined;
  readonly stamp: Stamp;
}

const refusedLampMs = 1_500;
const enterPinLampMs = 15_000;
/** Of the lookup of an unknown card that its entry keeps. */
const strangerDigits = 8;

export class AccessDesk {
  readonly #ports: AccessDeskPorts;

  constructor(ports: AccessDeskPorts) {
    this.#ports = ports;
  }

  /**
   * Decides and carries out one request. Between the reading of its facts and what it takes there is no pause: two
   * requests of one instant never both take the last use. @returns the decision that stands.
   */
  present(request: AccessRequest): Promise<Decision> {
    let facts: Facts | undefined;
    const decide = (gathered: Facts): Decision | Promise<Decision> => {
      facts = gathered;
      return this.#decide(request, gathered);
    };
    const refuseUnread = (error: unknown): Decision => {
      // Past the facts it is a bug, which nobody catches.
      if (facts !== undefined) throw error;
      this.#ports.faulted(error);
      const unread = { request, facts: undefined, stamp: this.#ports.stamp() };
      return this.#refuse(unread, decideFault(request, codeOf(error)));
    };
    try {
      return Promise.resolve(withFacts(request, this.#ports.sources, decide)).catch(refuseUnread);
    } catch (error) {
      return Promise.resolve(refuseUnread(error));
    }
  }

  #decide(request: AccessRequest, facts: Facts): Decision | Promise<Decision> {
    const decision = decideAccess(request, facts);
    const decided = { request, facts, stamp: this.#ports.stamp() };
    return decision.verdict === 'granted' ? this.#grant(decided, decision) : this.#refuse(decided, decision);
  }

  async #grant(decided: Decided, decision: GrantedDecision): Promise<Decision> {
    const { doors, append } = this.#ports;
    const door = doors.find(decision.door);
    if (door === undefined) return this.#refuse(decided, decideFault(decided.request, 'DOOR_NOT_RUNNING'));
    const settle = door.expectGrant();
    const writes = this.#spend(decided, decision);
    const result = await append(this.#entries(decided, decision), writes);
    if (result.kind !== 'durable') {
      settle();
      this.#giveBack(decided, decision);
      return this.#refuse(decided, journalRefusal(decision));
    }
    this.#open(door, decided, decision);
    settle();
    return decision;
  }

  /** Hands a durable grant to its door; the door it was decided for may have been rebuilt while the disk was busy. */
  #open(door: DoorShell, decided: Decided, decision: GrantedDecision): void {
    const { doors, note, show, alarms, now, stamp } = this.#ports;
    const isThere = doors.find(decision.door) === door;
    if (isThere) {
      door.step({ kind: 'granted', at: now(), decision });
      show(decided.request, signalOf(decision), { ms: decision.releaseMs, delayMs: 0 });
    } else {
      const { door: id, requestId } = decision;
      const body = { reason: 'door-changed' };
      note([{ kind: 'lock.not-executed', ...stamp(), door: id, requestId, body }], []);
      this.#giveBack(decided, decision);
      show(decided.request, 'refused', { ms: refusedLampMs, delayMs: 0 });
    }
    if (decision.flags.includes('duress')) alarms.announce({ kind: 'door', id: decision.door }, 'DURESS', decision);
  }

  #refuse(decided: Decided, decision: RefusedDecision): Decision {
    const { escorts, note, show, now } = this.#ports;
    const counted = this.#count(decided, decision);
    if (decision.door !== undefined) escorts.take(decision.door, decision, now());
    if (counted?.record !== 'counted') note(this.#entries(decided, decision), counted?.writes ?? []);
    else if (counted.writes.length > 0) note([], counted.writes);
    this.#alarm(decision, counted?.locks === true);
    const ms = opensChallenge(decision) ? enterPinLampMs : refusedLampMs;
    show(decided.request, signalOf(decision), { ms, delayMs: counted?.answerAfterMs ?? 0 });
    return decision;
  }

  /** What a refusal adds up to at its reader; `undefined` where there is no reader to count at. */
  #count({ request }: Decided, { reader, code }: RefusedDecision): Counted | undefined {
    const { guesses, now } = this.#ports;
    if (reader === undefined) return undefined;
    return guesses.count(reader, now(), { code, carriesPin: request.presented.kind !== 'card' });
  }

  #alarm(decision: RefusedDecision, isLockedNow: boolean): void {
    const { alarms } = this.#ports;
    const { reader, door, code, detail, isDuress } = decision;
    if (isLockedNow && reader !== undefined) alarms.raise({ kind: 'reader', id: reader }, 'READER_LOCKED', '');
    if (isDuress && door !== undefined) alarms.announce({ kind: 'door', id: door }, 'DURESS', decision);
    if (code === 'CREDENTIAL_TAMPERED') alarms.raise({ kind: 'gateway', id: 'replica' }, 'ROW_TAMPERED', detail ?? '');
  }

  #entries({ request, facts, stamp }: Decided, decision: Decision): readonly EntryDraft[] {
    const stranger = decision.code === 'CREDENTIAL_UNKNOWN' ? this.#strangerOf(request, facts) : undefined;
    return [requestedEntry(request, decision, stamp, stranger), decidedEntry(request, facts, decision, stamp)];
  }

  /** Tells that the same unknown card came again, and nothing of its number. */
  #strangerOf({ presented }: AccessRequest, facts: Facts | undefined): string | undefined {
    if (presented.kind === 'pin' || facts?.door === undefined) return undefined;
    const order = facts.door.reader.uidOrder === 'reversed' ? 'reversed' : 'as-read';
    const normalized = normalizeCard(presented.card, order);
    return normalized && this.#ports.sources.lookup.ofCard(normalized).slice(0, strangerDigits);
  }

  /** What a grant uses up, in memory at once, so that a second request in the same instant finds it gone. */
  #spend({ facts }: Decided, decision: GrantedDecision): readonly StateWrite[] {
    const { memory, escorts, grants, now } = this.#ports;
    const { credential, door, holder } = decision;
    if (
      facts?.credential.kind !== 'found' ||
      facts.door === undefined ||
      holder === undefined ||
      credential === undefined
    )
      return [];
    escorts.take(door, decision, now());
    const isLimited = facts.credential.row.usesMax !== null;
    const isFirstPerson = decision.flags.includes('first_in');
    grants.enter(decision.requestId, {
      holder,
      reader: facts.door.reader,
      isFirstPerson,
      spent: isLimited ? credential : undefined,
    });
    return isLimited ? [memory.write('uses', credential, facts.credential.usesSpent + 1)] : [];
  }

  /** Undoes `#spend`; written again, since a later grant's count, or this one's own, may have reached the disk. */
  #giveBack({ facts }: Decided, decision: GrantedDecision): void {
    const { memory, grants, note } = this.#ports;
    grants.forget(decision.requestId);
    if (
      facts?.credential.kind !== 'found' ||
      facts.credential.row.usesMax === null ||
      decision.credential === undefined
    )
      return;
    const spent = memory.read('uses', decision.credential);
    note([], [memory.write('uses', decision.credential, typeof spent === 'number' && spent > 1 ? spent - 1 : null)]);
  }
}

function journalRefusal({ requestId, door, reader, credential, holder, flags }: GrantedDecision): RefusedDecision {
  const isDuress = flags.includes('duress');
  return {
    verdict: 'refused',
    code: 'JOURNAL_UNAVAILABLE',
    detail: undefined,
    isDuress,
    requestId,
    door,
    reader,
    credential,
    holder,
  };
}

/** The fault's code, or the kind of error; never its message, which may quote what was read. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'UNKNOWN';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
