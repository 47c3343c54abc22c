/**
 * How the door process joins a cloud, and leaves it: by a code that somebody typed at this machine.
 *
 * Guarantees: nobody is believed whose root is not the one the code names; what is secret opens only here; an enrolment is
 * kept as a whole or not at all. Each step is journalled before it is done.
 * Not promised: that the person who typed the code may; whoever reaches the admin socket may.
 */
import { machine } from 'node:os';
import type { KeyCertificate } from '#shared/contract/sync/statement.ts';
import { statementType } from '#shared/contract/sync/statement.ts';
import { doorFingerprintOf, enrolmentProofOf, parseEnrolmentCode, rootPrintOf } from '#shared/enrolment-code.ts';
import { fromBase64url, signStatement, toBase64url } from '#shared/signed-statement.ts';
import { type Arguments, ControlRefusal } from '../control/messages.ts';
import type { EnrolBeginReply, EnrolmentReply } from '../control/sync-replies.ts';
import type { EntryDraft } from '../journal/entry.ts';
import type { JournalArchive } from '../journal/open-journal.ts';
import type { Replica } from '../replica/replica.ts';
import type { Enrolment, EnrolmentStore } from './enrolment-store.ts';

export interface EnrolDeskPorts {
  readonly store: EnrolmentStore;
  readonly archive: JournalArchive;
  readonly replica: Replica;
  readonly version: string;
  readonly devices: readonly string[];
  /** @throws ControlRefusal JOURNAL_UNAVAILABLE; then nothing may be done. */
  readonly recordAct: (body: EntryDraft['body']) => Promise<void>;
}

export class EnrolDesk {
  readonly #ports: EnrolDeskPorts;

  constructor(ports: EnrolDeskPorts) {
    this.#ports = ports;
  }

  async standing(): Promise<EnrolmentReply> {
    const { store } = this.#ports;
    const enrolment = store.enrolment();
    if (enrolment === undefined && store.pending() === undefined) return { state: 'none' };
    const fingerprint = doorFingerprintOf(await store.identity());
    if (enrolment === undefined) return { state: 'pending', fingerprint };
    const { gateway, facility, facilityName } = enrolment;
    return { state: 'enrolled', gateway, facility, facilityName, fingerprint };
  }

  /** Makes the keys, if there are none, and the proof that whoever holds them knew the code. */
  async begin({ code: typed, edgeKey }: Arguments<'enrol-begin'>): Promise<EnrolBeginReply> {
    const { store, archive, version, devices, recordAct } = this.#ports;
    if (store.enrolment()) throw new ControlRefusal('ALREADY_ENROLLED', 'this gateway belongs to a cloud already');
    const code = parseEnrolmentCode(typed);
    if (code === undefined) throw new ControlRefusal('ENROLMENT_CODE_MALFORMED', 'a code begins with KNK1-');
    await recordAct({ command: 'enrol', code: code.codeId });
    const identity = await store.identity();
    const { firstEpoch, firstKey } = await archive.extent();
    const journal = { epoch: firstEpoch, firstKey: toBase64url(firstKey) };
    await store.keepPending({ rootPrint: code.rootPrint, journal });
    const keys = { doorSignKey: identity.doorSignKey, doorSealKey: identity.doorSealKey, edgeKey };
    const said = {
      codeId: code.codeId,
      code: enrolmentProofOf(code.secret, keys),
      ...keys,
      journalEpoch: journal.epoch,
      journalFirstKey: journal.firstKey,
    };
    return {
      proof: await signStatement(statementType.enrolmentProof, said, identity.signKey),
      hardware: machine(),
      version,
      devices,
      fingerprint: doorFingerprintOf(identity),
    };
  }

  /** @returns the enrolment, which is kept. @throws ControlRefusal ENROLMENT_NOT_PROVEN */
  async finish(call: Arguments<'enrol-finish'>): Promise<Enrolment> {
    const { store, replica, recordAct } = this.#ports;
    const pending = store.pending();
    if (pending === undefined) throw new ControlRefusal('NOT_ENROLLED', 'no enrolment was begun here');
    if (rootPrintOf(fromBase64url(call.root)) !== pending.rootPrint) throw notProven('its root is not the code’s');
    const certificate = await replica.prove('certificate', call.certificate, call.root);
    if (certificate.kind === 'rejected') throw notProven(`its certificate is ${certificate.reason}`);
    const enrolment = await replica.prove('enrolment', call.enrolment, certificate.value.feedKey);
    if (enrolment.kind === 'rejected') throw notProven(`its statement is ${enrolment.reason}`);
    const identity = await store.identity();
    if (enrolment.value.doorFingerprint !== doorFingerprintOf(identity)) throw notProven('it means another machine');
    const lookupKey = identity.open('lookup key', enrolment.value.lookupKeySealed);
    if (lookupKey?.length !== 32) throw notProven('its lookup key does not open');
    const { gateway, facility, facilityName } = enrolment.value;
    await recordAct({ command: 'enrolled', gateway, facility });
    const kept: Enrolment = {
      gateway,
      facility,
      facilityName,
      root: call.root,
      certificate: certificate.value satisfies KeyCertificate,
      sinceEpoch: replica.freshEpoch() - 1,
      journal: pending.journal,
    };
    await store.enrol(kept, lookupKey);
    return kept;
  }

  async leave(): Promise<void> {
    const { store, recordAct } = this.#ports;
    if (store.enrolment() === undefined && store.pending() === undefined)
      throw new ControlRefusal('NOT_ENROLLED', 'this gateway belongs to no cloud');
    await recordAct({ command: 'unenrol' });
    await store.forget();
  }
}

const notProven = (why: string): ControlRefusal => new ControlRefusal('ENROLMENT_NOT_PROVEN', why);
