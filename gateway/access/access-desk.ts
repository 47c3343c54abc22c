/**
 * From a request to its end: facts, decision, journal, door, lamp. In this order, and nothing before its turn.
 *
 * Guarantees: a door is told of a grant only after the entries of request and decision are durable; a grant that the journal
 * did not take becomes a refusal, for door, lamp and memory alike; a fault while gathering is a refusal with its own code.
 * Not promised: that the lock moved; that is an entry of its own, later, with the same request id.
 */
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
import { type FactSources, gatherFacts } from '../door/gather-facts.ts';
import type { EntryDraft, StateWrite } from '../journal/entry.ts';
import type { AppendResult } from '../journal/journal.ts';
import { decidedEntry, requestedEntry, type Stamp } from './access-entries.ts';
import type { AlarmBoard } from './alarm-board.ts';
import type { DoorSet } from './door-set.ts';
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

export class AccessDesk {
  readonly #ports: AccessDeskPorts;

  constructor(ports: AccessDeskPorts) {
    this.#ports = ports;
  }

  /** Decides and carries out one request. @returns the decision that stands. */
  async present(request: AccessRequest): Promise<Decision> {
    const facts = await this.#gather(request);
    const stamp = this.#ports.stamp();
    if (facts instanceof Error)
      return this.#refuse({ request, facts: undefined, stamp }, decideFault(request, codeOf(facts)));
    const decision = decideAccess(request, facts);
    const decided = { request, facts, stamp };
    return decision.verdict === 'granted' ? this.#grant(decided, decision) : this.#refuse(decided, decision);
  }

  /** A card's facts are gathered and decided upon without a pause: what is awaited here is not a pause for them. */
  #gather(request: AccessRequest): Facts | Error | Promise<Facts | Error> {
    const failed = (error: unknown): Error => {
      this.#ports.faulted(error);
      return error instanceof Error ? error : new Error(String(error));
    };
    try {
      const facts = gatherFacts(request, this.#ports.sources);
      return facts instanceof Promise ? facts.catch(failed) : facts;
    } catch (error) {
      return failed(error);
    }
  }

  async #grant(decided: Decided, decision: GrantedDecision): Promise<Decision> {
    const { doors, append, now, alarms, show } = this.#ports;
    const door = doors.find(decision.door);
    const settle = door?.expectGrant();
    const writes = this.#spend(decided, decision);
    const result = await append(this.#entries(decided, decision), writes);
    if (result.kind !== 'durable' || door === undefined) {
      settle?.();
      this.#giveBack(decided, decision);
      return this.#refuse(decided, journalRefusal(decision));
    }
    door.step({ kind: 'granted', at: now(), decision });
    settle?.();
    show(decided.request, signalOf(decision), { ms: decision.releaseMs, delayMs: 0 });
    if (decision.flags.includes('duress'))
      alarms.announce({ kind: 'gateway', id: decision.door }, 'DURESS', decision.requestId);
    return decision;
  }

  #refuse(decided: Decided, decision: RefusedDecision): Decision {
    const { guesses, escorts, note, alarms, show, now } = this.#ports;
    const carriesPin = decided.request.presented.kind !== 'card';
    const counted: Counted | undefined =
      decision.reader && guesses.count(decision.reader, now(), { code: decision.code, carriesPin });
    if (decision.door !== undefined) escorts.take(decision.door, decision, now());
    if (counted === undefined || counted.record === 'entry')
      note(this.#entries(decided, decision), counted?.writes ?? []);
    else if (counted.writes.length > 0) note([], counted.writes);
    if (counted?.locks && decision.reader) alarms.raise({ kind: 'device', id: decision.reader }, 'READER_LOCKED', '');
    if (decision.isDuress && decision.door !== undefined)
      alarms.announce({ kind: 'gateway', id: decision.door }, 'DURESS', decision.requestId);
    const isChallenge = opensChallenge(decision);
    const ms = isChallenge ? enterPinLampMs : refusedLampMs;
    show(decided.request, signalOf(decision), { ms, delayMs: counted?.answerAfterMs ?? 0 });
    return decision;
  }

  #entries({ request, facts, stamp }: Decided, decision: Decision): readonly EntryDraft[] {
    return [requestedEntry(request, decision, stamp), decidedEntry(request, facts, decision, stamp)];
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

  /** Undoes `#spend` in memory; nothing of it was written. */
  #giveBack({ facts }: Decided, decision: GrantedDecision): void {
    const { memory, grants } = this.#ports;
    grants.forget(decision.requestId);
    if (
      facts?.credential.kind !== 'found' ||
      facts.credential.row.usesMax === null ||
      decision.credential === undefined
    )
      return;
    const spent = memory.read('uses', decision.credential);
    memory.write('uses', decision.credential, typeof spent === 'number' && spent > 1 ? spent - 1 : null);
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

const codeOf = (error: Error): string => ('code' in error && typeof error.code === 'string' ? error.code : error.name);
