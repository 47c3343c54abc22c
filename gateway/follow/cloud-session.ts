/**
 * The door process while it belongs to a cloud: what it asks, and what the answers are worth.
 *
 * Guarantees: nothing takes effect but by a statement that was proven and judged; an ack is signed only for a state that
 * decisions are made on; a command is taken up before anything is waited for, so that twice the same is once.
 * Not promised: that anybody relays. Leases run out, and doors say so.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import type { RemoteCommand } from '#shared/contract/sync/command.ts';
import { feedKinds } from '#shared/contract/sync/feed.ts';
import { type KeyCertificate, statementType } from '#shared/contract/sync/statement.ts';
import { later, type MonoMs } from '#shared/instant.ts';
import { digestOf, emptySums } from '#shared/replica-digest.ts';
import { signStatement, toBase64url } from '#shared/signed-statement.ts';
import type { FrontDesk } from '../access/front-desk.ts';
import type { TimeKeeper } from '../clock/time-keeper.ts';
import type { DeliverReply, DoorNeeds, Questions } from '../control/sync-replies.ts';
import { usableNow } from '../door/access-rule.ts';
import { type FollowState, followFrom } from '../replica/follow-state.ts';
import { judgeCertificate, judgeCommand, judgeLease, judgeTime } from '../replica/judge-answer.ts';
import { findNonce, type NoncePurpose, withNonce } from '../replica/live-nonces.ts';
import type { Replica } from '../replica/replica.ts';
import type { StatementKind, StatementOf } from '../replica/verify-feed.ts';
import type { CardWindow } from './card-window.ts';
import type { CloudHints } from './cloud-hints.ts';
import type { ContactKeeper } from './contact-keeper.ts';
import type { DoorIdentity, Enrolment } from './enrolment-store.ts';
import type { FeedDesk } from './feed-desk.ts';
import type { JournalDesk } from './journal-desk.ts';
import { obey } from './remote-command.ts';

export interface SessionPorts {
  readonly now: () => MonoMs;
  readonly time: TimeKeeper;
  readonly desk: FrontDesk;
  readonly replica: Replica;
  readonly identity: DoorIdentity;
  readonly contact: ContactKeeper;
  readonly cards: CardWindow;
  readonly journal: JournalDesk;
  readonly feed: FeedDesk;
  readonly hints: CloudHints;
  /** Ids of the commands that former runs took up. */
  readonly executed: readonly string[];
  /** Keeps a new certificate, durable when it resolves. */
  readonly certified: (certificate: KeyCertificate) => Promise<void>;
}

type Outcome = Omit<DeliverReply, 'needs'>;
type SmallKind = Exclude<StatementKind, 'batch' | 'urgent' | 'repair' | 'chunk' | 'enrolment'>;

const refused = (reason: string): Outcome => ({ outcome: 'refused', reason });
/** Of a gateway that holds no rows of this cloud. */
const nothing = { epoch: 0, cursor: 0, digest: digestOf(emptySums) };
const kinds = Object.entries(feedKinds)
  .map(([kind, version]) => `${kind}:${version}`)
  .join(',');

export class CloudSession {
  readonly #ports: SessionPorts;
  readonly #enrolment: Enrolment;
  #certificate: KeyCertificate;
  #state: FollowState;
  /** Acks of one start count upwards. */
  readonly #bootId = randomUUID();
  #acks = 0;

  constructor(enrolment: Enrolment, ports: SessionPorts) {
    this.#ports = ports;
    this.#enrolment = enrolment;
    this.#certificate = enrolment.certificate;
    const head = { epoch: 0, cursor: 0, digest: '' };
    const { gateway } = enrolment;
    const at = ports.now();
    const executed = ports.executed.map((id) => ({ id, at }));
    this.#state = followFrom({ gateway, head, floor: 0, certificateSerial: this.#certificate.serial, executed });
  }

  get certificate(): KeyCertificate {
    return this.#certificate;
  }

  needs(): Omit<DoorNeeds, 'turn'> {
    const { feed, hints, journal, cards, time, now } = this.#ports;
    const head = feed.head();
    return {
      ack: (head !== undefined || feed.floor > 0) && hints.isUnanswered(head ?? nothing),
      snapshot: head === undefined || hints.isSnapshotNeeded(head.epoch),
      repair: head !== undefined && hints.isRepairing(head),
      journal: journal.hasMore,
      time: hints.isTimeDue(time.read().state, now()),
      read: cards.read !== undefined,
    };
  }

