/** What devices last reported, while they are on line: a door that is rebuilt asks here instead of the bus. */
import type { DoorRow } from '#shared/contract/replica-row.ts';
import type { DeviceId } from '#shared/identifier.ts';
import type { DeviceEvent, InputState } from '../device/driver.ts';
import type { DoorInput } from '../door/door-input.ts';

type PointInput = Extract<DoorInput, { kind: 'contact' | 'rex' | 'fire' | 'output' }>;
/** A door input that is about one point, without its time. */
export type PointReading = PointInput extends infer One ? (One extends PointInput ? Omit<One, 'at'> : never) : never;

interface Remembered {
  readonly inputs: Map<number, InputState>;
  readonly outputs: Map<number, boolean>;
}

export class DeviceMemory {
  readonly #devices = new Map<DeviceId, Remembered>();

  take(event: DeviceEvent): void {
    if (event.kind === 'online') this.#devices.set(event.device, { inputs: new Map(), outputs: new Map() });
    else if (event.kind === 'offline') this.#devices.delete(event.device);
    else if (event.kind === 'input') this.#devices.get(event.device)?.inputs.set(event.input, event.state);
    else if (event.kind === 'output') this.#devices.get(event.device)?.outputs.set(event.output, event.isActive);
  }

  isUp(device: DeviceId): boolean {
    return this.#devices.has(device);
  }

  /** What is known of a door's points on a device, as its machine hears it. */
  inputsOf(row: DoorRow, device: DeviceId): readonly PointReading[] {
    const known = this.#devices.get(device);
    if (!known) return [];
    const readings: PointReading[] = [];
    for (const kind of ['fire', 'contact', 'rex'] as const) {
      const point = row[kind];
      const level = point?.device === device ? known.inputs.get(point.input) : undefined;
      if (level !== undefined) readings.push({ kind, level });
    }
    const output = row.lock?.device === device ? known.outputs.get(row.lock.output) : undefined;
    if (output !== undefined) readings.push({ kind: 'output', isActive: output });
    return readings;
  }
}

/** What one event means to one door; empty where it does not concern it. */
export function readingsFor(row: DoorRow, event: DeviceEvent): readonly PointReading[] {
  if (event.kind === 'output') {
    const isOwn = row.lock?.device === event.device && row.lock.output === event.output;
    return isOwn ? [{ kind: 'output', isActive: event.isActive }] : [];
  }
  if (event.kind !== 'input') return [];
  return (['fire', 'contact', 'rex'] as const).flatMap((kind) => {
    const point = row[kind];
    const isOwn = point?.device === event.device && point.input === event.input;
    return isOwn ? [{ kind, level: event.state }] : [];
  });
}
