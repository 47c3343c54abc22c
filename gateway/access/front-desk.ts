/**
 * Everything between the devices and the journal: doors, readers, requests, alarms, with the state they share.
 *
 * Here the shells meet; each decides nothing but through the pure room of its name.
 */
import { randomUUID } from 'node:crypto';
import type { CredentialLookup } from '#shared/credential-lookup.ts';
import { type DeviceId, type DoorId, identifier, type RequestId } from '#shared/identifier.ts';
import { elapsedMs, type MonoMs, type WallMs } from '#shared/instant.ts';
import type { TimeKeeper } from '../clock/time-keeper.ts';
import type { CommandResult, DeviceCommand, DeviceEvent, DeviceIdentity } from '../device/driver.ts';
import type { CommandedMode } from '../door/door-input.ts';
import type { FactSources } from '../door/gather-facts.ts';
import type { EntryDraft, StateWrite } from '../journal/entry.ts';
import type { Journal } from '../journal/journal.ts';
import type { PinHasher } from '../replica/pin-hasher.ts';
import type { ReplicaReader } from '../replica/replica-reader.ts';
import { AccessDesk } from './access-desk.ts';
import { AlarmBoard } from './alarm-board.ts';
import type { CommandDeskPorts } from './command-desk.ts';
import { takeDeviceEvent } from './device-desk.ts';
import { DeviceMemory } from './device-memory.ts';
import { DoorSet } from './door-set.ts';
import { EscortBook } from './escort-book.ts';
import { isFreeNow } from './free-hours.ts';
import { GrantBook } from './grant-book.ts';
import { GuessKeeper } from './guess-keeper.ts';
import { createLiveState, type LiveParts } from './live-state.ts';
import { giveBack, type PassagePorts, passThrough } from './passage.ts';
import { ReaderDesk } from './reader-desk.ts';
import { ReaderLamps } from './reader-lamps.ts';
import type { StateMemory } from './state-memory.ts';
import { UnknownReads } from './unknown-reads.ts';

export interface FrontDeskPorts {
  readonly now: () => MonoMs;
  readonly time: TimeKeeper;
  readonly journal: Journal;
  readonly memory: StateMemory;
  readonly replica: ReplicaReader;
  readonly lookup: CredentialLookup;
  readonly pins: PinHasher;
  readonly contactAgeMs: () => number | 'unknown';
  readonly command: (device: DeviceId, command: DeviceCommand, deadline: MonoMs) => Promise<CommandResult>;
  readonly hasDeviceTimer: (device: DeviceId) => boolean;
  readonly keyInstalled: (device: DeviceId, key: Uint8Array, identity: DeviceIdentity) => void;
  readonly identified: (device: DeviceId, identity: DeviceIdentity) => void;
  readonly doorChanged: (door: DoorId) => void;
  readonly faulted: (error: unknown) => void;
}

type Undated = Pick<EntryDraft, 'kind' | 'door' | 'requestId' | 'body'>;

const compileEveryMs = 86_400_000;
const newRequestId = (): RequestId => identifier<'request'>(randomUUID());

export class FrontDesk {
  readonly doors: DoorSet;
  readonly alarms: AlarmBoard;
  readonly reads: UnknownReads;
  readonly sources: FactSources;
  readonly commands: CommandDeskPorts;
  readonly #ports: FrontDeskPorts;
  readonly #memory = new DeviceMemory();
  readonly #guesses: GuessKeeper;
  readonly #readers: ReaderDesk;
  readonly #lamps: ReaderLamps;
  readonly #live: LiveParts;
  #compiledAt: WallMs | undefined;

