/** Which call does what. Nothing is decided here: each line hands over to the room that knows. */

import type { DeviceId } from '#shared/identifier.ts';
import { later, wallMs } from '#shared/instant.ts';
import { type CommandDeskPorts, type CommandOutcome, commandDoor } from '../access/command-desk.ts';
import type { StateMemory } from '../access/state-memory.ts';
import type { UnknownReads } from '../access/unknown-reads.ts';
import type { Handlers } from '../control/door-side.ts';
import { type Arguments, ControlRefusal } from '../control/messages.ts';
import { type CapturePorts, captureTraffic } from './capture.ts';
import type { DoorProcess } from './door-process.ts';
import { explainPast, simulateDecision } from './explain.ts';
import { type DoorBroadcast, followEvents, readEvents } from './history.ts';
import type { Importer } from './import.ts';
import { readStatus } from './status.ts';
import { verifyHistory } from './verify.ts';

export interface HandlerParts {
  readonly process: DoorProcess;
  readonly broadcast: DoorBroadcast;
  readonly commands: CommandDeskPorts;
  readonly memory: StateMemory;
  readonly reads: UnknownReads;
  readonly importer: Importer;
  readonly capture: CapturePorts;
  readonly masterKey: Uint8Array;
  readonly verifyThread: URL;
  /** Opens a device's window for a key; `false` where its driver has no such thing. */
  readonly openInstallWindow: (
    call: Arguments<'install-window'>,
  ) => Promise<'opened' | 'unsupported' | 'unknown-device'>;
  readonly acceptDevice: (device: DeviceId) => Promise<'accepted' | 'unknown-device'>;
}

export function createHandlers(parts: HandlerParts): Handlers {
  const { process, importer } = parts;
  return {
    status: () => readStatus(process),
    events: (call) => readEvents(call, process),
    follow: (call, context) => followEvents(call, context, { process, broadcast: parts.broadcast }),
    explain: (call) => explainPast(call, process),
    simulate: (call) => simulateDecision(call, process),
    reads: () => parts.reads.list(),
    release: ({ door, ms }) =>
      commandDoor(door, { kind: 'release', ...(ms === undefined ? {} : { ms }) }, parts.commands).then(orRefuse),
    mode: (call) => setMode(call, parts),
    'install-window': (call) => openWindow(call, parts),
    'accept-device': async ({ device }) => {
      const answer = await parts.acceptDevice(device);
      if (answer === 'unknown-device') throw new ControlRefusal('NOT_FOUND', `no device ${device}`);
      parts.commands.note({
        kind: 'command.received',
        door: null,
        requestId: null,
        body: { command: 'accept-device', device },
      });
      return answer;
    },
    'clock-set': ({ at }) => {
      process.time.take({ kind: 'technician', wall: wallMs(Date.parse(at)) });
      return process.time.read();
    },
    'area-reset': (call) => resetArea(call, parts),
    'import-begin': (call) => importer.begin(call),
    'import-chunk': (call) => importer.put(call),
    'import-commit': (call, context) => importer.commit(call, context),
    'verify-journal': () => verifyHistory(process, parts.masterKey, parts.verifyThread),
    capture: (call, context) => captureTraffic(call, context, { process, ports: parts.capture }),
  };
}

function orRefuse(outcome: CommandOutcome): CommandOutcome {
  const { answer } = outcome;
  if (answer === 'DOOR_NOT_FOUND') throw new ControlRefusal('NOT_FOUND', 'no such door');
  if (answer !== 'accepted' && answer !== 'already-so') throw new ControlRefusal(answer, `the door refused: ${answer}`);
  return outcome;
}

async function setMode(
  { door, mode }: Arguments<'mode'>,
  { process, commands }: HandlerParts,
): Promise<readonly CommandOutcome[]> {
  const doors = door === '*' ? process.doors.shells.map((shell) => shell.state.row.id) : [door];
  const outcomes = await Promise.all(doors.map((each) => commandDoor(each, { kind: 'mode', mode }, commands)));
  return door === '*' ? outcomes : outcomes.map(orRefuse);
}

async function openWindow(
  call: Arguments<'install-window'>,
  { process, openInstallWindow, commands }: HandlerParts,
): Promise<string> {
  const result = await openInstallWindow(call);
  const known = process.buses().flatMap(({ driver }) => driver.health().map(({ device }) => device));
  if (result === 'unknown-device')
    throw new ControlRefusal('NOT_FOUND', `no device ${call.device}; devices: ${known.join(', ') || 'none'}`);
  if (result === 'unsupported')
    throw new ControlRefusal(
      'REFUSED',
      `${call.device} takes no key: its configuration says plain, or names a key file`,
    );
  const until = later(process.time.stamp().at, call.seconds * 1_000);
  commands.note({ kind: 'install-window.opened', door: null, requestId: null, body: { device: call.device, until } });
  return result;
}

async function resetArea(
  { holder }: Arguments<'area-reset'>,
  { memory, process }: HandlerParts,
): Promise<{ readonly forgotten: number }> {
  const keys = memory.keys('area').filter((key) => holder === '*' || key === holder);
  const writes = keys.map((key) => memory.write('area', key, null));
  const { at, clockState } = process.time.stamp();
  const entry = {
    kind: 'command.received' as const,
    at,
    clockState,
    door: null,
    requestId: null,
    body: { command: 'area-reset', holder, forgotten: keys.length },
  };
  const result = await process.journal.append([entry], writes);
  if (result.kind !== 'durable') throw new ControlRefusal('JOURNAL_UNAVAILABLE', 'the journal cannot take the reset');
  return { forgotten: keys.length };
}
