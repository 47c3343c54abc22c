/** The gateway at a glance. Every state with its age; what is not known is said to be unknown. */
import type { DeviceId } from '#shared/identifier.ts';
import { elapsedMs } from '#shared/instant.ts';
import type { DoorShell } from '../access/door-shell.ts';
import type { DeviceStatus, DoorStatus, StatusReport } from '../control/replies.ts';
import { modeOf } from '../door/door-state.ts';
import { StoreFault } from '../store/store-fault.ts';
import type { DoorProcess } from './door-process.ts';

export async function readStatus(process: DoorProcess): Promise<StatusReport> {
  const { journal, replica, time, version, doors, buses, now, alarms } = process;
  const clock = time.read();
  const state = journal.state();
  const lastSeq = await lastSeqOf(journal);
  const known = new Set(buses().flatMap(({ driver }) => driver.health().map(({ device }) => device)));
  return {
    version,
    at: new Date().toISOString(),
    facility: replica.facility && { name: replica.facility.name, zone: replica.facility.zone },
    clock: {
      state: clock.state,
      now: clock.now === undefined ? undefined : new Date(clock.now).toISOString(),
      errorMs: Math.round(clock.errorMs),
    },
    journal: { state: state.kind, detail: 'detail' in state ? state.detail : '', lastSeq },
    replica: replicaStatus(process),
    storage: process.storage.status(),
    doors: doors.shells.map((shell) => ({
      ...doorStatus(shell, process),
      strangers: strangersOf(shell, known),
      lockAtReader: lockAtReader(shell, process),
    })),
    lines: buses().map(({ line, lineState }) => ({ line, ...lineState() })),
    devices: buses().flatMap(({ line, driver }) =>
      driver.health().map((health): DeviceStatus => {
        const {
          device,
          state: deviceState,
          reason,
          channel,
          identity,
          turnaroundMs,
          badFrames,
          retries,
          since,
        } = health;
        return {
          line,
          device,
          state: deviceState,
          reason,
          channel,
          identity,
          turnaroundMs,
          badFrames,
          retries,
          ageMs: Math.round(elapsedMs(since, now())),
          hasOwnKey: process.hasOwnKey(device),
        };
      }),
    ),
    cloud: process.cloud(),
    alarms: alarms
      .list()
      .map(({ subject, code, detail }) => ({ subject: `${subject.kind} ${subject.id}`, code, detail })),
  };
}

/** `undefined` while the disk answers nothing: then its state says why. */
async function lastSeqOf(journal: DoorProcess['journal']): Promise<number | undefined> {
  try {
    return (await journal.read({ newest: 1 })).at(-1)?.seq ?? 0;
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    return undefined;
  }
}

function replicaStatus({ replica }: DoorProcess): StatusReport['replica'] {
  const { state } = replica;
  const epoch = state.kind === 'empty' ? 0 : (state.head?.epoch ?? 0);
  const detail = state.kind === 'quarantined' ? state.reason : '';
  return { state: replica.tampered === undefined ? state.kind : 'tampered', detail, epoch };
}

function strangersOf({ state, readerDevices }: DoorShell, known: ReadonlySet<DeviceId>): readonly string[] {
  const { lock, contact, rex, fire } = state.row;
  const named = [lock, contact, rex, fire].flatMap((point) => (point === null ? [] : [point.device]));
  return [...new Set([...named, ...readerDevices])].filter((device) => !known.has(device));
}

function lockAtReader({ state }: DoorShell, { replica }: DoorProcess): string | undefined {
  const device = state.row.lock?.device;
  return replica.readers.some((reader) => reader.device === device) ? device : undefined;
}

export function doorStatus(shell: DoorShell, { now }: Pick<DoorProcess, 'now'>): DoorStatus {
  const { row, status, mode } = shell.state;
  const since = status.lastKnown?.at ?? status.since;
  return {
    id: row.id,
    name: row.name,
    state: status.kind,
    mode: modeOf(mode),
    ageMs: Math.max(0, Math.round(elapsedMs(since, now()))),
    alarms: shell.alarms,
  };
}
