/**
 * The line of one bus while it is open: gives the readers their turns until the line fails.
 *
 * Guarantees: half-duplex, one exchange at a time; a dead line is noticed by its silence, by its name leading elsewhere,
 * or by its own word, whichever comes first. Ends normally only when it is worth opening the line afresh.
 */
import { later, type MonoMs } from '#shared/instant.ts';
import type { Line, LineFault } from '../line.ts';
import type { OsdpBusPorts } from './bus-config.ts';
import type { BusReader, Transmission } from './bus-reader.ts';
import { freshMemory, pickTurn, type ScheduleMemory } from './bus-schedule.ts';
import type { Answer, LineExchange } from './line-exchange.ts';
import { replyTimeoutMs } from './reply-timing.ts';

const entropyLength = 8;
/** How often the line is looked at while nobody answers. */
const checkEveryMs = 1_000;
/** So much silence from every reader is worth a fresh opening: a bridge may have forgotten us without a word. */
const silentBridgeMs = 5_000;
const silentWireMs = 15_000;
/** No wait between two looks at the readers is as long as this, unless the process was kept from running, ms. */
const absenceMs = 3_000;
/** How long readers have to be back after it, ms: as long as a silence may last at any time. */
const excuseMs = 8_000;

export interface BusLineParts {
  readonly line: Line;
  readonly exchange: LineExchange;
  readonly readers: readonly BusReader[];
  readonly ports: OsdpBusPorts;
  /** Damaged beginnings since it was last asked. */
  readonly takeDamaged: () => number;
  readonly lost: () => LineFault | undefined;
}

export class BusLine {
  readonly #parts: BusLineParts;
  #memory: ScheduleMemory = freshMemory;
  #wake = () => {};
  #heardAt: MonoMs;
  #checkedAt: MonoMs;
  #lookedAt: MonoMs;

  constructor(parts: BusLineParts) {
    this.#parts = parts;
    this.#heardAt = parts.ports.now();
    this.#checkedAt = this.#heardAt;
    this.#lookedAt = this.#heardAt;
  }

  /** Something new waits: a command, the loss of the line, the end. */
  wake(): void {
    this.#wake();
  }

  /**
   * @param answered called at each good reply.
   * @throws LineFault when the line fails.
   */
  async run(signal: AbortSignal, answered: () => void): Promise<void> {
    const { ports, readers, line } = this.#parts;
    while (!signal.aborted) {
      const lost = this.#parts.lost();
      if (lost !== undefined) throw lost;
      const at = ports.now();
      this.#noticeAbsence(at);
      await this.#check(at);
      for (const reader of readers) reader.expire(at);
      const pick = pickTurn(readers, this.#memory, at);
      if (pick.kind === 'wait') {
        await this.#waitUntil(pick.until, at);
        continue;
      }
      // Only now that somebody is to be asked: the fresh line is asked at once, and no probe is late for its opening.
      if (at - this.#heardAt > (line.isBridged ? silentBridgeMs : silentWireMs)) return;
      this.#memory = pick.memory;
      await this.#turn(pick.slot, answered);
    }
  }

  /**
   * That nobody was heard while this process itself stood still says nothing about the readers or the line: their sessions
   * are over, and they are asked anew before anything is said of them.
   */
  #noticeAbsence(at: MonoMs): void {
    const awayMs = at - this.#lookedAt;
    this.#lookedAt = at;
    if (awayMs < absenceMs) return;
    this.#heardAt = at;
    for (const reader of this.#parts.readers) reader.excuse(later(at, excuseMs));
  }

  async #turn(reader: BusReader, answered: () => void): Promise<void> {
    const { ports, exchange } = this.#parts;
    const transmission = reader.turn(ports.now(), ports.randomBytes(entropyLength));
    if (transmission === undefined) return;
    const answer = await this.#ask(reader, transmission, exchange);
    this.#noticeAbsence(ports.now());
    if (answer.kind === 'reply') {
      this.#heardAt = answer.at;
      answered();
    }
    reader.hear(answer, this.#parts.takeDamaged());
  }

  #ask(reader: BusReader, transmission: Transmission, exchange: LineExchange): Promise<Answer> {
    const timeoutMs = replyTimeoutMs(reader.turnarounds, {
      isProbe: transmission.role === 'probe',
      unanswered: reader.probes,
      isBridged: this.#parts.line.isBridged,
      isAlone: this.#parts.readers.length === 1,
      wantedMs: transmission.replyTimeoutMs,
    });
    return exchange.ask({ bytes: transmission.bytes, timeoutMs, address: reader.config.address });
  }

  async #check(at: MonoMs): Promise<void> {
    if (at - Math.max(this.#heardAt, this.#checkedAt) < checkEveryMs) return;
    this.#checkedAt = at;
    await this.#parts.line.check();
  }

  async #waitUntil(due: number, at: MonoMs): Promise<void> {
    const patience = Math.min(...this.#parts.readers.map((reader) => reader.earliestDeadline));
    const until = Math.min(due, patience, at + checkEveryMs);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.max(0, Math.ceil(until - at)));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = () => {};
  }
}
