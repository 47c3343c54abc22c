/**
 * One simulated line inside its process: the wire, the peripherals on it, and the doors their wires end at.
 *
 * Half duplex as the real thing: what a panel says reaches every peripheral, and each answers only for itself.
 * Guarantee: a lock's record has the command that moved it before the panel has the answer.
 */
import { createFrameParser, expireFrame, parseFrames } from '#protocol/osdp/frame-parser.ts';
import type { DeviceId, DoorId } from '#shared/identifier.ts';
import { later } from '#shared/instant.ts';
import type { DoorFault } from './fault.ts';
import type { LineAnswer, LineAssignment } from './line-message.ts';
import { createSimulatedPeripheral, type SimulatedPeripheral } from './simulated-peripheral.ts';
import type { SiteCall } from './site-call.ts';
import type { Site, SiteDoor, SiteLine } from './site-file.ts';
import { SiteRefusal } from './site-refusal.ts';
import type { SiteEvent, SiteStatus } from './site-report.ts';
import { openStrikeRecord, type StrikeRecord } from './strike-record.ts';
import { createWakeUp, now } from './wake-up.ts';
import { openWire, type Wire } from './wire.ts';
import { type CurrentChange, createWiredDoor, type WiredDoor } from './wired-door.ts';

/** A panel that pauses longer inside a message has given it up; bridges clump bytes. */
const frameGapMs = 150;

export interface SimulatedLine {
  /** Where it listens; `null` for a serial line. */
  readonly port: number | null;
  /** @throws SiteRefusal for what does not hang on this line. */
  perform(call: SiteCall): Promise<LineAnswer>;
  close(): Promise<void>;
}

type Report = (event: SiteEvent) => void;

/** @throws Error of the system if the port or device cannot be opened. */
export async function openSimulatedLine(assignment: LineAssignment, report: Report): Promise<SimulatedLine> {
  const line = assignment.site.lines.find((candidate) => candidate.id === assignment.line);
  if (line === undefined) throw new SiteRefusal('NOT_FOUND', `no line '${assignment.line}'`);
  const plant = buildPlant(assignment, line, report);
  let wire: Wire | undefined;
  let panels = 0;
  let parser = createFrameParser('commands');
  const gap = createWakeUp(() => {
    parser = expireFrame(parser).state;
  });
  plant.onSend = (bytes) => wire?.send(bytes);
  wire = await openWire(line, {
    bytes: (bytes) => {
      const step = parseFrames(parser, bytes);
      parser = step.state;
      gap.set(parser.held.length > 0 ? later(now(), frameGapMs) : undefined);
      for (const frame of step.frames) for (const peripheral of plant.peripherals.values()) peripheral.hear(frame);
    },
    panels: (count) => {
      if (count !== panels) report(event(line.id, count > panels ? 'panel-connected' : 'panel-gone'));
      panels = count;
    },
  });
  const opened = wire;
  let isDropped = false;
  return {
    port: opened.port,
    perform: async (call) => {
      if (call.verb === 'status') return statusOf(plant, line, { wire: opened, isDropped });
      if (call.verb === 'line-fault') {
        isDropped = call.arguments.fault.kind === 'drop';
        await opened.setDropped(isDropped);
        return null;
      }
      act(plant, call);
      return null;
    },
    close: async () => {
      await opened.close();
      for (const record of plant.records) record.close();
    },
  };
}

interface Plant {
  readonly peripherals: Map<DeviceId, SimulatedPeripheral>;
  readonly doors: Map<DoorId, { readonly wired: WiredDoor; readonly at: SiteDoor }>;
  readonly records: StrikeRecord[];
  onSend: (bytes: Uint8Array) => void;
}