  /** @throws StoreFault, ReplicaFault */
  async ask(call: keyof Questions, entries: number): Promise<Questions[keyof Questions]> {
    const { feed, hints, journal, cards } = this.#ports;
    switch (call) {
      case 'time':
        return { nonce: this.#issue('time') };
      case 'ack':
        return await this.#ack();
      case 'snapshot':
        return feed.nextChunk();
      case 'repair':
        return await feed.sums(hints.repairing);
      case 'feed': {
        const { epoch, cursor } = feed.head() ?? { epoch: 0, cursor: 0 };
        const nonce = this.#issue('poll');
        return { after: cursor, epoch, nonce, kinds, certificate: this.#certificate.serial };
      }
      case 'journal':
        return (await journal.next(entries)) ?? null;
      case 'read':
        return cards.read ?? null;
    }
  }

  /** @throws StoreFault, ReplicaFault */
  async deliver(statement: Exclude<StatementKind, 'enrolment'>, jws: string): Promise<Outcome> {
    const { feed, hints, replica } = this.#ports;
    if (statement === 'batch' || statement === 'urgent' || statement === 'repair' || statement === 'chunk') {
      const outcome = await feed.take(statement, jws);
      if (outcome.outcome === 'applied' && statement === 'repair') hints.repaired('repaired');
      // A cloud that gives what is older than we had may have forgotten how far that was.
      if (statement === 'chunk' && outcome.reason === 'older') hints.forgetAnswer();
      return outcome;
    }
    const key = statement === 'certificate' ? this.#enrolment.root : this.#certificate.feedKey;
    const proven = await replica.prove(statement, jws, key);
    if (proven.kind === 'rejected') return refused(proven.reason);
    return await this.#judge(statement, proven.value);
  }

  async #judge(statement: SmallKind, value: StatementOf<SmallKind>): Promise<Outcome> {
    this.#standAtHead();
    switch (statement) {
      case 'lease':
        return this.#lease(value as StatementOf<'lease'>);
      case 'time':
        return this.#time(value as StatementOf<'time'>);
      case 'command':
        return await this.#command(value as RemoteCommand);
      case 'certificate':
        return await this.#certify(value as KeyCertificate);
      case 'journal-ack': {
        const outcome = await this.#ports.journal.take(value as StatementOf<'journal-ack'>);
        return outcome.kind === 'refused' ? refused(outcome.reason) : { outcome: outcome.kind };
      }
    }
  }

  #lease(lease: StatementOf<'lease'>): Outcome {
    const judged = judgeLease(this.#state, lease, this.#ports.now());
    if (judged.kind === 'refused') return refused(judged.reason);
    this.#state = judged.state;
    this.#ports.contact.renew(judged.contactAt);
    const { epoch, cursor } = this.#state;
    this.#ports.hints.answered({ ack: 'applied', epoch, cursor });
    return { outcome: 'renewed' };
  }

  #time(statement: StatementOf<'time'>): Outcome {
    const { now, time, hints } = this.#ports;
    const judged = judgeTime(this.#state, statement, now());
    if (judged.kind === 'refused') return refused(judged.reason);
    this.#state = judged.state;
    time.take({ kind: 'signed', wall: judged.wall, tookMs: judged.tookMs });
    hints.timed(now());
    return { outcome: 'believed' };
  }

  async #command(command: RemoteCommand): Promise<Outcome> {
    const { now, desk, cards, hints } = this.#ports;
    const at = now();
    const judged = judgeCommand(this.#state, command, at);
    if (judged.kind === 'duplicate') return { outcome: 'duplicate' };
    if (judged.kind === 'refused') return refused(judged.reason);
    this.#state = judged.state;
    const asked = findNonce(this.#state.nonces, { nonce: command.nonce, purpose: 'poll' }, at);
    const notAfter = later(asked?.issuedAt ?? at, command.lifetimeMs);
    const ports = { commands: desk.commands, cards, refresh: () => hints.forgetAnswer() };
    const answers = await obey(command, notAfter, ports);
    const refusal = answers.find((answer) => answer !== 'accepted' && answer !== 'already-so');
    return refusal === undefined ? { outcome: 'obeyed' } : refused(refusal);
  }

  async #certify(certificate: KeyCertificate): Promise<Outcome> {
    const { time, certified, feed } = this.#ports;
    const judged = judgeCertificate(this.#state, certificate, usableNow(time.read()));
    if (judged.kind === 'duplicate') return { outcome: 'duplicate' };
    if (judged.kind === 'refused') return refused(judged.reason);
    this.#state = judged.state;
    await certified(certificate);
    this.#certificate = certificate;
    await feed.trust(certificate.feedKey);
    return { outcome: 'applied' };
  }

  /** Without rows it says so, once it ever had some: the cloud then learns below which place no snapshot is taken. */
  async #ack(): Promise<Questions['ack']> {
    const { feed, identity, time } = this.#ports;
    const [head, known] = [feed.head(), feed.floor];
    if (head === undefined && known === 0) return null;
    const { epoch, cursor, digest } = head ?? nothing;
    const place = { gateway: this.#enrolment.gateway, epoch, cursor, digest, floor: Math.max(cursor, known) };
    const at = usableNow(time.read());
    this.#acks += 1;
    const [bootId, count, nonce] = [this.#bootId, this.#acks, this.#issue('poll')];
    const said = { ...place, at: at === undefined ? null : Math.floor(at), bootId, count, nonce };
    const ack = await signStatement(statementType.feedAck, said, identity.signKey);
    return { ack, health: feed.health(), epoch, cursor };
  }

  /** What leases are judged by: the state that decisions are made on. */
  #standAtHead(): void {
    const { epoch, cursor, digest } = this.#ports.feed.head() ?? { epoch: 0, cursor: 0, digest: '' };
    this.#state = { ...this.#state, epoch, cursor, digest };
  }

  #issue(purpose: NoncePurpose): string {
    const nonce = toBase64url(randomBytes(16));
    this.#state = { ...this.#state, nonces: withNonce(this.#state.nonces, { nonce, purpose }, this.#ports.now()) };
    return nonce;
  }
}
