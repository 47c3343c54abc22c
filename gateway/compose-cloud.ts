/**
 * The door process's side of the cloud, wired; loaded after the doors are open, which do not wait for it.
 *
 * What is kept of an enrolment is taken up at the start, and again when it changes.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { FrontDesk } from './access/front-desk.ts';
import type { Arguments } from './control/messages.ts';
import type { EnrolmentReply } from './control/sync-replies.ts';
import { CardWindow } from './follow/card-window.ts';
import { CloudDesk, type Enrolled } from './follow/cloud-desk.ts';
import { CloudHints } from './follow/cloud-hints.ts';
import { CloudSession } from './follow/cloud-session.ts';
import type { ContactKeeper } from './follow/contact-keeper.ts';
import { EnrolDesk, type EnrolDeskPorts } from './follow/enrol-desk.ts';
import { type Enrolment, EnrolmentStore } from './follow/enrolment-store.ts';
import { FeedDesk } from './follow/feed-desk.ts';
import { JournalDesk } from './follow/journal-desk.ts';
import type { LookupKeeper } from './follow/lookup-keeper.ts';
import type { History } from './open-history.ts';
import type { DoorProcess } from './operate/door-process.ts';
import { readHealth } from './operate/health-report.ts';
import { type Replica, ReplicaFault } from './replica/replica.ts';
import { StoreFault } from './store/store-fault.ts';
import type { Logger } from './system/logger.ts';

export interface CloudParts {
  readonly history: History;
  readonly replica: Replica;
  readonly desk: FrontDesk;
  readonly lookup: LookupKeeper;
  readonly contact: ContactKeeper;
  readonly process: DoorProcess;
  readonly devices: readonly string[];
  readonly recordAct: EnrolDeskPorts['recordAct'];
}

const retryMs = 2_000;

export class DoorCloud {
  readonly desk: CloudDesk;
  readonly #parts: CloudParts;
  readonly #store: EnrolmentStore;
  readonly #enrol: EnrolDesk;
  #isClosed = false;

  constructor(parts: CloudParts) {
    this.#parts = parts;
    const { history, replica, desk, contact, process, devices, recordAct } = parts;
    const { archive, journal, site } = history;
    const { version, now } = process;
    this.#store = new EnrolmentStore(site);
    this.desk = new CloudDesk({ now, desk, journal, contact });
    this.#enrol = new EnrolDesk({ store: this.#store, archive, replica, version, devices, recordAct });
  }

  /** Takes up what is enrolled, if anything is; what hinders it now is tried again. */
  async open(log: Logger): Promise<void> {
    while (!this.#isClosed) {
      try {
        const enrolment = this.#store.enrolment();
        return enrolment && (await this.#enter(enrolment));
      } catch (error) {
        if (!(error instanceof StoreFault || error instanceof ReplicaFault)) throw error;
        if (!this.#isClosed) log.warn({ err: error }, 'the enrolment cannot be taken up yet');
      }
      await pause(retryMs, undefined, { ref: false });
    }
  }

  standing(): Promise<EnrolmentReply> {
    return this.#enrol.standing();
  }

  begin(call: Arguments<'enrol-begin'>) {
    return this.#enrol.begin(call);
  }

  async finish(call: Arguments<'enrol-finish'>): Promise<EnrolmentReply> {
    const enrolment = await this.#enrol.finish(call);
    // How far another cloud looked ahead says nothing of this one.
    this.#parts.desk.keep([{ kind: 'feed-floor', key: 'floor', value: null }]);
    await this.#enter(enrolment);
    return await this.standing();
  }

  async leave(): Promise<EnrolmentReply> {
    await this.#enrol.leave();
    this.desk.enter(undefined);
    this.#parts.contact.forget();
    await this.#parts.replica.trust(undefined);
    return await this.standing();
  }

  close(): void {
    this.#isClosed = true;
    this.desk.close();
  }

  async #enter(enrolment: Enrolment): Promise<void> {
    const { replica, desk, contact, process, history, lookup } = this.#parts;
    const { now, time, archive } = process;
    const identity = await this.#store.identity();
    const hints = new CloudHints();
    const cards = new CardWindow(now, replica.reader);
    const feed = new FeedDesk({
      gateway: enrolment.gateway,
      sinceEpoch: enrolment.sinceEpoch,
      replica,
      lookup,
      memory: history.memory,
      desk,
      identity,
      lookupKey: () => this.#store.lookupKey(),
      health: () => readHealth(process),
    });
    const stamp = () => time.stamp();
    const journal = await JournalDesk.open({ archive, enrolment, identity, alarms: desk.alarms, stamp });
    const session = new CloudSession(enrolment, {
      now,
      time,
      desk,
      replica,
      identity,
      contact,
      cards,
      journal,
      feed,
      hints,
      executed: await archive.recentCommands(),
      certified: (certificate) => this.#store.keep({ ...enrolment, certificate }),
    });
    const enrolled: Enrolled = { enrolment, session, feed, journal, hints, cards };
    this.desk.enter(enrolled);
    // What became durable before anybody listened.
    await journal.look();
    await feed.trust(enrolment.certificate.feedKey);
  }
}
