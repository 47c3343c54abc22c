/**
 * The door process, wired: history, what is known, doors, and devices last, so that no read finds half a gateway.
 *
 * Closing is the reverse; the journal is the last to go.
 */
import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { createCredentialLookup } from '#shared/credential-lookup.ts';
import type { DeviceId, LineId } from '#shared/identifier.ts';
import { invariant } from '#shared/invariant.ts';
import { BusKeeper, type KeptBus } from './access/bus-keeper.ts';
import { DeviceKeys } from './access/device-keys.ts';
import { FrontDesk } from './access/front-desk.ts';
import type { GatewayNews } from './access/gateway-news.ts';
import { machineWall, TimeKeeper } from './clock/time-keeper.ts';
import type { Config } from './config.ts';
import type { Handlers } from './control/door-side.ts';
import type { Driver } from './device/driver.ts';
import { lineConfigOf } from './device/line-address.ts';
import { openCaptureFile } from './device/osdp/capture-file.ts';
import { captureText, emptyCaptureText } from './device/osdp/capture-text.ts';
import { createOsdpBus } from './device/osdp/osdp-bus.ts';
import { appendInterrupted } from './journal/open-journal.ts';
import type { History } from './open-history.ts';
import type { DoorProcess } from './operate/door-process.ts';
import { createHandlers } from './operate/handlers.ts';
import { DoorBroadcast } from './operate/history.ts';
import { Importer } from './operate/import.ts';
import { StorageWatch } from './operate/storage-watch.ts';
import { createPinHasher, type PinHasher } from './replica/pin-hasher.ts';
import { Replica } from './replica/replica.ts';
import { replicaPath } from './replica/replica-folder.ts';
import { namesSetAside } from './store/quarantine.ts';
import { readKernelSynchronization } from './system/kernel-time.ts';
import type { Logger } from './system/logger.ts';
import { monotonicNow } from './system/monotonic.ts';
import { version } from './system/version.ts';
import type { Threads } from './threads.ts';

const tickMs = 1_000;
const pruneEveryMs = 3_600_000;
const warmPinsMs = 3_000;
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
  readonly #storage: StorageWatch;
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
      onHead: (head) => news.takeHead(head),
      onTampered: (row) => {
        this.#replica.reader.quarantine(`${row.table} ${row.key} is not as it was written`);
        news.takeTampered(row);
      },
    });
    this.#replica.reader.onFault((fault) => this.#takeReplicaFault(fault));
    this.#desk = this.#createDesk();
    this.#buses = new BusKeeper(
      (line) => this.#createBus(line),
      (event) => this.#desk.takeEvent(event),
    );
    this.#keys = new DeviceKeys(config, history.site, {
      desk: this.#desk,
      rebuild: (line) => this.#buses.rebuild(line),
    });
    this.#storage = this.#createStorageWatch();
    this.handlers = this.#createHandlers();
  }

  start(): void {
    const { news, history, config } = this.#opened;
    const body = { version, bootId: history.bootId };
    this.#desk.record({ kind: 'gateway.started', door: null, requestId: null, body }, [], 'shared');
    news.begin({ desk: this.#desk, archive: history.archive, replica: this.#replica.reader });
    for (const line of config.lines) this.#buses.open(line.id);
    this.#keys.watch();
    this.#timers = [
      setInterval(() => this.#desk.tick(), tickMs),
      setInterval(() => this.#prune(), pruneEveryMs),
      // Not at once: the first card must not wait for a thread that only PINs need.
      setTimeout(() => this.#pins.warm(), warmPinsMs),
    ];
  }

  async close(): Promise<void> {
    const { history, time } = this.#opened;
    for (const timer of this.#timers) clearInterval(timer);
    this.#storage.close();
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
      lookup: createCredentialLookup(history.lookupKey),
      pins: this.#pins,
      contactAgeMs: () => 'unknown',
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

  #createStorageWatch(): StorageWatch {
    const { config, history, news, threads, log } = this.#opened;
    return new StorageWatch({
      dataDir: config.dataDir,
      now: monotonicNow,
      writtenBytes: () => history.archive.writtenBytes(),
      checkReplica: () => this.#replica.checkAll(),
      checkThread: threads.check,
      onHealth: (state) => {
        news.takeStorage(state);
        news.takeAside(namesSetAside(config.dataDir));
      },
      onDamage: (file, findings) => {
        news.takeDamage(file, findings);
        if (file === this.#replicaName()) this.#takeReplicaFault({ isLost: true, detail: `${file}: ${findings}` });
      },
      failed: (error) => log.warn({ err: error }, 'the storage could not be looked at'),
    });
  }

  #replicaName(): string {
    const { state } = this.#replica.reader;
    const epoch = state.kind === 'empty' ? 0 : (state.head?.epoch ?? 0);
    return basename(replicaPath('', epoch));
  }

  /** From a replica that proved damaged nothing is granted until the next import, and that stands as an alarm. */
  #takeReplicaFault({ isLost, detail }: { readonly isLost: boolean; readonly detail: string }): void {
    const { news } = this.#opened;
    if (!isLost) {
      news.takeUnread(detail);
      return;
    }
    this.#storage.condemn(this.#replicaName(), detail);
    this.#replica.reader.quarantine(detail);
    news.takeQuarantine(detail);
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

  #createBus(id: LineId): KeptBus {
    const line = this.#opened.config.lines.find((each) => each.id === id);
    invariant(line !== undefined, `line ${id} is configured`);
    const bus = createOsdpBus(
      { line: lineConfigOf(line), devices: line.devices.map((device) => this.#keys.deviceConfig(device)) },
      { now: monotonicNow, randomBytes, onLine: (health) => this.#opened.news.takeLine(health) },
    );
    return { driver: bus, lineState: () => bus.lineHealth() };
  }

  #createHandlers(): Handlers {
    const { config, history, time, threads } = this.#opened;
    const { journal, archive, site, memory, masterKey } = history;
    const { doors, alarms, sources, commands, reads } = this.#desk;
    const process: DoorProcess = {
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
      storage: this.#storage,
      buses: () => this.#buses.list(),
      hasOwnKey: (device) => this.#keys.hasOwnKey(device),
      sources,
    };
    return createHandlers({
      process,
      broadcast: this.#broadcast,
      commands,
      memory,
      reads,
      importer: new Importer(
        this.#replica,
        config.dataDir,
        config.lines.flatMap(({ devices }) => devices.map(({ id }) => id)),
      ),
      capture: { textOf: captureTextOf, openFile: openCaptureFile },
      masterKey,
      verifyThread: threads.verify,
      openInstallWindow: (call) => this.#keys.openWindow(call, this.#driverOf(call.device)),
      acceptDevice: (device) => this.#keys.accept(device),
    });
  }
}

function captureTextOf(): (traffic: Parameters<typeof captureText>[1]) => readonly string[] {
  let state = emptyCaptureText;
  return (traffic) => {
    const step = captureText(state, traffic);
    state = step.state;
    return step.lines;
  };
}
