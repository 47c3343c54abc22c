/**
 * The door process, wired: history, what is known, doors, and devices last, so that no read finds half a gateway.
 *
 * Closing is the reverse; the journal is the last to go.
 */
import type { DeviceId } from '#shared/identifier.ts';
import { BusKeeper } from './access/bus-keeper.ts';
import { DeviceKeys } from './access/device-keys.ts';
import { FrontDesk } from './access/front-desk.ts';
import type { GatewayNews } from './access/gateway-news.ts';
import { machineWall, TimeKeeper } from './clock/time-keeper.ts';
import { capturePorts, createBus } from './compose-bus.ts';
import type { DoorCloud } from './compose-cloud.ts';
import type { Config } from './config.ts';
import type { Handlers } from './control/door-side.ts';
import type { Driver } from './device/driver.ts';
import { ContactKeeper } from './follow/contact-keeper.ts';
import { isEnrolled } from './follow/enrolment-names.ts';
import { LookupKeeper } from './follow/lookup-keeper.ts';
import { appendInterrupted } from './journal/open-journal.ts';
import type { History } from './open-history.ts';
import type { DoorProcess } from './operate/door-process.ts';
import { createHandlers, recordAct } from './operate/handlers.ts';
import { DoorBroadcast } from './operate/history.ts';
import { Importer } from './operate/import.ts';
import { ReplicaGuard } from './operate/replica-guard.ts';
import { createPinHasher, type PinHasher } from './replica/pin-hasher.ts';
import { Replica } from './replica/replica.ts';
import { readKernelSynchronization } from './system/kernel-time.ts';
import type { Logger } from './system/logger.ts';
import { monotonicNow } from './system/monotonic.ts';
import { version } from './system/version.ts';
import type { Threads } from './threads.ts';

const tickMs = 1_000;
const pruneEveryMs = 3_600_000;
const dayMs = 86_400_000;

/** What is there before the door process is put together. */
export interface DoorParts {
  readonly config: Config;
  readonly log: Logger;
  readonly threads: Threads;
  readonly news: GatewayNews;
  readonly history: History;
  /** The first answer about the kernel's clock, asked for early; see `TimePorts.readKernel`. */
  readonly kernel: ReturnType<typeof readKernelSynchronization> | undefined;
}

/** @throws StoreFault where the disk fails at this moment; `history` is closed then. */
export async function composeDoor(parts: DoorParts): Promise<DoorGateway> {
  const { config, news, history } = parts;
  let { kernel } = parts;
  const readKernel = () => {
    const asked = kernel ?? readKernelSynchronization();
    kernel = undefined;
    return asked;
  };
  const time = new TimeKeeper(news.floorOf(history.memory), config.clock, {
    now: monotonicNow,
    wall: machineWall,
    readKernel,
    tell: (effect) => news.takeClock(effect),
  });
  try {
    await time.refresh();
    await appendInterrupted(history, time.stamp());
    const gateway = new DoorGateway({ ...parts, time });
    gateway.start();
    return gateway;
  } catch (error) {
    time.close();
    await history.close();
    throw error;
  }
}

interface Opened extends DoorParts {
  readonly time: TimeKeeper;
}

export class DoorGateway {
  readonly handlers: Handlers;
  readonly #opened: Opened;
  readonly #replica: Replica;
  readonly #pins: PinHasher;
  readonly #desk: FrontDesk;
  readonly #buses: BusKeeper;
  readonly #keys: DeviceKeys;
  readonly #broadcast = new DoorBroadcast();
  readonly #guard: ReplicaGuard;
  readonly #lookup: LookupKeeper;
  readonly #contact: ContactKeeper;
  readonly #process: DoorProcess;
  #cloud: DoorCloud | undefined;
  #cloudLoaded: Promise<void> = Promise.resolve();
  #isClosed = false;
  #timers: readonly NodeJS.Timeout[] = [];

