/**
 * History on its way up, from the door process's side: what goes next, and what the cloud's signed answers mean.
 *
 * Guarantees: only a proven ack of our own entry lets anything be pruned; one above what is here, or of a head that is not
 * here any more, begins a new epoch, since this journal then lost its end. Where the cloud says it has less, sending goes on from there.
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
  | { readonly kind: 'refused'; readonly reason: 'other-gateway' | 'forked' };

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

  async #take(ack: JournalAck): Promise<AckOutcome> {
    const { archive, enrolment, alarms } = this.#ports;
    if (ack.gateway !== enrolment.gateway) return { kind: 'refused', reason: 'other-gateway' };
    const { tip, acked } = await archive.extent();
    this.#tip = tip;
    const place = { epoch: ack.epoch, seq: ack.seq };
    if (isBehind(tip, place)) return await this.#beginAfter(place);
    // Of an epoch that ended here, the cloud may have more than was left: then the next one said so.
    const isPast = place.epoch < tip.epoch || !isBehind(acked, place);
    const isOurs = ack.seq === 0 || (await archive.acknowledge(ack)) || isPast;
    if (!isOurs) {
      alarms.raise({ kind: 'gateway', id: 'journal' }, 'GATEWAY_FORKED', `entry ${ack.seq} is another in the cloud`);
      return { kind: 'refused', reason: 'forked' };
    }
    const isHeadLost = place.epoch === tip.epoch && toBase64url(await archive.keyAfter(place)) !== ack.nextKey;
    if (isHeadLost) return await this.#beginAfter(place);
    this.#after = place;
    return { kind: 'acked' };
  }

  /** The cloud has what is not here any more. */
  async #beginAfter(place: Place): Promise<AckOutcome> {
    const { archive, alarms, stamp } = this.#ports;
    const epoch = await archive.beginEpoch(place, stamp());
    alarms.raise({ kind: 'gateway', id: 'journal' }, 'JOURNAL_MISSING', `the cloud has entry ${place.seq}`);
    this.#after = place;
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
