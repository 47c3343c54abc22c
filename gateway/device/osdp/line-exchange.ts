/**
 * One question and its answer on a half-duplex line, and an ear for what nobody asked for.
 *
 * Guarantees: one exchange at a time; input is flushed before each; bytes that arrived are looked at before a timeout is
 * declared, so a stalled event loop is not a lost reader; every exchange ends, whatever the line does.
 * Not promised: that the reply is authentic. Only address and sequence are compared here.
 */
import { setImmediate as yieldTurn } from 'node:timers/promises';
import { broadcastAddress, type Frame, mark } from '#protocol/osdp/frame.ts';
import {
  createFrameParser,
  expireFrame,
  type FrameParser,
  type FrameStep,
  parseFrames,
} from '#protocol/osdp/frame-parser.ts';
import type { MonoMs } from '#shared/instant.ts';
import type { Line } from '../line.ts';
import { gapMs, idleMs, transmitMs } from './reply-timing.ts';

/** A timer that fires later than this says that the loop stood still. */
const stallMs = 5;
/** What is then given to bytes that wait in the kernel. */
const stallGraceMs = 25;
const graceMs = 2;
const sequenceBits = 0x03;
/** However a message dribbles in, it is over after this beyond the timeout. */
const longestMessageMs = 1_600;

export interface Question {
  /** SOM to check. */
  readonly bytes: Uint8Array;
  /** From the last byte out to the first byte in, ms. */
  readonly timeoutMs: number;
  readonly address: number;
}

export type Answer =
  | { readonly kind: 'reply'; readonly at: MonoMs; readonly frame: Frame; readonly turnaroundMs: number }
  | { readonly kind: 'no-reply'; readonly at: MonoMs };

export interface ExchangeEar {
  /** Another panel's message. */
  foreign(frame: Frame, at: MonoMs): void;
  echo(): void;
  /** A good reply that answers nothing. */
  stray(): void;
  damaged(count: number): void;
  sent(bytes: Uint8Array, at: MonoMs): void;
}

interface Pending {
  readonly question: Question;
  /** Whole exchange is over by then. */
  readonly endsAt: number;
  readonly settle: (frame: Frame, at: MonoMs) => void;
  leavesAt: number;
  firstByteAt: MonoMs | undefined;
  lastByteAt: number;
  echoesLeft: number;
  /** From our address, but out of sequence: the answer only if no better one comes. */
  doubtful: Answer | undefined;
}

export class LineExchange {
  readonly #line: Line;
  readonly #ear: ExchangeEar;
  readonly #now: () => MonoMs;
  #baud: number;
  #parser: FrameParser = createFrameParser('replies');
  #pending: Pending | undefined;
  #quietSince = Number.NEGATIVE_INFINITY;

  constructor(line: Line, baud: number, ear: ExchangeEar, now: () => MonoMs) {
    this.#line = line;
    this.#baud = baud;
    this.#ear = ear;
    this.#now = now;
  }

  setBaud(baud: number): void {
    this.#baud = baud;
  }

  /** What the line's listener is told goes here. */
  receive(bytes: Uint8Array, at: MonoMs): void {
    this.#quietSince = at;
    if (this.#pending !== undefined) {
      this.#pending.firstByteAt ??= at;
      this.#pending.lastByteAt = at;
    }
    this.#take(parseFrames(this.#parser, bytes), at);
  }

