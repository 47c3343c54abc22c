/**
 * Keeps the trusted clock: reads the machine's sources, feeds them to the pure clock, tells what changed.
 *
 * Guarantees: sources are read off the decisions' path; a source that hangs or is missing is no evidence, never an error.
 */
import { elapsedMs, type MonoMs, type WallMs, wallMs } from '#shared/instant.ts';
import type { ClockFact, ClockState } from '../door/facts.ts';
import { stepClock } from './trusted-clock.ts';
import {
  type ClockEffect,
  type ClockEvidence,
  createClock,
  nextClockDeadline,
  readClock,
  type TrustedClock,
} from './trusted-clock-state.ts';

export interface TimeSources {
  /** `kernel`: ask whether the kernel's clock is disciplined. `assume`: take it to be. */
  readonly ntp: 'kernel' | 'assume' | 'none';
  /** A battery-backed clock set the machine's wall clock at boot. */
  readonly rtc: boolean;
}

export interface TimePorts {
  readonly now: () => MonoMs;
  readonly wall: () => WallMs;
  readonly readKernel: () => Promise<'synchronized' | 'unsynchronized' | 'unknown'>;
  readonly tell: (effect: ClockEffect) => void;
}

/** A kernel source is asked each minute; one that is assumed costs nothing and is read often. */
const readEveryMs = { kernel: 60_000, assume: 5_000, none: 60_000 } as const;

export class TimeKeeper {
  #clock: TrustedClock;
  #deadline: NodeJS.Timeout | undefined;
  #isClosed = false;
  readonly #interval: NodeJS.Timeout;
  readonly #sources: TimeSources;
  readonly #ports: TimePorts;

  constructor(floor: WallMs | undefined, sources: TimeSources, ports: TimePorts) {
    this.#clock = createClock(floor);
    this.#sources = sources;
    this.#ports = ports;
    this.#interval = setInterval(() => void this.refresh(), readEveryMs[sources.ntp]);
  }

  read(): ClockFact {
    return readClock(this.#clock, this.#ports.now());
  }

  /** What an entry says of its time: the trusted time, or the machine's own where there is none. */
  stamp(): { readonly at: WallMs; readonly clockState: ClockState } {
    const { now, state } = this.read();
    return { at: now ?? this.#ports.wall(), clockState: state };
  }

  /** Reads all sources once; called at start before the first decision, and from then on by itself. */
  async refresh(): Promise<void> {
    const { ntp, rtc } = this.#sources;
    // A battery clock is for a gateway that knows no better; offered more often, it would be turned down each time.
    if (rtc && this.read().state === 'untrusted') this.take({ kind: 'rtc', wall: this.#ports.wall() });
    if (ntp === 'none') return;
    const state = ntp === 'assume' ? 'synchronized' : await this.#ports.readKernel().catch(() => 'unknown' as const);
    this.take({ kind: 'ntp', wall: this.#ports.wall(), isSynchronized: state === 'synchronized' });
  }

  /** @returns what came of it, which has also been told. */
  take(evidence: ClockEvidence): readonly ClockEffect[] {
    if (this.#isClosed) return [];
    const { clock, effects } = stepClock(this.#clock, this.#ports.now(), evidence);
    this.#clock = clock;
    for (const effect of effects) this.#ports.tell(effect);
    this.#arm();
    return effects;
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#interval);
    clearTimeout(this.#deadline);
  }

  #arm(): void {
    clearTimeout(this.#deadline);
    const due = nextClockDeadline(this.#clock);
    if (due === undefined) return;
    const wait = Math.min(2_000_000_000, Math.max(1, Math.ceil(elapsedMs(this.#ports.now(), due))));
    this.#deadline = setTimeout(() => this.take({ kind: 'tick' }), wait);
  }
}

/** The machine's wall clock, which decides nothing by itself. */
export const machineWall = (): WallMs => wallMs(Date.now());
