/**
 * Where whoever relays meets the door process: within a budget, counted, and told what the door process needs.
 *
 * Guarantees: without an enrolment nothing is asked and nothing believed; what is not the cloud's word is counted by its
 * reason and alarmed; no relay takes more of door's time than its budget.
 */
import { elapsedMs, later, type MonoMs } from '#shared/instant.ts';
import type { FrontDesk } from '../access/front-desk.ts';
import type { CallContext } from '../control/door-side.ts';
import { type Arguments, ControlRefusal } from '../control/messages.ts';
import type { AskReply, CloudStatus, DeliverReply, DoorNeeds } from '../control/sync-replies.ts';
import type { Entry } from '../journal/entry.ts';
import type { Journal } from '../journal/journal.ts';
import { ReplicaFault } from '../replica/replica.ts';
import type { CardWindow } from './card-window.ts';
import type { CloudHints } from './cloud-hints.ts';
import type { CloudSession } from './cloud-session.ts';
import type { ContactKeeper } from './contact-keeper.ts';
import type { Enrolment } from './enrolment-store.ts';
import type { FeedDesk } from './feed-desk.ts';
import type { JournalDesk } from './journal-desk.ts';
import { RelayBudget, type RelayWork } from './relay-budget.ts';

/** Everything of one enrolment. */
export interface Enrolled {
  readonly enrolment: Enrolment;
  readonly session: CloudSession;
  readonly feed: FeedDesk;
  readonly journal: JournalDesk;
  readonly hints: CloudHints;
  readonly cards: CardWindow;
}

export interface CloudDeskPorts {
  readonly now: () => MonoMs;
  readonly desk: FrontDesk;
  readonly journal: Pick<Journal, 'follow'>;
  readonly contact: ContactKeeper;
}

/** Statements of the cloud under proof at once. */
const deliveriesMax = 8;
/** A forged statement stands as an alarm for so long after the last one. */
const forgedForMs = 3_600_000;
/** The relay is told of new needs at most so often, and of those that come with time at least so often. */
const toldEveryMs = 100;
const lookEveryMs = 1_000;
/** Without a word from edge for so long, there is none. */
const silentAfterMs = 90_000;
const unproven: ReadonlySet<string> = new Set(['malformed', 'wrong-type', 'wrong-signature', 'wrong-shape']);
const ofCloud = { kind: 'gateway', id: 'cloud' } as const;

export class CloudDesk {
  readonly #ports: CloudDeskPorts;
  readonly #budget: RelayBudget;
  readonly #refused = new Map<string, number>();
  readonly #changed = new Set<() => void>();
  readonly #timer: NodeJS.Timeout;
  #enrolled: Enrolled | undefined;
  #unfollow: () => void = () => {};
  #underProof = 0;
  #turn = 0;
  #lastGiven = '';
  #forgedUntil: MonoMs | undefined;
  #heardAt: MonoMs | undefined;

  constructor(ports: CloudDeskPorts) {
    this.#ports = ports;
    this.#budget = new RelayBudget(ports.now);
    ports.desk.reads.onRead((request) => {
      const { session, cards } = this.#enrolled ?? {};
      if (session && cards?.offer(request, session.certificate.sealKey)) this.#tell();
    });
    this.#timer = setInterval(() => this.#look(), lookEveryMs);
  }

  /** From now on, or until `undefined`, this gateway belongs to a cloud. */
  enter(enrolled: Enrolled | undefined): void {
    this.#unfollow();
    this.#unfollow = enrolled === undefined ? () => {} : this.#ports.journal.follow((entries) => this.#grew(entries));
    this.#enrolled = enrolled;
    this.#tell();
  }

  get enrolled(): Enrolled | undefined {
    return this.#enrolled;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#unfollow();
  }

