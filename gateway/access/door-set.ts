/**
 * All doors of the facility in force, each with its shell; rebuilt where its row changed, left alone where not.
 *
 * A rebuilt door begins unknown and is told at once what its devices last reported, so that nothing is sent that is already so.
 */
import type { DoorRow, ReaderRow } from '#shared/contract/replica-row.ts';
import type { DoorId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { CommandedMode } from '../door/door-input.ts';
import { createDoor } from '../door/door-state.ts';
import { type InterlockMember, interlockedBy } from '../door/interlock.ts';
import type { DeviceMemory } from './device-memory.ts';
import { DoorShell, type DoorShellPorts } from './door-shell.ts';

export interface DoorSetPorts extends DoorShellPorts {
  readonly commandedMode: (door: DoorId) => CommandedMode;
  readonly hasDeviceTimer: (device: ReaderRow['device']) => boolean;
  readonly isFreeNow: (row: DoorRow) => boolean;
  /** Unique to this start of the process. */
  readonly startId: string;
}

interface Standing {
  readonly text: string;
  readonly shell: DoorShell;
}

export class DoorSet {
  readonly #doors = new Map<DoorId, Standing>();
  readonly #ports: DoorSetPorts;
  readonly #memory: DeviceMemory;
  #generation = 0;

  constructor(ports: DoorSetPorts, memory: DeviceMemory) {
    this.#ports = ports;
    this.#memory = memory;
  }

  get shells(): readonly DoorShell[] {
    return [...this.#doors.values()].map(({ shell }) => shell);
  }

  find(door: DoorId): DoorShell | undefined {
    return this.#doors.get(door)?.shell;
  }

  /** Takes over the doors and readers of a replica. */
  take(rows: Iterable<DoorRow>, readers: readonly ReaderRow[], at: MonoMs): void {
    this.#generation += 1;
    const former = new Map(this.#doors);
    const fresh: DoorShell[] = [];
    this.#doors.clear();
    for (const row of rows) {
      const own = readers.filter((reader) => reader.door === row.id);
      const text = JSON.stringify([row, own]);
      const kept = former.get(row.id);
      if (kept?.text === text) {
        this.#doors.set(row.id, kept);
        former.delete(row.id);
      } else {
        const shell = this.#begin(row, own, at);
        fresh.push(shell);
        this.#doors.set(row.id, { text, shell });
      }
    }
    for (const { shell } of former.values()) shell.retire();
    for (const shell of fresh) this.#recall(shell, at);
    this.tellFree(at);
  }

  /** Tells each door whether its free hours hold; to be called every second or so. */
  tellFree(at: MonoMs): void {
    for (const shell of this.shells) shell.tellFree(this.#ports.isFreeNow(shell.state.row), at);
  }

  interlockedBy(row: DoorRow): DoorId | undefined {
    if (row.interlockGroup === null) return undefined;
    const self = this.find(row.id);
    return self === undefined ? undefined : interlockedBy(memberOf(self), this.shells.map(memberOf));
  }

  close(): void {
    for (const { shell } of this.#doors.values()) shell.close();
  }

  #begin(row: DoorRow, readers: readonly ReaderRow[], at: MonoMs): DoorShell {
    const { commandedMode, hasDeviceTimer, startId } = this.#ports;
    const state = createDoor(row, {
      at,
      commandedMode: commandedMode(row.id),
      hasDeviceTimer: row.lock !== null && hasDeviceTimer(row.lock.device),
      ownIdPrefix: `${startId}.${this.#generation}.${[...this.#doors.keys()].length}`,
    });
    return new DoorShell(state, readers, this.#ports);
  }

  /** Tells a new shell whether it stands free, then what is known of its devices: what is already so is not commanded. */
  #recall(shell: DoorShell, at: MonoMs): void {
    shell.tellFree(this.#ports.isFreeNow(shell.state.row), at);
    const { lock, contact, rex, fire } = shell.state.row;
    const devices = new Set([lock, contact, rex, fire].flatMap((point) => (point === null ? [] : [point.device])));
    for (const device of devices) {
      if (!this.#memory.isUp(device)) continue;
      shell.step({ kind: 'device', at, device, isUp: true });
      for (const input of this.#memory.inputsOf(shell.state.row, device)) shell.step({ ...input, at });
    }
    for (const device of shell.readerDevices) if (this.#memory.isUp(device)) shell.greetDevice(device);
  }
}

const memberOf = (shell: DoorShell): InterlockMember => ({
  door: shell.state.row.id,
  group: shell.state.row.interlockGroup,
  status: shell.state.status.kind,
  isGrantPending: shell.isGrantPending,
});
