/**
 * What devices report, taken to where it belongs: doors, readers, alarms, the journal.
 *
 * Guarantees: a card or key is taken as a request only from a device that is on line; what a device held from before its
 * connection opens nothing and is said; a device that was on line and is not raises an alarm once.
 */
import type { DeviceId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import { unreachable } from '#shared/unreachable.ts';
import type { DeviceEvent, DeviceIdentity } from '../device/driver.ts';
import type { EntryDraft } from '../journal/entry.ts';
import type { AlarmBoard, AlarmSubject } from './alarm-board.ts';
import { type DeviceMemory, readingsFor } from './device-memory.ts';
import type { DoorSet } from './door-set.ts';

export interface DeviceDeskPorts {
  readonly doors: DoorSet;
  readonly memory: DeviceMemory;
  readonly alarms: AlarmBoard;
  readonly note: (entry: Pick<EntryDraft, 'kind' | 'door' | 'requestId' | 'body'>) => void;
  readonly card: (event: Extract<DeviceEvent, { kind: 'card' }>) => void;
  readonly keys: (event: Extract<DeviceEvent, { kind: 'keys' }>) => void;
  /** Keys typed so far at a device that is gone mean nothing. */
  readonly forgetKeys: (device: DeviceId) => void;
  readonly keyInstalled: (device: DeviceId, key: Uint8Array, identity: DeviceIdentity) => void;
  readonly identified: (device: DeviceId, identity: DeviceIdentity) => void;
}

/** Alarms that describe a state, cleared when the device is on line again. */
const standingWhileOffline = [
  'DEVICE_OFFLINE',
  'DEVICE_KEY_MISMATCH',
  'DEVICE_IDENTITY_CHANGED',
  'INSTALL_WINDOW_OPEN',
] as const;

export function takeDeviceEvent(event: DeviceEvent, ports: DeviceDeskPorts): void {
  const wasUp = ports.memory.isUp(event.device);
  ports.memory.take(event);
  switch (event.kind) {
    case 'online':
      arrive(event, ports);
      return;
    case 'offline':
      leave(event, wasUp, ports);
      return;
    case 'card':
      if (wasUp) ports.card(event);
      return;
    case 'keys':
      if (wasUp) ports.keys(event);
      return;
    case 'input':
    case 'output':
      tellDoors(event, ports);
      return;
    case 'discarded':
      ports.note(entry('reads.discarded', { device: event.device, what: event.what, count: 1 }));
      return;
    case 'key-installed':
      ports.keyInstalled(event.device, event.key, event.identity);
      return;
    case 'tamper':
    case 'power':
    case 'alarm':
      takeCondition(event, ports.alarms);
      return;
    default:
      unreachable(event);
  }
}

const subjectOf = ({ device }: DeviceEvent): AlarmSubject => ({ kind: 'device', id: device });

const entry = (kind: EntryDraft['kind'], body: EntryDraft['body']) => ({ kind, door: null, requestId: null, body });

function arrive(event: Extract<DeviceEvent, { kind: 'online' }>, ports: DeviceDeskPorts): void {
  for (const code of standingWhileOffline) ports.alarms.clear(subjectOf(event), code);
  ports.note(entry('device.online', { device: event.device, channel: event.channel, ...event.identity }));
  ports.identified(event.device, event.identity);
  link(event.device, true, event.at, ports);
}

function leave(event: Extract<DeviceEvent, { kind: 'offline' }>, wasUp: boolean, ports: DeviceDeskPorts): void {
  ports.note(entry('device.offline', { device: event.device, reason: event.reason }));
  if (wasUp && event.reason !== 'closed') ports.alarms.raise(subjectOf(event), 'DEVICE_OFFLINE', event.reason);
  ports.forgetKeys(event.device);
  link(event.device, false, event.at, ports);
}

function tellDoors(event: Extract<DeviceEvent, { kind: 'input' | 'output' }>, { doors }: DeviceDeskPorts): void {
  for (const shell of doors.shells) {
    for (const reading of readingsFor(shell.state.row, event)) shell.step({ ...reading, at: event.at });
  }
}

function takeCondition(event: Extract<DeviceEvent, { kind: 'tamper' | 'power' | 'alarm' }>, alarms: AlarmBoard): void {
  if (event.kind === 'alarm') {
    takeAlarm(event, subjectOf(event), alarms);
    return;
  }
  const code = event.kind === 'tamper' ? 'DEVICE_TAMPERED' : 'DEVICE_POWER_FAILED';
  const stands = event.kind === 'tamper' ? event.isActive : event.hasFailed;
  if (stands) alarms.raise(subjectOf(event), code, '');
  else alarms.clear(subjectOf(event), code);
}

function takeAlarm(
  { code, detail }: Extract<DeviceEvent, { kind: 'alarm' }>,
  subject: AlarmSubject,
  alarms: AlarmBoard,
): void {
  const stands = (standingWhileOffline as readonly string[]).includes(code);
  if (stands) alarms.raise(subject, code, detail);
  else alarms.announce(subject, code, detail);
}

/** A device came or went: its doors are told, its readers shown what they should show. */
function link(device: DeviceId, isUp: boolean, at: MonoMs, { doors }: DeviceDeskPorts): void {
  for (const shell of doors.shells) {
    const { lock, contact, rex, fire } = shell.state.row;
    const hasPoint = [lock, contact, rex, fire].some((point) => point?.device === device);
    if (hasPoint) shell.step({ kind: 'device', at, device, isUp });
    if (isUp) shell.greetDevice(device);
  }
}