  constructor(ports: FrontDeskPorts) {
    this.#ports = ports;
    const { now, time, journal, memory, replica } = ports;
    const grants = new GrantBook();
    const escorts = new EscortBook();
    const passage: PassagePorts = {
      grants,
      memory,
      stamp: () => time.stamp(),
      write: (state) => journal.note([], state),
    };
    this.alarms = new AlarmBoard((entry, haste) => this.record(entry, [], haste));
    this.reads = new UnknownReads(now);
    this.#lamps = new ReaderLamps({ now, command: ports.command });
    this.#guesses = new GuessKeeper(memory, now());
    this.doors = new DoorSet(
      {
        now,
        command: ports.command,
        record: (entry, state, haste) => this.record(entry, state, haste),
        passed: (request) => passThrough(request, passage),
        notExecuted: (request) => giveBack(request, passage),
        changed: ports.doorChanged,
        commandedMode: (door) => modeFrom(memory.read('mode', door)),
        hasDeviceTimer: ports.hasDeviceTimer,
        isFreeNow: (row) => isFreeNow(row, replica, this.#live),
        startId: randomUUID().slice(0, 8),
      },
      this.#memory,
    );
    const zone = () => replica.facility?.zone ?? 'UTC';
    this.#live = {
      now,
      time,
      journal,
      doors: this.doors,
      memory,
      guesses: this.#guesses,
      escorts,
      contactAgeMs: ports.contactAgeMs,
      zone,
    };
    this.sources = { replica, lookup: ports.lookup, pins: ports.pins, live: createLiveState(this.#live) };
    const desk = this.#accessDesk(grants, escorts);
    this.#readers = this.#readerDesk(desk);
    this.commands = {
      doors: this.doors,
      now,
      newRequestId,
      append: (entry) => journal.append([this.#dated(entry)]),
      note: (entry) => this.record(entry, [], 'shared'),
      settle: () => journal.append([]),
    };
  }

  /** Journals with the time of now. State goes with its entry, and into memory at once. */
  record(entry: Undated, state: readonly StateWrite[], haste: 'urgent' | 'shared'): void {
    const { journal, memory } = this.#ports;
    for (const { kind, key, value } of state) memory.write(kind, key, value);
    if (haste === 'shared') journal.note([this.#dated(entry)], state);
    else
      void journal.append([this.#dated(entry)], state).then(({ kind }) => {
        if (kind !== 'durable' && journal.state().kind !== 'closed') journal.note([this.#dated(entry)], state);
      });
  }

  /** State that belongs to no entry. */
  keep(state: readonly StateWrite[]): void {
    const { journal, memory } = this.#ports;
    journal.note(
      [],
      state.map(({ kind, key, value }) => memory.write(kind, key, value)),
    );
  }

  takeEvent(event: DeviceEvent): void {
    const { keyInstalled, identified, pins } = this.#ports;
    takeDeviceEvent(event, {
      doors: this.doors,
      memory: this.#memory,
      alarms: this.alarms,
      note: (entry) => this.record(entry, [], 'shared'),
      card: (card) => this.#readers.card(card),
      keys: (keys) => {
        // Its thread is begun with the first key, and ready by the last; where nobody types, it takes no memory.
        pins.warm();
        this.#readers.keys(keys);
      },
      forgetKeys: (device) => this.#readers.forget(device),
      keyInstalled,
      identified,
    });
  }

  /** Takes over the doors of the replica in force. */
  takeReplica(): void {
    const { replica, now } = this.#ports;
    this.doors.take(replica.doors.values(), replica.readers, now());
    this.#compiledAt = undefined;
    // A lock-out that outlived a restart stands as an alarm again.
    for (const reader of this.#guesses.lockedAt(now()))
      this.alarms.raise({ kind: 'reader', id: reader }, 'READER_LOCKED', '');
  }

  /** Once a second: free schedules begin and end, episodes of guessing end, unknown cards are forgotten. */
  tick(): void {
    const { now, time } = this.#ports;
    const wall = time.read().now;
    if (wall !== undefined) this.#compile(wall);
    this.reads.forgetOld();
    this.doors.tellFree(now());
    for (const { reader, episode } of this.#guesses.endDue(now())) {
      if (episode.kind === 'lock-out') this.alarms.clear({ kind: 'reader', id: reader }, 'READER_LOCKED');
      if (episode.count === 0) continue;
      const body = { reader, episode: episode.kind, count: episode.count, lastedMs: episode.lastedMs };
      this.record({ kind: 'access.refusals-counted', door: null, requestId: null, body }, [], 'shared');
    }
  }

  /** Schedules are compiled ahead of the decisions that need them: once a day, and when the replica changed. */
  #compile(wall: WallMs): void {
    const { replica } = this.#ports;
    if (this.#compiledAt !== undefined && Math.abs(elapsedMs(this.#compiledAt, wall)) < compileEveryMs) return;
    replica.schedules.compileAll(wall);
    this.#compiledAt = wall;
  }

  close(): void {
    this.#readers.close();
    this.#lamps.close();
    this.doors.close();
  }

  #dated(entry: Undated): EntryDraft {
    return { ...entry, ...this.#ports.time.stamp() };
  }

  #accessDesk(grants: GrantBook, escorts: EscortBook): AccessDesk {
    const { now, time, journal, memory, faulted } = this.#ports;
    return new AccessDesk({
      now,
      stamp: () => time.stamp(),
      sources: this.sources,
      doors: this.doors,
      memory,
      grants,
      guesses: this.#guesses,
      escorts,
      alarms: this.alarms,
      append: (entries, state) => journal.append(entries, state),
      note: (entries, state) => journal.note(entries, state),
      show: (request, signal, lamp) => this.#lamps.show(request, signal, lamp),
      faulted,
    });
  }

  #readerDesk(desk: AccessDesk): ReaderDesk {
    return new ReaderDesk({
      now: this.#ports.now,
      newRequestId,
      present: async (request) => {
        const decision = await desk.present(request);
        // Before there is a facility, every card is unknown.
        const isStranger = decision.code === 'CREDENTIAL_UNKNOWN' || this.#ports.replica.state.kind === 'empty';
        if (isStranger) this.reads.keep(request);
        return decision;
      },
      showIdle: (device, head) => this.#lamps.show({ device, head }, 'idle', { ms: 0, delayMs: 0 }),
      dropped: (device, count) => {
        const body = { device, what: 'burst', count };
        this.record({ kind: 'reads.discarded', door: null, requestId: null, body }, [], 'shared');
      },
    });
  }
}

const modeFrom = (stored: unknown): CommandedMode =>
  stored === 'free' || stored === 'lockdown' ? stored : 'controlled';
