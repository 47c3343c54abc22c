/** What a bus hears besides answers: echoes, strangers, damage; and who watches its bytes. */
import type { Frame } from '#protocol/osdp/frame.ts';
import type { LineId } from '#shared/identifier.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { LineTraffic } from '../driver.ts';
import type { LineHealth } from './bus-config.ts';
import type { BusReader } from './bus-reader.ts';
import type { ExchangeEar } from './line-exchange.ts';

const alarmEveryMs = 60_000;

export class BusEar implements ExchangeEar {
  readonly #line: LineId;
  readonly #readers: readonly BusReader[];
  readonly #watchers = new Set<(traffic: LineTraffic) => void>();
  #counts = { echoes: 0, foreignFrames: 0, strayReplies: 0 };
  #damaged = 0;
  #alarmedAt = Number.NEGATIVE_INFINITY;

  constructor(line: LineId, readers: readonly BusReader[]) {
    this.#line = line;
    this.#readers = readers;
  }

  counts(): Pick<LineHealth, 'echoes' | 'foreignFrames' | 'strayReplies'> {
    return this.#counts;
  }

  takeDamaged(): number {
    const damaged = this.#damaged;
    this.#damaged = 0;
    return damaged;
  }

  observe(watcher: (traffic: LineTraffic) => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  sent(bytes: Uint8Array, at: MonoMs): void {
    this.#show('to-device', bytes, at);
  }

  heard(bytes: Uint8Array, at: MonoMs): void {
    this.#show('from-device', bytes, at);
  }

  echo(): void {
    this.#counts = { ...this.#counts, echoes: this.#counts.echoes + 1 };
  }

  stray(): void {
    this.#counts = { ...this.#counts, strayReplies: this.#counts.strayReplies + 1 };
  }

  damaged(count: number): void {
    this.#damaged += count;
  }

  /** Told once a minute, at the reader that was spoken to if it is ours. */
  foreign(frame: Frame, at: MonoMs): void {
    this.#counts = { ...this.#counts, foreignFrames: this.#counts.foreignFrames + 1 };
    if (at - this.#alarmedAt < alarmEveryMs) return;
    this.#alarmedAt = at;
    const reader = this.#readers.find(({ config }) => config.address === frame.address) ?? this.#readers[0];
    reader?.tell({ kind: 'alarm', code: 'LINE_FOREIGN_PANEL', detail: `speaks to address ${frame.address}` }, at);
  }

  #show(direction: LineTraffic['direction'], bytes: Uint8Array, at: MonoMs): void {
    for (const watcher of this.#watchers) watcher({ at, line: this.#line, direction, bytes });
  }
}
