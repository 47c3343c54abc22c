/**
 * Looks after the disk under the data folder: its room, how fast it is worn, and whether its databases are sound.
 *
 * Nothing of it is done before the first cards have been decided. Then the replica's rows are checked and every database
 * is read whole, one after another, in threads of their own; from then on the disk is looked at once a minute.
 * Not promised: that a file found sound stays so; what is read for a decision is verified each time by its own codes.
 */
import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { MonoMs } from '#shared/instant.ts';
import type { StorageStatus } from '../control/replies.ts';
import { type CheckResult, checkDatabase } from '../store/check-database.ts';
import {
  flashBytesPerDay,
  keepSamples,
  readStorageHealth,
  type StorageHealth,
  type WriteSample,
} from '../system/storage-health.ts';

export interface StorageWatchPorts {
  readonly dataDir: string;
  readonly now: () => MonoMs;
  /** Bytes written so far; `undefined` where nobody counts. */
  readonly writtenBytes: () => Promise<number | undefined>;
  readonly checkReplica: () => Promise<void>;
  /** Where `check-thread` is. */
  readonly checkThread: URL;
  readonly onHealth: (state: StorageHealth['state']) => void;
  readonly onDamage: (file: string, findings: string) => void;
  /** How long the first cards have the machine for themselves, ms; default 5 000. */
  readonly firstCheckMs?: number;
  /** A look that failed, for whoever runs the machine. */
  readonly failed: (error: unknown) => void;
}

type FileStatus = StorageStatus['files'][number];

const defaultFirstCheckMs = 5_000;
const lookEveryMs = 60_000;

export class StorageWatch {
  readonly #ports: StorageWatchPorts;
  readonly #ended = new AbortController();
  readonly #timers: readonly NodeJS.Timeout[];
  readonly #files = new Map<string, FileStatus>();
  #health: StorageHealth;
  #samples: readonly WriteSample[] = [];

  constructor(ports: StorageWatchPorts) {
    this.#ports = ports;
    this.#health = readStorageHealth(ports.dataDir);
    ports.onHealth(this.#health.state);
    const begin = () => this.#guard(this.#look().then(() => this.#checkAll()));
    this.#timers = [
      setTimeout(begin, ports.firstCheckMs ?? defaultFirstCheckMs).unref(),
      setInterval(() => this.#guard(this.#look()), lookEveryMs).unref(),
    ];
  }

  /** As it is at this moment. */
  status(): StorageStatus {
    this.#take(readStorageHealth(this.#ports.dataDir));
    const { state, freeBytes, totalBytes } = this.#health;
    const files = [...this.#files.values()].filter(({ name }) => existsSync(join(this.#ports.dataDir, name)));
    return { state, freeBytes, totalBytes, flashBytesPerDay: flashBytesPerDay(this.#samples), files };
  }

  /** A file that proved damaged in use, whatever was read before. */
  condemn(name: string, detail: string): void {
    this.#files.set(name, { name, state: 'damaged', detail });
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#ended.abort();
  }

  /** Whatever is cut short by the end of the process has not failed. */
  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.#ended.signal.aborted || this.#ports.failed(error));
  }

  async #look(): Promise<void> {
    const { dataDir, now, writtenBytes } = this.#ports;
    this.#take(readStorageHealth(dataDir));
    const bytes = await writtenBytes();
    if (bytes !== undefined) this.#samples = keepSamples(this.#samples, { at: now(), bytes });
  }

  #take(health: StorageHealth): void {
    this.#health = health;
    this.#ports.onHealth(health.state);
  }

  async #checkAll(): Promise<void> {
    const { dataDir, checkReplica, checkThread: entry } = this.#ports;
    // A replica that cannot be read is one more reason to read the files.
    const checked = checkReplica();
    this.#guard(checked);
    await checked.catch(() => {});
    for (const path of databasesIn(dataDir)) {
      if (this.#ended.signal.aborted) return;
      this.#judge(path, await checkDatabase({ path, entry, signal: this.#ended.signal }));
    }
  }

  #judge(path: string, result: CheckResult): void {
    const name = basename(path);
    const found = judge(result);
    // An epoch that has been replaced meanwhile.
    if (found === 'gone') return;
    this.#files.set(name, { name, ...found });
    if (found.state === 'damaged') this.#ports.onDamage(name, found.detail);
  }
}

/** Not those that were set aside: what they hold is lost already. */
function databasesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.db'))
    .map((name) => join(folder, name));
}

function judge(result: CheckResult): Omit<FileStatus, 'name'> | 'gone' {
  if (result.kind === 'sound') return { state: 'sound', detail: '' };
  if (result.kind === 'damaged') return { state: 'damaged', detail: result.findings.join('; ') };
  if (result.code === 'STORE_MISSING') return 'gone';
  return { state: result.code === 'STORE_DAMAGED' ? 'damaged' : 'unreadable', detail: result.detail };
}
