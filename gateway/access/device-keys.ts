/**
 * The keys and identities of devices: from key files and installations, into the buses, and sealed at the site.
 *
 * Guarantees: a key is on the disk before a device is given it; a device that once had a key of its own is never offered
 * the public one again until an operator accepts a new device in its place; a key file that cannot be used leaves its
 * device unused, never in plain, and is tried again every few seconds.
 */
import { randomBytes } from 'node:crypto';
import type { DeviceId, LineId } from '#shared/identifier.ts';
import { later } from '#shared/instant.ts';
import { machineWall } from '../clock/time-keeper.ts';
import type { Config } from '../config.ts';
import type { Arguments } from '../control/messages.ts';
import type { DeviceIdentity, Driver } from '../device/driver.ts';
import type { Site } from '../site/site-store.ts';
import { monotonicNow } from '../system/monotonic.ts';
import type { FrontDesk } from './front-desk.ts';
import { readKeyFile } from './key-file.ts';

type ConfiguredDevice = Config['lines'][number]['devices'][number];

/** What a driver is told of one device. */
export interface KeyedDevice extends Pick<ConfiguredDevice, 'id' | 'address' | 'check'> {
  readonly security: { readonly mode: 'plain' } | ({ readonly mode: 'secure' } & HeldKeys);
  readonly allowsInstall: boolean;
  readonly expectedIdentity?: DeviceIdentity;
}

interface HeldKeys {
  /** `undefined` until one is installed, or while its file cannot be used. */
  readonly key: Uint8Array | undefined;
  /** Handed to an installation that nobody saw the end of. */
  readonly candidate?: Uint8Array;
}

export interface DeviceKeysPorts {
  readonly desk: FrontDesk;
  readonly rebuild: (line: LineId) => Promise<void>;
}

export type WindowAnswer = 'opened' | 'unsupported' | 'unknown-device';

const keyBytes = 16;
const keyFileEveryMs = 5_000;
const keyName = (device: DeviceId) => `scbk/${device}`;
const candidateName = (device: DeviceId) => `scbk-candidate/${device}`;

export class DeviceKeys {
  readonly #config: Config;
  readonly #site: Site;
  readonly #ports: DeviceKeysPorts;
  /** Devices whose key file could not be used when their bus was made. */
  readonly #waiting = new Map<DeviceId, LineId>();
  #timer: NodeJS.Timeout | undefined;

  constructor(config: Config, site: Site, ports: DeviceKeysPorts) {
    this.#config = config;
    this.#site = site;
    this.#ports = ports;
  }

  deviceConfig(device: ConfiguredDevice): KeyedDevice {
    const { id, address, check } = device;
    const pinned = this.#site.device(id);
    const security =
      device.security === 'plain' ? ({ mode: 'plain' } as const) : { mode: 'secure' as const, ...this.#keysOf(device) };
    const allowsInstall =
      device.security === 'secure' && device.keyFile === undefined && pinned?.refusesDefaultKey !== true;
    return { id, address, check, security, allowsInstall, ...(pinned && { expectedIdentity: pinned.identity }) };
  }

  /** An operator lets one device be given a key. The key is durable before the window opens. */
  async openWindow(
    { device, seconds }: Arguments<'install-window'>,
    driver: Driver | undefined,
  ): Promise<WindowAnswer> {
    if (driver === undefined) return 'unknown-device';
    const key = new Uint8Array(randomBytes(keyBytes));
    await this.#site.sealKey(candidateName(device), key);
    const answer = driver.openInstallWindow(device, later(monotonicNow(), seconds * 1_000), key);
    if (answer !== 'opened') await this.#site.dropKey(candidateName(device));
    return answer;
  }

  /** A key that a device has proven to hold. */
  async take(device: DeviceId, key: Uint8Array, identity: DeviceIdentity): Promise<void> {
    await this.#site.sealKey(keyName(device), key);
    await this.#site.dropKey(candidateName(device));
    await this.#site.pinDevice({ id: device, identity, enrolledAt: machineWall(), refusesDefaultKey: true });
    const { desk } = this.#ports;
    desk.alarms.clear({ kind: 'device', id: device }, 'INSTALL_WINDOW_OPEN');
    desk.record(
      { kind: 'device.key-installed', door: null, requestId: null, body: { device, ...identity } },
      [],
      'urgent',
    );
  }

  /** The first device at a place is the one that belongs there. */
  async pin(device: DeviceId, identity: DeviceIdentity): Promise<void> {
    if (this.#site.device(device) !== undefined) return;
    await this.#site.pinDevice({ id: device, identity, enrolledAt: machineWall(), refusesDefaultKey: false });
  }

  /** An operator exchanged the device: whatever answers next is the one that belongs there, with a key of its own to come. */
  async accept(device: DeviceId): Promise<'accepted' | 'unknown-device'> {
    const line = this.#lineOf(device);
    if (line === undefined) return 'unknown-device';
    await this.#site.forgetDevice(device);
    await this.#site.dropKey(keyName(device));
    await this.#site.dropKey(candidateName(device));
    await this.#ports.rebuild(line);
    return 'accepted';
  }

  /** Tries again what could not be read. */
  watch(): void {
    this.#timer = setInterval(() => {
      for (const [id, line] of this.#waiting) {
        const file = this.#deviceOf(id)?.keyFile;
        if (file === undefined || 'fault' in readKeyFile(file)) continue;
        this.#waiting.delete(id);
        this.#ports.desk.alarms.clear({ kind: 'device', id }, 'DEVICE_KEY_MISSING');
        void this.#ports.rebuild(line);
      }
    }, keyFileEveryMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #keysOf({ id, keyFile }: ConfiguredDevice): HeldKeys {
    if (keyFile === undefined) {
      const candidate = this.#site.unsealKey(candidateName(id));
      return { key: this.#site.unsealKey(keyName(id)), ...(candidate && { candidate }) };
    }
    const reading = readKeyFile(keyFile);
    if ('key' in reading) return { key: reading.key };
    const line = this.#lineOf(id);
    if (line !== undefined) this.#waiting.set(id, line);
    this.#ports.desk.alarms.raise({ kind: 'device', id }, 'DEVICE_KEY_MISSING', reading.fault);
    return { key: undefined };
  }

  #lineOf(device: DeviceId): LineId | undefined {
    return this.#config.lines.find(({ devices }) => devices.some(({ id }) => id === device))?.id;
  }

  #deviceOf(device: DeviceId): ConfiguredDevice | undefined {
    return this.#config.lines.flatMap(({ devices }) => devices).find(({ id }) => id === device);
  }
}
