/** What readers show for a while after a request; a refusal may be withheld, and is dropped when something newer is shown. */
import type { DeviceId } from '#shared/identifier.ts';
import { later, type MonoMs } from '#shared/instant.ts';
import type { CommandResult, DeviceCommand } from '../device/driver.ts';

export interface LampPorts {
  readonly now: () => MonoMs;
  readonly command: (device: DeviceId, command: DeviceCommand, deadline: MonoMs) => Promise<CommandResult>;
}

interface Place {
  readonly device: DeviceId;
  readonly head: number;
}

type Signal = 'idle' | 'granted' | 'refused' | 'enter-pin';

const lampDeadlineMs = 2_000;

export class ReaderLamps {
  /** Withheld refusals, by place; at most one each. */
  readonly #withheld = new Map<string, NodeJS.Timeout>();
  readonly #ports: LampPorts;

  constructor(ports: LampPorts) {
    this.#ports = ports;
  }

  /** @param times `delayMs` is waited first. `ms` 0 = until something else is shown. */
  show(place: Place, signal: Signal, times: { readonly ms: number; readonly delayMs: number }): void {
    const key = `${place.device} ${place.head}`;
    clearTimeout(this.#withheld.get(key));
    this.#withheld.delete(key);
    if (times.delayMs === 0) {
      this.#send(place, signal, times.ms);
      return;
    }
    const timer = setTimeout(() => {
      this.#withheld.delete(key);
      this.#send(place, signal, times.ms);
    }, times.delayMs);
    this.#withheld.set(key, timer);
  }

  close(): void {
    for (const timer of this.#withheld.values()) clearTimeout(timer);
    this.#withheld.clear();
  }

  #send({ device, head }: Place, signal: Signal, ms: number): void {
    const { command, now } = this.#ports;
    void command(device, { kind: 'feedback', head, signal, ms }, later(now(), lampDeadlineMs));
  }
}
