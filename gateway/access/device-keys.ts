/**
 * The keys and identities of devices: from key files and installations, into the buses, and sealed at the site.
 *
 * Guarantees: a key is on the disk before a device is given it, and the one that was given to a device whose installation
 * nobody saw the end of is the one it is given again; a device that once had a key of its own is never offered the public
 * one again until an operator accepts a new device in its place; a key file that cannot be used leaves its device unused,
 * never in plain. What a disk or a file did not give is tried again every few seconds, and so is a file whose key its
 * device does not hold: one that was put right needs no restart.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { DeviceId, LineId } from '#shared/identifier.ts';
import { later } from '#shared/instant.ts';
import { machineWall } from '../clock/time-keeper.ts';
import type { Config } from '../config.ts';
import type { Arguments } from '../control/messages.ts';
import type { DeviceIdentity, Driver } from '../device/driver.ts';
import type { Site } from '../site/site-store.ts';
import { StoreFault } from '../store/store-fault.ts';
import { monotonicNow } from '../system/monotonic.ts';
import type { FrontDesk } from './front-desk.ts';
import { InstallWindows } from './install-windows.ts';
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

/** `has-key`: the device has a key of its own and is never met with the public one. */
export type WindowAnswer = 'opened' | 'has-key' | 'unsupported' | 'unknown-device';

const keyBytes = 16;
const againEveryMs = 5_000;
const keyName = (device: DeviceId) => `scbk/${device}`;
const candidateName = (device: DeviceId) => `scbk-candidate/${device}`;

