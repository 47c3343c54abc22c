/**
 * A front desk over a real journal, a real replica and real threads; only the devices are plain values, and its clocks
 * can be moved on.
 */
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FrontDesk, type FrontDeskPorts } from '#gateway/access/front-desk.ts';
import { GatewayNews } from '#gateway/access/gateway-news.ts';
import { TimeKeeper } from '#gateway/clock/time-keeper.ts';
import { parseConfig } from '#gateway/config.ts';
import type { CommandResult, DeviceCommand, DeviceEvent } from '#gateway/device/driver.ts';
import type { Entry } from '#gateway/journal/entry.ts';
import type { Journal } from '#gateway/journal/journal.ts';
import { appendInterrupted } from '#gateway/journal/open-journal.ts';
import { type History, openHistory } from '#gateway/open-history.ts';
import { createPinHasher, type PinHasher } from '#gateway/replica/pin-hasher.ts';
import { Replica } from '#gateway/replica/replica.ts';
import type { Logger } from '#gateway/system/logger.ts';
import { ownThreads } from '#gateway/threads.ts';
import { createCredentialLookup } from '#shared/credential-lookup.ts';
import { type DeviceId, identifier } from '#shared/identifier.ts';
import { type MonoMs, monoMs, type WallMs, wallMs } from '#shared/instant.ts';
import { waitUntil } from '../../fakes/wait-until.ts';
import { board, cardOf, deskDoors, deskFacility, type Person, pointOf, readerIds } from './desk-facility.ts';

/** A Thursday, noon in Tokyo. */
export const noon = Date.UTC(2026, 0, 15, 3);

export interface MovedClock {
  readonly now: () => MonoMs;
  readonly wall: () => WallMs;
  /** Both clocks go on by so much at once. */
  advance(ms: number): void;
}

/** Stands still unless it is moved: however busy the machine is, no request grows old by itself. */
export function createClock(): MovedClock {
  let elapsed = 0;
  return {
    now: () => monoMs(1_000_000 + elapsed),
    wall: () => wallMs(noon + elapsed),
    advance: (ms) => {
      elapsed += ms;
    },
  };
}

export interface Sent {
  readonly device: DeviceId;
  readonly command: DeviceCommand;
}
type Lock = Extract<DeviceCommand, { kind: 'release' | 'secure' | 'free' }>;

export interface DeskOptions {
  readonly folder?: string;
  readonly clock?: MovedClock;
  /** What is imported before the desk opens, instead of the facility that every desk has in force. */
  readonly facility?: object;
  readonly kernel?: () => 'synchronized' | 'unsynchronized' | 'unknown';
  readonly contactAgeMs?: () => number | 'unknown';
  readonly pins?: (real: PinHasher) => PinHasher;
  readonly journal?: (real: Journal) => Journal;
  /** Outputs of the board that are on when it arrives. */
  readonly outputs?: readonly number[];
  /** Devices that stay away. */
  readonly absent?: readonly string[];
}

/** In memory where there is such a place: these tests are about what is written, not about how long a disk takes. */
const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
export const deskFolder = (): string => mkdtempSync(join(place, 'kannuki-desk-'));

export class TestDesk {
  readonly desk: FrontDesk;
  readonly clock: MovedClock;
  readonly history: History;
  readonly replica: Replica;
  readonly time: TimeKeeper;
  readonly folder: string;
  /** Every command, in order; lamps too. */
  readonly sent: Sent[] = [];
  readonly faults: unknown[] = [];
  /** What a lock answers; `done` unless the test says otherwise. */
  answer: (command: Lock) => CommandResult | Promise<CommandResult> = () => ({ kind: 'done' });
  onKey: FrontDeskPorts['keyInstalled'] = () => {};
  onIdentity: FrontDeskPorts['identified'] = () => {};
  readonly #pins: PinHasher;
  readonly #outputs = new Map<number, boolean>();
  readonly #up = new Set<string>();