function buildPlant({ site, stateDir }: LineAssignment, line: SiteLine, report: Report): Plant {
  const plant: Plant = { peripherals: new Map(), doors: new Map(), records: [], onSend: () => {} };
  const current = (peripheral: DeviceId, output: number, change: CurrentChange) => {
    for (const { wired, at } of plant.doors.values()) {
      if (at.strike.peripheral === peripheral && at.strike.output === output) wired.current(change);
    }
  };
  for (const settings of site.peripherals.filter((candidate) => candidate.line === line.id)) {
    const peripheral = createSimulatedPeripheral(settings, {
      line,
      stateDir,
      send: (bytes) => plant.onSend(bytes),
      current: (output, change) => current(settings.id, output, change),
      report: (what, detail) => report(event(settings.id, what, detail)),
    });
    plant.peripherals.set(settings.id, peripheral);
  }
  for (const door of doorsOf(site, plant)) {
    const record = openStrikeRecord(stateDir, door.id);
    plant.records.push(record);
    const wired = createWiredDoor(door, record, {
      sensed: (name, isTrue) => {
        const point = door[name];
        if (point !== null)
          plant.peripherals.get(point.peripheral)?.setInput(point.input, isTrue === point.activeWhenTrue);
      },
      happened: (what) => report(event(door.id, what)),
    });
    plant.doors.set(door.id, { wired, at: door });
  }
  return plant;
}

const doorsOf = (site: Site, plant: Plant) =>
  site.doors.filter((door) => plant.peripherals.has(door.strike.peripheral));

function event(subject: string, what: SiteEvent['what'], detail?: string): SiteEvent {
  return { at: new Date().toISOString(), subject, what, ...(detail === undefined ? {} : { detail }) };
}

function act(plant: Plant, call: SiteCall): void {
  switch (call.verb) {
    case 'present': {
      const { reader, head, what } = call.arguments;
      peripheralOf(plant, reader).present(head, what);
      return;
    }
    case 'fault':
      peripheralOf(plant, call.arguments.peripheral).fault(call.arguments.fault);
      return;
    case 'door-fault':
      doorFault(plant, call.arguments.door, call.arguments.fault);
      return;
    case 'arrive':
      doorOf(plant, call.arguments.door).wired.act({ kind: 'arrive', patienceMs: call.arguments.patienceMs });
      return;
    case 'leave':
    case 'exit':
    case 'force':
      doorOf(plant, call.arguments.door).wired.act({ kind: call.verb });
      return;
    case 'hold':
      doorOf(plant, call.arguments.door).wired.act({ kind: 'hold', isHeld: call.arguments.isHeld });
      return;
    case 'fire':
      doorOf(plant, call.arguments.door).wired.act({ kind: 'fire', isActive: call.arguments.isActive });
      return;
    default:
      throw new SiteRefusal('BAD_REQUEST', `${call.verb} is not for a line`);
  }
}

function doorFault(plant: Plant, id: DoorId, fault: DoorFault): void {
  const { wired, at } = doorOf(plant, id);
  switch (fault.kind) {
    case 'stick-contact':
      wired.act({ kind: 'stick-contact', contact: fault.contact });
      return;
    case 'free-contact':
      wired.act({ kind: 'stick-contact', contact: undefined });
      return;
    default:
      peripheralOf(plant, at.strike.peripheral).jam(at.strike.output, fault.kind === 'jam');
      return;
  }
}

function peripheralOf(plant: Plant, id: DeviceId): SimulatedPeripheral {
  const peripheral = plant.peripherals.get(id);
  if (peripheral === undefined) throw new SiteRefusal('NOT_FOUND', `no peripheral '${id}' on this line`);
  return peripheral;
}

function doorOf(plant: Plant, id: DoorId): { readonly wired: WiredDoor; readonly at: SiteDoor } {
  const door = plant.doors.get(id);
  if (door === undefined) throw new SiteRefusal('NOT_FOUND', `no door '${id}' on this line`);
  return door;
}

function statusOf(
  plant: Plant,
  line: SiteLine,
  { wire, isDropped }: { readonly wire: Wire; readonly isDropped: boolean },
): SiteStatus {
  return {
    lines: [{ line: line.id, port: wire.port, isDropped, panels: wire.panels() }],
    peripherals: [...plant.peripherals.values()].map((peripheral) => peripheral.status()),
    doors: [...plant.doors.values()].map(({ wired, at }) => ({
      ...wired.status(),
      isJammed: plant.peripherals.get(at.strike.peripheral)?.isJammed(at.strike.output) ?? false,
    })),
  };
}
