/**
 * The replica as decisions see it: the live file behind one pointer, or the reason why there is none to trust.
 *
 * Guarantees: what is answered was written by this gateway and is not older than the journal's last word on it; after
 * `reopen` every answer is from the new epoch. A replica that cannot be trusted grants nothing and says why.
 * Not promised: that both files were not put back together; only a cloud or the trusted time can tell that.
 */

import type {
  DoorRow,
  FacilityRow,
  HolderRow,
  HolidayRow,
  ReaderRow,
  ScheduleRow,
} from '#shared/contract/replica-row.ts';
import type { CredentialId, DeviceId, DoorId, HolderId, ScheduleId } from '#shared/identifier.ts';
import type { WallMs } from '#shared/instant.ts';
import { quarantine } from '../store/quarantine.ts';
import { StoreFault, storeFault, withStoreFaults } from '../store/store-fault.ts';
import { CompiledSchedules } from './compiled-schedules.ts';
import type { CredentialReader, CredentialReading } from './credential-reader.ts';
import { ReplicaFile, ReplicaNotOurs } from './replica-file.ts';
import { readPointer, replicaPath } from './replica-folder.ts';
import { compareHeads, type ReplicaHead } from './replica-head.ts';
import { createRowCodes, type RowCodes } from './row-mac.ts';
import type { TamperedRow } from './small-tables.ts';

export type ReplicaState =
  /** Never filled: a box that is being commissioned. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'live'; readonly head: ReplicaHead }
  /** Nothing is granted from it. `head` where the file could be read. */
  | { readonly kind: 'quarantined'; readonly reason: string; readonly head: ReplicaHead | undefined };

export interface ReplicaPlace {
  readonly folder: string;
  /** Born on this box, 32 bytes. */
  readonly rowKey: Uint8Array;
}

const unknown: CredentialReading = { kind: 'unknown' };

export class ReplicaReader {
  readonly schedules: CompiledSchedules;
  readonly #folder: string;
  readonly #codes: RowCodes;
  #file: ReplicaFile | undefined;
  #readers = new Map<string, ReaderRow>();
  #state: ReplicaState = { kind: 'empty' };
  #onFault: (fault: { readonly isLost: boolean; readonly detail: string }) => void = () => {};

  constructor({ folder, rowKey }: ReplicaPlace) {
    this.#folder = folder;
    this.#codes = createRowCodes(rowKey);
    this.schedules = new CompiledSchedules();
  }

  get state(): ReplicaState {
    return this.#state;
  }

  /**
   * Opens what the pointer names; a damaged file is set aside.
   * @param journalled the last head in the journal. @param at wall time, ms, for the name of a file set aside.
   */
  reopen(journalled: ReplicaHead | undefined, at: WallMs): ReplicaState {
    const former = this.#file;
    this.#file = undefined;
    this.#state = this.#open(journalled, at);
    this.#take();
    former?.close();
    return this.#state;
  }