  constructor(parts: Pick<TestDesk, 'clock' | 'history' | 'replica' | 'time' | 'folder'>, options: DeskOptions) {
    const { clock, history, replica, time } = parts;
    this.clock = clock;
    this.history = history;
    this.replica = replica;
    this.time = time;
    this.folder = parts.folder;
    const real = createPinHasher(ownThreads.pins);
    this.#pins = options.pins?.(real) ?? real;
    this.desk = new FrontDesk({
      now: clock.now,
      time,
      journal: options.journal?.(history.journal) ?? history.journal,
      memory: history.memory,
      replica: replica.reader,
      lookup: createCredentialLookup(history.lookupKey),
      pins: this.#pins,
      contactAgeMs: options.contactAgeMs ?? (() => 'unknown'),
      command: (device, command) => this.#command(device, command),
      hasDeviceTimer: () => true,
      keyInstalled: (...told) => this.onKey(...told),
      identified: (...told) => this.onIdentity(...told),
      doorChanged: () => {},
      faulted: (error) => this.faults.push(error),
    });
  }

  /** The device is there, its doors shut, its locks as they were. */
  arrive(device: string): void {
    this.#up.add(device);
    const identity = { vendor: '4b414e', model: '7', serial: '1', firmware: '1.2.3' };
    this.tell({ kind: 'online', device: identifier(device), at: this.clock.now(), identity, channel: 'secure' });
    if (device !== board) return;
    for (const [index] of deskDoors.entries()) {
      this.output(index, this.#outputs.get(index) ?? false);
      this.input(index, false);
    }
  }

  /** Before the board arrives. */
  switchOn(output: number): void {
    this.#outputs.set(output, true);
  }

  leave(device: string): void {
    this.#up.delete(device);
    this.tell({ kind: 'offline', device: identifier(device), at: this.clock.now(), reason: 'silent' });
  }

  tell(event: DeviceEvent): void {
    this.desk.takeEvent(event);
  }

  input(input: number, isActive: boolean): void {
    const state = isActive ? 'active' : 'inactive';
    this.tell({ kind: 'input', device: identifier(board), at: this.clock.now(), input, state });
  }

  output(output: number, isActive: boolean): void {
    this.#outputs.set(output, isActive);
    this.tell({ kind: 'output', device: identifier(board), at: this.clock.now(), output, isActive });
  }

  openLeaf(door: string, isOpen: boolean): void {
    this.input(pointOf(door), isOpen);
  }

  /** The device's own timer ends the release. */
  relock(door: string): void {
    this.output(pointOf(door), false);
  }

  swipe(reader: string, card: Person | { readonly bitCount: number; readonly bytes: Uint8Array }): void {
    const bits = typeof card === 'string' ? cardOf(card) : card;
    this.tell({
      kind: 'card',
      device: identifier(`reader-${reader}`),
      at: this.clock.now(),
      head: 0,
      format: 1,
      ...bits,
    });
  }

  type(reader: string, keys: string): void {
    this.tell({ kind: 'keys', device: identifier(`reader-${reader}`), at: this.clock.now(), head: 0, keys });
  }

  entries(): Promise<readonly Entry[]> {
    return this.history.journal.read({ newest: 1_000 });
  }

  /** What became of the next request that is decided after `act`. */
  async decided(act: () => void): Promise<Entry> {
    const after = (await this.entries()).at(-1)?.seq ?? 0;
    act();
    return await this.eventually('a decision', (entry) => entry.seq > after && decisionKinds.has(entry.kind));
  }

  async eventually(what: string, is: (entry: Entry) => boolean): Promise<Entry> {
    let found: Entry | undefined;
    let isReading = false;
    const read = async () => {
      isReading = true;
      found = (await this.entries()).find(is);
      isReading = false;
    };
    await waitUntil(what, () => {
      if (!isReading && found === undefined) void read();
      return found !== undefined;
    });
    if (found === undefined) throw new Error(what);
    return found;
  }

  releases(door: string): readonly Extract<DeviceCommand, { kind: 'release' }>[] {
    return this.sent.flatMap(({ command }) =>
      command.kind === 'release' && command.lock.output === pointOf(door) ? [command] : [],
    );
  }

  lampsOf(reader: string): readonly string[] {
    return this.sent.flatMap(({ device, command }) =>
      device === `reader-${reader}` && command.kind === 'feedback' ? [command.signal] : [],
    );
  }

  stateOf(door: string): string | undefined {
    return this.desk.doors.find(identifier(door))?.state.status.kind;
  }

  /** Ends the process's part; the folder stays. */
  async close(): Promise<void> {
    this.time.close();
    this.desk.close();
    await this.replica.close();
    await this.#pins.close();
    await this.history.close();
  }

  async #command(device: DeviceId, command: DeviceCommand): Promise<CommandResult> {
    if (!this.#up.has(device)) return { kind: 'not-executed', reason: 'offline' };
    this.sent.push({ device, command });
    if (command.kind === 'feedback') return { kind: 'done' };
    const result = await this.answer(command);
    if (result.kind === 'done') queueMicrotask(() => this.output(command.lock.output, command.kind !== 'secure'));
    return result;
  }
}

const decisionKinds: ReadonlySet<string> = new Set(['access.granted', 'access.refused', 'access.challenged']);
const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, fatal: () => {} };

