/** Which call does what. Nothing is decided here: each line hands over to the room that knows. */

import type { DeviceId, DoorId } from '#shared/identifier.ts';
import { later, wallMs } from '#shared/instant.ts';
import { type CommandDeskPorts, type CommandOutcome, commandDoor } from '../access/command-desk.ts';
import type { WindowAnswer } from '../access/device-keys.ts';
import type { StateMemory } from '../access/state-memory.ts';
import type { UnknownReads } from '../access/unknown-reads.ts';
import type { Handlers } from '../control/door-side.ts';
import { type Arguments, ControlRefusal } from '../control/messages.ts';
import type { ClockFact } from '../door/facts.ts';
import type { EntryDraft } from '../journal/entry.ts';
import { storeFault } from '../store/store-fault.ts';
import { type CapturePorts, captureTraffic } from './capture.ts';
import { type CloudPart, cloudHandlers } from './cloud-handlers.ts';
import type { DoorProcess } from './door-process.ts';
import { explainPast, simulateDecision } from './explain.ts';
import { type DoorBroadcast, followEvents, readEvents } from './history.ts';
import type { Importer } from './import.ts';
import { readStatus } from './status.ts';
import { verifyHistory } from './verify.ts';

export interface HandlerParts {
  readonly process: DoorProcess;
  /** Resolves when it is loaded. */
  readonly cloud: () => Promise<CloudPart | undefined>;
  readonly broadcast: DoorBroadcast;
  readonly commands: CommandDeskPorts;
  readonly memory: StateMemory;
  readonly reads: UnknownReads;
  readonly importer: Importer;
  readonly capture: CapturePorts;
  readonly masterKey: Uint8Array;
  readonly verifyThread: URL;
  /** Opens a device's window for a key. */
  readonly openInstallWindow: (call: Arguments<'install-window'>) => Promise<WindowAnswer>;
  readonly acceptDevice: (device: DeviceId) => Promise<'accepted' | 'unknown-device'>;
}

/** Every handler, with a fault of the disk told by its name instead of as a fault of ours. */
export function createHandlers(parts: HandlerParts): Handlers {
  const named = Object.entries(handlersOf(parts)).map(([verb, handler]) => [
    verb,
    async (call: never, context: never) => {
      try {
        return await (handler as (call: never, context: never) => unknown)(call, context);
      } catch (error) {
        const fault = storeFault(error, parts.process.dataDir);
        throw fault === undefined ? error : new ControlRefusal(fault.code, fault.message, { cause: error });
      }
    },
  ]);
  return Object.fromEntries(named) as Handlers;
}

function handlersOf(parts: HandlerParts): Handlers {
  const { process, importer } = parts;
  return {
    status: () => readStatus(process),
    events: (call) => readEvents(call, process),
    follow: (call, context) => followEvents(call, context, { process, broadcast: parts.broadcast }),
    explain: (call) => explainPast(call, process),
    simulate: (call, { rights }) => simulateDecision(call, process, rights),
    reads: () => parts.reads.list(),
    release: ({ door, ms }) =>
      commandDoor(door, { kind: 'release', ...(ms === undefined ? {} : { ms }) }, parts.commands).then(orRefuse),
    mode: (call) => setMode(call, parts),
    'install-window': (call) => openWindow(call, parts),
    'accept-device': (call) => acceptDevice(call, parts),
    'clock-set': (call) => setClock(call, parts),
    'area-reset': (call) => resetArea(call, parts),
    'import-begin': (call) => importer.begin(call),
    'import-chunk': (call) => importer.put(call),
    'import-commit': (call, context) => importer.commit(call, context),
    'verify-journal': () => verifyHistory(process, parts.masterKey, parts.verifyThread),
    capture: (call, context) => captureTraffic(call, context, { process, ports: parts.capture }),
    ...cloudHandlers(parts.cloud),
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
): Promise<readonly (CommandOutcome & { readonly door: DoorId })[]> {
  const doors = door === '*' ? process.doors.shells.map((shell) => shell.state.row.id) : [door];
  const outcomes = await Promise.all(
    doors.map(async (each) => ({ door: each, ...(await commandDoor(each, { kind: 'mode', mode }, commands)) })),
  );
  if (door !== '*') outcomes.forEach(orRefuse);
  return outcomes;
}

/** An operator's act is in the history before it is done, and done only if it is. */
export async function recordAct(body: EntryDraft['body'], commands: CommandDeskPorts): Promise<void> {
  const result = await commands.append({ kind: 'command.received', door: null, requestId: null, body });
  if (result.kind !== 'durable')
    throw new ControlRefusal('JOURNAL_UNAVAILABLE', 'the journal cannot take an entry, so nothing was done');
}

const deviceNames = ({ process }: HandlerParts): string =>
  process
    .buses()
    .flatMap(({ driver }) => driver.health().map(({ device }) => device))
    .join(', ') || 'none';

async function acceptDevice({ device }: Arguments<'accept-device'>, parts: HandlerParts): Promise<'accepted'> {
  await recordAct({ command: 'accept-device', device }, parts.commands);
  const answer = await parts.acceptDevice(device);
  if (answer === 'unknown-device')
    throw new ControlRefusal('NOT_FOUND', `no device ${device}; devices: ${deviceNames(parts)}`);
  return answer;
}

const noWindow = { unsupported: 'DEVICE_TAKES_NO_KEY', 'has-key': 'DEVICE_HAS_KEY' } as const;

async function openWindow(call: Arguments<'install-window'>, parts: HandlerParts): Promise<'opened'> {
  const { device, seconds } = call;
  await recordAct({ command: 'install-window', device, seconds }, parts.commands);
  const answer = await parts.openInstallWindow(call);
  if (answer === 'unknown-device')
    throw new ControlRefusal('NOT_FOUND', `no device ${device}; devices: ${deviceNames(parts)}`);
  if (answer !== 'opened') throw new ControlRefusal(noWindow[answer], device);
  const until = later(parts.process.time.stamp().at, seconds * 1_000);
  parts.commands.note({ kind: 'install-window.opened', door: null, requestId: null, body: { device, until } });
  return answer;
}

async function setClock({ at }: Arguments<'clock-set'>, parts: HandlerParts): Promise<ClockFact> {
  const wall = wallMs(Date.parse(at));
  await recordAct({ command: 'clock-set', to: wall }, parts.commands);
  const { time } = parts.process;
  const refusal = time.take({ kind: 'technician', wall }).find(({ kind }) => kind === 'refused');
  if (refusal?.kind === 'refused') throw new ControlRefusal('TIME_NOT_TAKEN', refusal.why);
  return time.read();
}

async function resetArea(
  { holder }: Arguments<'area-reset'>,
  { memory, process }: HandlerParts,
): Promise<{ readonly forgotten: number }> {
  const known = memory
    .keys('area')
    .filter((key) => holder === '*' || key === holder)
    .map((key) => ({ key, area: memory.read('area', key) ?? null }));
  const writes = known.map(({ key }) => memory.write('area', key, null));
  const body = { command: 'area-reset', holder, forgotten: known.length };
  const entry = { kind: 'command.received' as const, ...process.time.stamp(), door: null, requestId: null, body };
  const result = await process.journal.append([entry], writes);
  if (result.kind === 'durable') return { forgotten: known.length };
  // Who went through a door meanwhile is where that door says.
  for (const { key, area } of known) if (memory.read('area', key) === undefined) memory.write('area', key, area);
  throw new ControlRefusal('JOURNAL_UNAVAILABLE', 'the journal cannot take the reset, so nothing was forgotten');
}
