/** One bus a line, begun anew when what it was told has changed: a key file that appeared, a device that was accepted. */
import type { LineId } from '#shared/identifier.ts';
import type { DeviceEvent, Driver } from '../device/driver.ts';

export interface KeptBus {
  readonly driver: Driver;
  /** The state of the line itself, in words. */
  readonly lineState: () => { readonly state: string; readonly detail: string };
}

export interface Bus extends KeptBus {
  readonly line: LineId;
}

export class BusKeeper {
  readonly #buses = new Map<LineId, KeptBus>();
  /** The last rebuilding of each line, over or not. */
  readonly #turns = new Map<LineId, Promise<void>>();
  readonly #create: (line: LineId) => KeptBus;
  readonly #onEvent: (event: DeviceEvent) => void;
  #isClosed = false;

  constructor(create: (line: LineId) => KeptBus, onEvent: (event: DeviceEvent) => void) {
    this.#create = create;
    this.#onEvent = onEvent;
  }

  open(line: LineId): void {
    const bus = this.#create(line);
    this.#buses.set(line, bus);
    bus.driver.open(this.#onEvent);
  }

  list(): readonly Bus[] {
    return [...this.#buses].map(([line, bus]) => ({ line, ...bus }));
  }

  /** Ends the bus of a line and begins another with what is known then. One after the other: a line never has two. */
  rebuild(line: LineId): Promise<void> {
    const turn = (this.#turns.get(line) ?? Promise.resolve()).then(async () => {
      await this.#buses.get(line)?.driver.close();
      if (!this.#isClosed) this.open(line);
    });
    this.#turns.set(line, turn);
    return turn;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#turns.values());
    await Promise.all([...this.#buses.values()].map(({ driver }) => driver.close()));
  }
}