/** A data folder with the facility of every desk in force: made once, copied for each. */
let prepared: Promise<string> | undefined;

async function prepare(): Promise<string> {
  const folder = deskFolder();
  const desk = await openIn(folder, { facility: deskFacility() });
  await desk.close();
  process.once('exit', () => removeDesk(folder));
  return folder;
}

/** Opens a desk over a copy of the prepared folder, or a folder that has been used before, and lets every device arrive. */
export async function openDesk(options: DeskOptions = {}): Promise<TestDesk> {
  if (options.folder !== undefined) return openIn(options.folder, options);
  const folder = deskFolder();
  prepared ??= prepare();
  cpSync(await prepared, folder, { recursive: true });
  return openIn(folder, options);
}

async function openIn(folder: string, options: DeskOptions): Promise<TestDesk> {
  const { clock = createClock(), kernel = () => 'synchronized' } = options;
  const news = new GatewayNews(silent);
  const config = parseConfig(`dataDir: ${folder}\n`, join(folder, 'gateway.yaml'));
  const history = await openHistory(config, {
    entry: ownThreads.journal,
    onChange: (change) => news.takeJournal(change),
  });
  const time = new TimeKeeper(
    news.floorOf(history.memory),
    { ntp: 'kernel', rtc: false },
    {
      now: clock.now,
      wall: clock.wall,
      readKernel: async () => kernel(),
      tell: (effect) => news.takeClock(effect),
    },
  );
  await time.refresh();
  await appendInterrupted(history, time.stamp());
  const replica = new Replica({
    folder,
    rowKey: history.rowKey,
    lookupKey: history.lookupKey,
    thread: ownThreads.replica,
    journalled: news.headOf(history.memory),
    wallNow: clock.wall,
    onHead: (head) => news.takeHead(head),
    onTampered: (row) => news.takeTampered(row),
  });
  if (options.facility !== undefined) await importInto(replica, options.facility);
  const test = new TestDesk({ clock, history, replica, time, folder }, options);
  for (const output of options.outputs ?? []) test.switchOn(output);
  news.begin({ desk: test.desk, archive: history.archive, replica: replica.reader });
  for (const device of [board, ...readerIds.map((reader) => `reader-${reader}`)])
    if (!options.absent?.includes(device)) test.arrive(device);
  return test;
}

/** @throws Error naming what the import refused. */
export async function importInto(replica: Replica, facility: object): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(facility));
  const report = await replica.import({
    files: [{ name: 'facility.json', bytes }],
    isDryRun: false,
    onProgress: () => {},
  });
  if (report.epoch === undefined) throw new Error(report.errors.join('\n'));
}

export const removeDesk = (folder: string): void => rmSync(folder, { recursive: true, force: true });
