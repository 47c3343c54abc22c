/**
 * History on its way up, from the door process's side: what goes next, and what the cloud's signed answers mean.
 *
 * Guarantees: only a proven ack of our own entry lets anything be pruned; one above what is here, of an entry that is
 * another here, or of a head that is not here any more, begins a new epoch, since this journal is not the one that was sent. Where the cloud says it has less, sending goes on from there.
 * Not promised: that what was sent arrived. It is sent again until it is answered for.
 */

import type * as z from 'zod';
import type { JournalUpload } from '#shared/contract/sync/journal.ts';
import { type journalAckStatement, uploadEntriesMax } from '#shared/contract/sync/journal.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { placeOf } from '#shared/journal-chain.ts';
import { signStatement, toBase64url } from '#shared/signed-statement.ts';
import type { Stamp } from '../access/access-entries.ts';
import type { AlarmBoard } from '../access/alarm-board.ts';
import { judgeJournalAck } from '../journal/judge-ack.ts';
import type { JournalArchive } from '../journal/open-journal.ts';
import type { UploadPage } from '../journal/read-upload.ts';
import type { DoorIdentity, Enrolment } from './enrolment-store.ts';

export type JournalAck = z.infer<typeof journalAckStatement>;

export interface JournalDeskPorts {
  readonly archive: JournalArchive;
  readonly enrolment: Pick<Enrolment, 'gateway' | 'journal'>;
  readonly identity: DoorIdentity;
  readonly alarms: Pick<AlarmBoard, 'raise'>;
  readonly stamp: () => Stamp;
}

export type AckOutcome =
  | { readonly kind: 'acked' }
  | { readonly kind: 'began'; readonly epoch: number }
  | { readonly kind: 'refused'; readonly reason: 'other-gateway' };

interface Place {
  readonly epoch: number;
  readonly seq: number;
}

const isBehind = (one: Place, other: Place): boolean => placeOf(one.epoch, one.seq) < placeOf(other.epoch, other.seq);

export class JournalDesk {
  readonly #ports: JournalDeskPorts;
  /** The last that the cloud has, by its own word. */
  #after: Place;
  #tip: Place;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(ports: JournalDeskPorts, acked: Place, tip: Place) {
    this.#ports = ports;
    this.#after = acked;
    this.#tip = tip;
  }

  /** @throws StoreFault */
  static async open(ports: JournalDeskPorts): Promise<JournalDesk> {
    const { acked, tip } = await ports.archive.extent();
    return new JournalDesk(ports, acked, tip);
  }

  /** Whether there is history that the cloud has not answered for. */
  get hasMore(): boolean {
    return isBehind(this.#after, this.#tip);
  }

  get standing(): { readonly acked: Place; readonly tip: Place } {
    return { acked: this.#after, tip: this.#tip };
  }

  /** Reads anew how far the history goes. @throws StoreFault */
  async look(): Promise<void> {
    this.#tip = (await this.#ports.archive.extent()).tip;
  }

  /** Entries became durable. */
  grew(tip: Place): void {
    this.#tip = tip;
  }

  /** @returns what goes up next, or `undefined`. @throws StoreFault */
  async next(entries = uploadEntriesMax): Promise<JournalUpload | undefined> {
    const page = await this.#ports.archive.upload({ ...this.#after, entries });
    return page && (await this.#signed(page));
  }

  /** @param ack proven. One after another: two at once would begin two epochs. */
  take(ack: JournalAck): Promise<AckOutcome> {
    const taken = this.#turn.then(() => this.#take(ack));
    this.#turn = taken.catch(() => {});
    return taken;
  }

  async #take(word: JournalAck): Promise<AckOutcome> {
    const { archive, enrolment } = this.#ports;
    const { tip, acked } = await archive.extent();
    this.#tip = tip;
    const place = { epoch: word.epoch, seq: word.seq };
    // Before the first entry it may stand on anything.
    const hashAt = word.seq === 0 ? word.hash : await archive.hashAt(place);
    const keyAfter = toBase64url(await archive.keyAfter(place));
    const stand = { tip: placeOf(tip.epoch, tip.seq), acked: placeOf(acked.epoch, acked.seq) };
    const judged = judgeJournalAck(stand, word, { gateway: enrolment.gateway, hashAt, keyAfter });
    switch (judged.kind) {
      case 'refused':
        return judged;
      case 'lost':
        return await this.#beginAfter(place, hashAt !== undefined && hashAt !== word.hash);
      case 'advance':
        if (word.seq > 0) await archive.acknowledge(word);
        this.#after = place;
        return { kind: 'acked' };
      case 'duplicate':
        this.#after = this.#resumeAt(place);
        return { kind: 'acked' };
    }
  }

  /** The cloud has less than it once answered for, or does not take what it is sent of an epoch that is over. */
  #resumeAt(place: Place): Place {
    const isOver = place.epoch < this.#tip.epoch && !isBehind(this.#after, place);
    return isOver ? { epoch: this.#tip.epoch, seq: 0 } : place;
  }

  /** The cloud has what is not here any more, or is another here. What the former epoch holds unsent is never sent. */
  async #beginAfter(place: Place, isOther: boolean): Promise<AckOutcome> {
    const { archive, alarms, stamp } = this.#ports;
    const epoch = await archive.beginEpoch(place, stamp());
    const subject = { kind: 'gateway', id: 'journal' } as const;
    if (isOther) alarms.raise(subject, 'GATEWAY_FORKED', `entry ${place.seq} is another in the cloud`);
    else alarms.raise(subject, 'JOURNAL_MISSING', `the cloud has entry ${place.seq}`);
    this.#after = { epoch, seq: 0 };
    this.#tip = (await archive.extent()).tip;
    return { kind: 'began', epoch };
  }

  async #signed({ begins, gap, entries, heads, ...page }: UploadPage): Promise<JournalUpload> {
    const { identity, enrolment } = this.#ports;
    const { gateway } = enrolment;
    const sign = (type: 'journalBeginning' | 'journalGap', value: object) =>
      signStatement(statementType[type], { gateway, epoch: page.epoch, ...value }, identity.signKey);
    const isKnownEpoch = page.epoch === enrolment.journal.epoch;
    return {
      ...page,
      entries: [...entries],
      heads: [...heads],
      ...(begins && !isKnownEpoch
        ? { begins: { firstKey: begins.firstKey, proof: await sign('journalBeginning', begins) } }
        : {}),
      ...(gap ? { gap: await sign('journalGap', gap) } : {}),
    };
  }
}