  /** Takes in what was applied to the live file. */
  refresh(): ReplicaState {
    if (this.#file === undefined) return this.#state;
    try {
      this.#file.refresh();
      if (this.#state.kind === 'live') this.#state = { kind: 'live', head: this.#file.head };
    } catch (error) {
      if (!(error instanceof ReplicaNotOurs)) throw error;
      this.#state = { kind: 'quarantined', reason: error.message, head: this.#file.head };
    }
    this.#take();
    return this.#state;
  }

  get facility(): FacilityRow | undefined {
    return this.#file?.tables.facility;
  }

  get doors(): ReadonlyMap<DoorId, DoorRow> {
    return this.#file?.tables.doors ?? new Map();
  }

  get readers(): readonly ReaderRow[] {
    return this.#file?.tables.readers ?? [];
  }

  get scheduleRows(): ReadonlyMap<ScheduleId, ScheduleRow> {
    return this.#file?.tables.schedules ?? new Map();
  }

  get holidays(): readonly HolidayRow[] {
    return this.#file?.tables.holidays ?? [];
  }

  /** A row among those that are read whole which does not fit its code; while there is one, nothing is granted. */
  get tampered(): TamperedRow | undefined {
    return this.#file?.tables.tampered;
  }

  readerAt(device: DeviceId, head: number): ReaderRow | undefined {
    return this.#readers.get(placeOf(device, head));
  }

  /** Told of each read that the file did not give; `isLost` when nothing is granted from it any more. */
  onFault(told: (fault: { readonly isLost: boolean; readonly detail: string }) => void): void {
    this.#onFault = told;
  }

  /** @throws StoreFault or SQLite's error for a fault of the disk; a damaged file is quarantined then. */
  credential(lookup: string, door: DoorId): CredentialReading {
    return this.#read((credentials) => credentials.find(lookup, door)) ?? unknown;
  }

  /** @throws as `credential`. */
  lookupOf(credential: CredentialId): string | undefined {
    return this.#read((credentials) => credentials.lookupOf(credential));
  }

  /** For showing a name; decides nothing. @throws as `credential`. */
  holderOf(holder: HolderId): HolderRow | undefined {
    return this.#read((credentials) => credentials.holderOf(holder));
  }

  /** Buckets that the replica thread found right in the file of `epoch`. */
  acceptRight(epoch: number, slots: readonly number[]): void {
    if (this.#file?.head.epoch === epoch) this.#file.buckets.acceptRight(slots);
  }

  /** Something in the live file is not as it was applied; nothing more is granted from it. */
  quarantine(reason: string): void {
    this.#state = { kind: 'quarantined', reason, head: this.#file?.head };
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
    this.#state = { kind: 'empty' };
  }

  #read<Result>(read: (credentials: CredentialReader) => Result): Result | undefined {
    const file = this.#file;
    if (file === undefined) return undefined;
    try {
      return read(file.credentials);
    } catch (error) {
      this.#takeFault(error, file.head.epoch);
      throw error;
    }
  }

  #takeFault(error: unknown, epoch: number): void {
    const fault = error instanceof ReplicaNotOurs ? error : storeFault(error, replicaPath(this.#folder, epoch));
    if (fault === undefined || fault.code === 'STORE_BUSY') return;
    const isLost = fault.code === 'REPLICA_QUARANTINED' || fault.code === 'STORE_DAMAGED';
    if (isLost) this.quarantine(fault.message);
    this.#onFault({ isLost, detail: fault.message });
  }

  #open(journalled: ReplicaHead | undefined, at: WallMs): ReplicaState {
    const pointer = readPointer(this.#folder);
    if (pointer.kind === 'damaged') return { kind: 'quarantined', reason: pointer.detail, head: undefined };
    if (pointer.kind === 'none') {
      if (journalled === undefined) return { kind: 'empty' };
      return { kind: 'quarantined', reason: `epoch ${journalled.epoch} is gone`, head: undefined };
    }
    const path = replicaPath(this.#folder, pointer.epoch);
    try {
      this.#file = withStoreFaults(path, () => new ReplicaFile(this.#folder, pointer.epoch, this.#codes));
    } catch (error) {
      return this.#setAside(error, path, at);
    }
    const { head } = this.#file;
    const isBehind = compareHeads(head, journalled) === 'behind';
    return isBehind ? { kind: 'quarantined', reason: 'older than the journal says', head } : { kind: 'live', head };
  }

  #setAside(error: unknown, path: string, at: WallMs): ReplicaState {
    if (error instanceof ReplicaNotOurs) return { kind: 'quarantined', reason: error.message, head: undefined };
    if (!isOfTheFile(error)) throw error;
    const isDamaged = !(error instanceof StoreFault) || error.code === 'STORE_DAMAGED';
    const aside = isDamaged ? `; set aside as ${quarantine(path, at)}` : '';
    return { kind: 'quarantined', reason: `${error.message}${aside}`, head: undefined };
  }

  #take(): void {
    this.#readers = new Map(this.readers.map((reader) => [placeOf(reader.device, reader.head), reader]));
    this.schedules.take(this);
  }
}

function placeOf(device: DeviceId, head: number): string {
  return `${device} ${head}`;
}

/** The statements that open a replica are always the same: what SQLite says against one of them is said of the file. */
function isOfTheFile(error: unknown): error is Error {
  if (error instanceof StoreFault) return true;
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_');
}