  async ask({ call, entries }: Arguments<'sync-ask'>): Promise<AskReply> {
    const { session } = this.#require();
    this.#spend(call === 'journal' ? 'journal' : call === 'repair' ? 'sums' : 'ask');
    const question = await withFaults(() => session.ask(call, entries));
    return { question, needs: this.#given(session) };
  }

  async deliver({ statement, jws }: Arguments<'sync-deliver'>): Promise<DeliverReply> {
    const { session } = this.#require();
    this.#spend('deliver');
    this.#spend('characters', jws.length);
    if (this.#underProof >= deliveriesMax) throw new ControlRefusal('BUSY', 'too many statements at once');
    this.#underProof += 1;
    try {
      const outcome = await withFaults(() => session.deliver(statement, jws));
      if (outcome.outcome === 'refused') this.#count(outcome.reason ?? 'unknown', statement);
      this.#tell();
      return { ...outcome, needs: this.#given(session) };
    } finally {
      this.#underProof -= 1;
    }
  }

  told(news: Arguments<'sync-told'>): DoorNeeds {
    const { session, hints, feed, cards } = this.#require();
    this.#spend('ask');
    this.#heardAt = this.#ports.now();
    if ('ack' in news) hints.answered(news);
    else if ('feed' in news) hints.fed(news.feed, feed.head()?.epoch ?? 0);
    else if ('repair' in news) hints.repaired('same');
    else if ('snapshot' in news) this.#hearSnapshot(news.snapshot);
    else if ('read' in news) cards.sent(news.read);
    else this.#hearUplink(news);
    this.#tell();
    return this.#given(session);
  }

  /** Streams what is needed until the caller goes away. */
  async follow(context: CallContext): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const emit = () => {
      timer = undefined;
      const session = this.#enrolled?.session;
      if (session === undefined) context.emit(null);
      else if (JSON.stringify(session.needs()) !== this.#lastGiven) context.emit(this.#given(session));
    };
    const soon = () => {
      timer ??= setTimeout(emit, toldEveryMs);
    };
    this.#changed.add(soon);
    this.#lastGiven = '';
    emit();
    try {
      await ended(context.signal);
    } finally {
      clearTimeout(timer);
      this.#changed.delete(soon);
    }
  }

  status(): CloudStatus | undefined {
    if (this.#enrolled === undefined) return undefined;
    const { enrolment, session, feed, hints, journal } = this.#enrolled;
    const at = this.#ports.now();
    const cursor = feed.head()?.cursor ?? 0;
    const isSilent = this.#heardAt === undefined || elapsedMs(this.#heardAt, at) > silentAfterMs;
    const { acked, tip } = journal.standing;
    const { serial, notAfter } = session.certificate;
    return {
      gateway: enrolment.gateway,
      facility: enrolment.facility,
      uplink: isSilent ? 'silent' : (hints.uplink?.state ?? 'starting'),
      uplinkDetail: isSilent ? '' : (hints.uplink?.detail ?? ''),
      uplinkForMs: Math.round(hints.uplink === undefined ? 0 : elapsedMs(hints.uplink.since, at)),
      cursor,
      lag: Math.max(0, hints.feedHead - cursor),
      contactAgeMs: roundedAge(this.#ports.contact.ageMs()),
      certificate: { serial, notAfter },
      entriesBehind: acked.epoch === tip.epoch ? Math.max(0, tip.seq - acked.seq) : tip.seq,
      refused: Object.fromEntries(this.#refused),
    };
  }

  #grew(entries: readonly Entry[]): void {
    const last = entries.at(-1);
    if (last === undefined) return;
    this.#enrolled?.journal.grew({ epoch: last.epoch, seq: last.seq });
    this.#tell();
  }

  /** What the relay is told, with its place in the order of what it was told. */
  #given(session: CloudSession): DoorNeeds {
    const needs = session.needs();
    this.#lastGiven = JSON.stringify(needs);
    this.#turn += 1;
    return { ...needs, turn: this.#turn };
  }

  #require(): Enrolled {
    if (this.#enrolled === undefined) throw new ControlRefusal('NOT_ENROLLED', 'this gateway belongs to no cloud');
    return this.#enrolled;
  }

  #spend(work: RelayWork, amount = 1): void {
    if (!this.#budget.take(work, amount)) throw new ControlRefusal('BUSY', `more ${work} than a relay may ask for`);
  }

  #count(reason: string, statement: string): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
    if (!unproven.has(reason)) return;
    this.#forgedUntil = later(this.#ports.now(), forgedForMs);
    this.#ports.desk.alarms.raise(ofCloud, 'STATEMENT_FORGED', `${statement}: ${reason}`);
  }

  #hearSnapshot(told: 'gone' | 'needed'): void {
    const { feed, hints } = this.#require();
    if (told === 'gone') feed.forgetChunks();
    else hints.needSnapshot(feed.head()?.epoch ?? 0);
  }

  /** A hint, so that people are told; it changes what is shown and nothing else. */
  #hearUplink({ uplink: state, detail }: Extract<Arguments<'sync-told'>, { uplink: string }>): void {
    const { hints } = this.#require();
    const before = hints.uplink;
    const isSame = before?.state === state;
    hints.uplink = { state, detail, since: isSame ? before.since : this.#ports.now() };
    if (isSame) return;
    const { alarms } = this.#ports.desk;
    if (state === 'revoked') alarms.raise(ofCloud, 'GATEWAY_OUT_OF_SERVICE', '');
    else if (state === 'online') alarms.clear(ofCloud, 'GATEWAY_OUT_OF_SERVICE');
  }

  #look(): void {
    this.#tell();
    if (this.#forgedUntil === undefined || this.#ports.now() < this.#forgedUntil) return;
    this.#forgedUntil = undefined;
    this.#ports.desk.alarms.clear(ofCloud, 'STATEMENT_FORGED');
  }

  #tell(): void {
    for (const changed of this.#changed) changed();
  }
}

const roundedAge = (age: number | 'unknown'): number | 'unknown' => (age === 'unknown' ? age : Math.round(age));

/** A fault of the replica's thread or disk is told by its name. */
async function withFaults<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ReplicaFault ? refusalOf(error) : error;
  }
}

const refusalOf = (fault: ReplicaFault): ControlRefusal =>
  new ControlRefusal(fault.code, fault.message, { cause: fault });

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });
}