export class DeviceKeys {
  readonly #config: Config;
  readonly #site: Site;
  readonly #ports: DeviceKeysPorts;
  readonly #windows: InstallWindows;
  /** Devices whose key file could not be used when their bus was made, and why. */
  readonly #waiting = new Map<DeviceId, string>();
  /** The keys that came out of files, as their buses were told. */
  readonly #fromFiles = new Map<DeviceId, Uint8Array>();
  /** What the disk did not take, by what it is about. */
  readonly #unsaved = new Map<string, () => Promise<void>>();
  /** One after the other: whether a device is another one is asked of what was saved before. */
  #saving: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(config: Config, site: Site, ports: DeviceKeysPorts) {
    this.#config = config;
    this.#site = site;
    this.#ports = ports;
    this.#windows = new InstallWindows(ports.desk);
  }

  /** @returns `undefined` for a device that takes no key by an installation. */
  hasOwnKey(id: DeviceId): boolean | undefined {
    const device = this.#deviceOf(id);
    return device !== undefined && takesKey(device) ? this.#hasKey(id) : undefined;
  }

  deviceConfig(device: ConfiguredDevice): KeyedDevice {
    const { id, address, check } = device;
    const pinned = this.#site.device(id);
    const security =
      device.security === 'plain' ? ({ mode: 'plain' } as const) : { mode: 'secure' as const, ...this.#keysOf(device) };
    const allowsInstall = takesKey(device) && !this.#hasKey(id);
    return { id, address, check, security, allowsInstall, ...(pinned && { expectedIdentity: pinned.identity }) };
  }

  /** An operator lets one device be given a key. The key is durable before the window opens. @throws StoreFault */
  async openWindow(
    { device, seconds }: Arguments<'install-window'>,
    driver: Driver | undefined,
  ): Promise<WindowAnswer> {
    const configured = this.#deviceOf(device);
    if (driver === undefined || configured === undefined) return 'unknown-device';
    if (!takesKey(configured)) return 'unsupported';
    if (this.#hasKey(device)) return 'has-key';
    const key = await this.#candidateFor(device);
    const answer = driver.openInstallWindow(device, later(monotonicNow(), seconds * 1_000), key);
    if (answer !== 'opened') return answer;
    // A line has one window at a time.
    for (const { id } of this.#neighboursOf(device)) this.#windows.closed(id, 'replaced');
    this.#windows.opened(device, seconds * 1_000);
    return answer;
  }

  /** A key that a device has proven to hold. */
  take(device: DeviceId, key: Uint8Array, identity: DeviceIdentity): void {
    const { desk } = this.#ports;
    this.#save(`key ${device}`, async () => {
      await this.#site.sealKey(keyName(device), key);
      await this.#site.pinDevice({ id: device, identity, enrolledAt: machineWall(), refusesDefaultKey: true });
      await this.#site.dropKey(candidateName(device));
      const body = { device, ...identity };
      desk.record({ kind: 'device.key-installed', door: null, requestId: null, body }, [], 'urgent');
      this.#windows.closed(device, 'installed');
    });
  }

  /** The first device at a place is the one that belongs there; for another one, the bus is told whom to expect. */
  pin(device: DeviceId, identity: DeviceIdentity): void {
    this.#save(`identity ${device}`, async () => {
      const pinned = this.#site.device(device);
      const line = this.#lineOf(device);
      if (pinned !== undefined && line !== undefined && !isSameDevice(pinned.identity, identity))
        await this.#ports.rebuild(line);
      if (pinned !== undefined) return;
      await this.#site.pinDevice({ id: device, identity, enrolledAt: machineWall(), refusesDefaultKey: false });
    });
  }

  /**
   * An operator exchanged the device: whatever answers next is the one that belongs there, with a key of its own to come.
   * @throws StoreFault
   */
  async accept(device: DeviceId): Promise<'accepted' | 'unknown-device'> {
    const line = this.#lineOf(device);
    if (line === undefined) return 'unknown-device';
    await this.#site.forgetDevice(device);
    await this.#site.dropKey(keyName(device));
    await this.#site.dropKey(candidateName(device));
    this.#windows.closed(device, 'replaced');
    for (const code of ['DEVICE_IDENTITY_CHANGED', 'DEVICE_KEY_MISMATCH'] as const)
      this.#ports.desk.alarms.clear({ kind: 'device', id: device }, code);
    await this.#ports.rebuild(line);
    return 'accepted';
  }

  /** Tries again what could not be read or saved. */
  watch(everyMs = againEveryMs): void {
    this.#timer = setInterval(() => this.#tryAgain(), everyMs);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#windows.close();
  }

  #tryAgain(): void {
    for (const [name, work] of this.#unsaved) this.#save(name, work);
    const lines = new Set<LineId>();
    for (const [id, known] of this.#waiting) {
      const reading = readKeyFile(this.#deviceOf(id)?.keyFile ?? '');
      const line = this.#lineOf(id);
      if ('fault' in reading) {
        if (reading.fault !== known) this.#await(id, reading.fault);
      } else if (line !== undefined) {
        this.#waiting.delete(id);
        this.#ports.desk.alarms.clear({ kind: 'device', id }, 'DEVICE_KEY_MISSING');
        lines.add(line);
      }
    }
    for (const line of this.#linesOfChangedKeys()) lines.add(line);
    for (const line of lines) void this.#ports.rebuild(line);
  }

  /** Only of devices that refuse the key they are met with: nothing is begun anew for a device that answers. */
  #linesOfChangedKeys(): readonly LineId[] {
    const standing = this.#ports.desk.alarms.list().filter(({ code }) => code === 'DEVICE_KEY_MISMATCH');
    return [...this.#fromFiles].flatMap(([id, known]) => {
      const isRefused = standing.some(({ subject }) => subject.kind === 'device' && subject.id === id);
      const reading = isRefused ? readKeyFile(this.#deviceOf(id)?.keyFile ?? '') : undefined;
      const isChanged = reading !== undefined && 'key' in reading && !timingSafeEqual(reading.key, known);
      const line = this.#lineOf(id);
      return isChanged && line !== undefined ? [line] : [];
    });
  }

  /** The alarm names the present fault, not the first. */
  #await(id: DeviceId, fault: string): void {
    this.#waiting.set(id, fault);
    this.#ports.desk.alarms.clear({ kind: 'device', id }, 'DEVICE_KEY_MISSING');
    this.#ports.desk.alarms.raise({ kind: 'device', id }, 'DEVICE_KEY_MISSING', fault);
  }

  /** A disk that fails now is tried again; the candidate, which is on it already, opens the device until then. */
  #save(name: string, work: () => Promise<void>): void {
    this.#unsaved.delete(name);
    this.#saving = this.#saving.then(work).catch((error: unknown) => {
      if (!(error instanceof StoreFault)) throw error;
      this.#unsaved.set(name, work);
    });
  }

  #hasKey(device: DeviceId): boolean {
    return this.#site.device(device)?.refusesDefaultKey === true || this.#site.keyNames().includes(keyName(device));
  }

  /** The device may hold the key of a window that was cut short: it is offered that one again. */
  async #candidateFor(device: DeviceId): Promise<Uint8Array> {
    const begun = this.#site.unsealKey(candidateName(device));
    if (begun !== undefined) return begun;
    const fresh = new Uint8Array(randomBytes(keyBytes));
    await this.#site.sealKey(candidateName(device), fresh);
    return fresh;
  }

  #keysOf({ id, keyFile }: ConfiguredDevice): HeldKeys {
    if (keyFile === undefined) {
      const candidate = this.#site.unsealKey(candidateName(id));
      return { key: this.#site.unsealKey(keyName(id)), ...(candidate && { candidate }) };
    }
    const reading = readKeyFile(keyFile);
    if ('key' in reading) {
      this.#fromFiles.set(id, reading.key);
      return { key: reading.key };
    }
    if (this.#waiting.get(id) !== reading.fault) this.#await(id, reading.fault);
    return { key: undefined };
  }

  #lineOf(device: DeviceId): LineId | undefined {
    return this.#config.lines.find(({ devices }) => devices.some(({ id }) => id === device))?.id;
  }

  #neighboursOf(device: DeviceId): readonly ConfiguredDevice[] {
    const line = this.#config.lines.find(({ id }) => id === this.#lineOf(device));
    return line?.devices.filter(({ id }) => id !== device) ?? [];
  }

  #deviceOf(device: DeviceId): ConfiguredDevice | undefined {
    return this.#config.lines.flatMap(({ devices }) => devices).find(({ id }) => id === device);
  }
}

/** Whether a device's key comes from an installation. */
const takesKey = ({ security, keyFile }: ConfiguredDevice): boolean => security === 'secure' && keyFile === undefined;

/** Firmware may change; who it is does not. */
const isSameDevice = (one: DeviceIdentity, other: DeviceIdentity): boolean =>
  one.vendor === other.vendor && one.model === other.model && one.serial === other.serial;