  constructor(opened: Opened) {
    this.#opened = opened;
    const { history, threads, news, config } = opened;
    this.#pins = createPinHasher(threads.pins);
    this.#replica = new Replica({
      folder: config.dataDir,
      rowKey: history.rowKey,
      lookupKey: history.lookupKey,
      thread: threads.replica,
      journalled: news.headOf(history.memory),
      wallNow: machineWall,
      onHead: (head) => {
        this.#lookup?.use(head.epoch);
        news.takeHead(head);
      },
      onTampered: (row) => {
        this.#replica.reader.quarantine(`${row.table} ${row.key} is not as it was written`);
        news.takeTampered(row);
      },
    });
    const { state } = this.#replica.reader;
    const epoch = state.kind === 'empty' ? undefined : state.head?.epoch;
    this.#lookup = new LookupKeeper(history.site, history.lookupKey, epoch);
    this.#contact = new ContactKeeper({
      now: monotonicNow,
      time: opened.time,
      bootId: history.bootId,
      memory: history.memory,
      keep: (writes) => this.#desk.keep(writes),
    });
    this.#desk = this.#createDesk();
    this.#buses = new BusKeeper(
      (line) => createBus(line, { config, news, keys: this.#keys }),
      (event) => this.#desk.takeEvent(event),
    );
    this.#keys = new DeviceKeys(config, history.site, {
      desk: this.#desk,
      rebuild: (line) => this.#buses.rebuild(line),
    });
    const { archive } = history;
    const { dataDir } = config;
    const guarded = { dataDir, archive, news, replica: this.#replica, checkThread: threads.check, log: opened.log };
    this.#guard = new ReplicaGuard(guarded);
    this.#process = this.#createProcess();
    this.handlers = this.#createHandlers();
  }

  start(): void {
    const { news, history, config } = this.#opened;
    const body = { version, bootId: history.bootId };
    this.#desk.record({ kind: 'gateway.started', door: null, requestId: null, body }, [], 'shared');
    news.begin({ desk: this.#desk, archive: history.archive, replica: this.#replica.reader });
    for (const line of config.lines) this.#buses.open(line.id);
    this.#keys.watch();
    this.#timers = [setInterval(() => this.#desk.tick(), tickMs), setInterval(() => this.#prune(), pruneEveryMs)];
    this.#cloudLoaded = this.#loadCloud();
  }

  async close(): Promise<void> {
    const { history, time } = this.#opened;
    this.#isClosed = true;
    for (const timer of this.#timers) clearInterval(timer);
    this.#cloud?.close();
    this.#guard.close();
    this.#keys.close();
    await this.#buses.close();
    this.#desk.close();
    this.#desk.record({ kind: 'gateway.stopped', door: null, requestId: null, body: {} }, [], 'shared');
    await this.#replica.close();
    await this.#pins.close();
    time.close();
    await history.close();
  }

  #createDesk(): FrontDesk {
    const { history, time, log } = this.#opened;
    return new FrontDesk({
      now: monotonicNow,
      time,
      journal: history.journal,
      memory: history.memory,
      replica: this.#replica.reader,
      lookup: this.#lookup.lookup,
      pins: this.#pins,
      contactAgeMs: () => this.#contact.ageMs(),
      command: (device, command, deadline) =>
        this.#driverOf(device)?.command(device, command, deadline) ??
        Promise.resolve({ kind: 'not-executed', reason: 'offline' }),
      hasDeviceTimer: (device) => this.#driverOf(device)?.capabilities.hasDeviceTimer ?? true,
      keyInstalled: (device, key, identity) => void this.#keys.take(device, key, identity),
      identified: (device, identity) => void this.#keys.pin(device, identity),
      doorChanged: (door) => this.#broadcast.tell(door),
      faulted: (error) => log.error({ err: error }, 'facts could not be gathered'),
    });
  }

  /** Lets go what the cloud has acknowledged and nobody keeps any longer; without an acknowledgement, nothing. */
  #prune(): void {
    const { config, history, time, log } = this.#opened;
    const { now } = time.read();
    if (now === undefined) return;
    const before = now - config.journal.retentionDays * dayMs;
    history.archive
      .prune(before)
      .catch((error: unknown) => log.warn({ err: error }, 'the journal could not be pruned'));
  }

  #driverOf(device: DeviceId): Driver | undefined {
    const line = this.#opened.config.lines.find(({ devices }) => devices.some(({ id }) => id === device));
    return this.#buses.list().find((bus) => bus.line === line?.id)?.driver;
  }

  /** Doors do not wait for it. */
  async #loadCloud(): Promise<void> {
    const { history, config, log } = this.#opened;
    const { DoorCloud } = await import('./compose-cloud.ts');
    if (this.#isClosed) return;
    const cloud = new DoorCloud({
      history,
      replica: this.#replica,
      desk: this.#desk,
      lookup: this.#lookup,
      contact: this.#contact,
      process: this.#process,
      devices: devicesOf(config),
      recordAct: (body) => recordAct(body, this.#desk.commands),
    });
    this.#cloud = cloud;
    void cloud.open(log);
  }

  #createProcess(): DoorProcess {
    const { config, history, time } = this.#opened;
    const { journal, archive, site } = history;
    const { doors, alarms, sources } = this.#desk;
    return {
      dataDir: config.dataDir,
      version,
      now: monotonicNow,
      journal,
      archive,
      site,
      replica: this.#replica.reader,
      time,
      doors,
      alarms,
      storage: this.#guard.storage,
      buses: () => this.#buses.list(),
      hasOwnKey: (device) => this.#keys.hasOwnKey(device),
      sources,
      cloud: () => this.#cloud?.desk.status(),
    };
  }

  #createHandlers(): Handlers {
    const { config, history, threads } = this.#opened;
    const { memory, masterKey } = history;
    const { commands, reads } = this.#desk;
    return createHandlers({
      process: this.#process,
      cloud: async () => {
        await this.#cloudLoaded;
        return this.#cloud;
      },
      broadcast: this.#broadcast,
      commands,
      memory,
      reads,
      importer: new Importer(this.#replica, config.dataDir, {
        devices: devicesOf(config),
        isOfCloud: () => isEnrolled(this.#opened.history.site),
      }),
      capture: capturePorts,
      masterKey,
      verifyThread: threads.verify,
      openInstallWindow: (call) => this.#keys.openWindow(call, this.#driverOf(call.device)),
      acceptDevice: (device) => this.#keys.accept(device),
    });
  }
}

const devicesOf = (config: Config): readonly DeviceId[] =>
  config.lines.flatMap(({ devices }) => devices.map(({ id }) => id));
