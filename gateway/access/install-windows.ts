/** The windows in which a device may be given a key: each is said when it closes, and its alarm ends with it. */
import type { DeviceId } from '#shared/identifier.ts';
import type { FrontDesk } from './front-desk.ts';

export class InstallWindows {
  readonly #timers = new Map<DeviceId, NodeJS.Timeout>();
  readonly #desk: Pick<FrontDesk, 'alarms' | 'record'>;

  constructor(desk: Pick<FrontDesk, 'alarms' | 'record'>) {
    this.#desk = desk;
  }

  /** Opened at the device, or opened anew. */
  opened(device: DeviceId, ms: number): void {
    clearTimeout(this.#timers.get(device));
    this.#timers.set(
      device,
      setTimeout(() => this.closed(device, 'expired'), ms),
    );
  }

  /** Does nothing for a window that is shut. */
  closed(device: DeviceId, why: 'installed' | 'expired' | 'replaced'): void {
    const timer = this.#timers.get(device);
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#timers.delete(device);
    this.#desk.alarms.clear({ kind: 'device', id: device }, 'INSTALL_WINDOW_OPEN');
    const body = { device, why };
    this.#desk.record({ kind: 'install-window.closed', door: null, requestId: null, body }, [], 'shared');
  }

  close(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