  /** @throws LineFault if the line fails; silence is an answer. */
  async ask(question: Question): Promise<Answer> {
    await this.#rest();
    await this.#line.discardInput();
    this.#parser = createFrameParser('replies');
    const startedAt = this.#now();
    const outMs = transmitMs(question.bytes.length + 1, this.#baud);
    let answer: Answer | undefined;
    let wake = () => {};
    const pending: Pending = {
      question,
      endsAt: startedAt + outMs + question.timeoutMs + longestMessageMs,
      leavesAt: startedAt + outMs,
      firstByteAt: undefined,
      lastByteAt: startedAt,
      echoesLeft: 1,
      doubtful: undefined,
      settle: (frame, at) => {
        this.#pending = undefined;
        const turnaroundMs = Math.max(0, (pending.firstByteAt ?? at) - pending.leavesAt);
        answer = { kind: 'reply', at, frame, turnaroundMs };
        wake();
      },
    };
    this.#pending = pending;
    try {
      await this.#send(question.bytes, startedAt);
      pending.leavesAt = Math.max(pending.leavesAt, this.#now());
      while (answer === undefined) {
        const late = await this.#sleep(this.#nextLook(pending) - this.#now(), (woken) => {
          wake = woken;
        });
        if (answer === undefined && (await this.#isOver(pending, late))) break;
      }
    } finally {
      if (this.#pending === pending) this.#pending = undefined;
      this.#quietSince = Math.max(this.#quietSince, this.#now());
    }
    return answer ?? pending.doubtful ?? { kind: 'no-reply', at: this.#now() };
  }

  async #send(bytes: Uint8Array, at: MonoMs): Promise<void> {
    const marked = new Uint8Array(bytes.length + 1);
    marked[0] = mark;
    marked.set(bytes, 1);
    this.#ear.sent(marked, at);
    await this.#line.write(marked);
  }

  /** Leaves the line two characters of idle after the last byte, ours or theirs. */
  async #rest(): Promise<void> {
    const until = this.#quietSince + idleMs(this.#baud);
    const ms = until - this.#now();
    if (ms >= 1) await this.#sleep(Math.ceil(ms), () => {});
    while (this.#now() < until) await yieldTurn();
  }

  /** While a message is coming in, its gap counts; before its first byte, the timeout. */
  #nextLook(pending: Pending): number {
    const timeout = pending.leavesAt + pending.question.timeoutMs;
    if (this.#parser.held.length === 0) return Math.min(timeout, pending.endsAt);
    return Math.min(pending.lastByteAt + gapMs(this.#line.isBridged), pending.endsAt);
  }

  /** @param lateMs how much later than asked the timer fired. */
  async #isOver(pending: Pending, lateMs: number): Promise<boolean> {
    await this.#sleep(lateMs > stallMs ? stallGraceMs : graceMs, () => {});
    if (this.#pending !== pending) return false;
    const now = this.#now();
    if (now < this.#nextLook(pending)) return false;
    if (this.#parser.held.length > 0) this.#take(expireFrame(this.#parser), now);
    return this.#pending === pending && now >= this.#nextLook(pending);
  }

  #take(step: FrameStep, at: MonoMs): void {
    this.#parser = step.state;
    const { badCheck, badLength, badStructure, expired } = step.drops;
    const damaged = badCheck + badLength + badStructure + expired;
    if (damaged > 0) this.#ear.damaged(damaged);
    for (const frame of step.foreign) this.#hearForeign(frame, at);
    for (const frame of step.frames) this.#hearReply(frame, at);
  }

  #hearForeign(frame: Frame, at: MonoMs): void {
    const pending = this.#pending;
    const isEcho = pending !== undefined && pending.echoesLeft > 0 && isSame(frame.bytes, pending.question.bytes);
    if (!isEcho) {
      this.#ear.foreign(frame, at);
      return;
    }
    pending.echoesLeft -= 1;
    pending.firstByteAt = undefined;
    this.#ear.echo();
  }

  #hearReply(frame: Frame, at: MonoMs): void {
    const pending = this.#pending;
    if (pending === undefined || !isAddressed(frame, pending.question)) this.#ear.stray();
    else if (isInSequence(frame, pending.question)) pending.settle(frame, at);
    else pending.doubtful ??= { kind: 'reply', at, frame, turnaroundMs: 0 };
  }

  /** @returns how much later than asked it ended, ms; less than 0 if woken. */
  #sleep(ms: number, onWake: (wake: () => void) => void): Promise<number> {
    const end = this.#now() + Math.max(0, ms);
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        resolve(this.#now() - end);
      };
      const timer = setTimeout(done, Math.max(0, Math.ceil(ms)));
      onWake(done);
    });
  }
}

function isAddressed(frame: Frame, question: Question): boolean {
  return frame.address === question.address || question.address === broadcastAddress;
}

/** A reader that restarted or is busy answers with sequence 0 whatever was asked. */
function isInSequence(frame: Frame, question: Question): boolean {
  return frame.sequence === ((question.bytes[4] ?? 0) & sequenceBits) || frame.sequence === 0;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
