/**
 * The line to the journal thread: starts it, posts to it, matches answers with questions.
 *
 * An error in the thread is a bug and is thrown where nobody catches it: a gateway without its journal must not run on.
 */
import { Worker } from 'node:worker_threads';
import { invariant } from '#shared/invariant.ts';
import { StoreFault } from '../store/store-fault.ts';
import { type Claims, createClaims } from './claims.ts';
import type {
  AnswerTo,
  FaultMessage,
  FromThread,
  JournalOrder,
  JournalThreadOptions,
  Question,
  QuestionKind,
  ToThread,
} from './thread-message.ts';

/** What the thread says of itself, unasked. */
export type News = Exclude<FromThread, { kind: 'answer' | 'fault' | 'not-opened' | 'opened' }>;
export type Opened = Extract<FromThread, { kind: 'opened' }>;

interface Asked {
  readonly resolve: (value: unknown) => void;
  readonly reject: (fault: StoreFault) => void;
}

/** More questions than this are never open; who asks more has a bug. */
const questionsMax = 1_024;

/**
 * Begins the thread. Most of what an opening takes is the thread's own start, which needs to know nothing yet: whoever is
 * in a hurry begins it first. Until it is told what to open, it keeps no process alive.
 */
export function startJournalThread(entry: URL): Worker {
  const worker = new Worker(entry, { name: 'journal' });
  worker.unref();
  return worker;
}

export class JournalLink {
  readonly claims: Claims;
  readonly #worker: Worker;
  readonly #asked = new Map<number, Asked>();
  #nextAsk = 1;
  #onNews: (news: News) => void = () => undefined;
  #isClosing = false;

  /** @param worker begun, and not told yet what it shall open. */
  constructor(worker: Worker, options: JournalThreadOptions) {
    this.claims = createClaims();
    this.#worker = worker;
    this.#worker.ref();
    this.#worker.postMessage({ options, claims: this.claims } satisfies JournalOrder);
    this.#worker.on('error', (error) => {
      throw error;
    });
  }

  /** @returns what the thread found. @throws StoreFault if a file must be left alone; the thread is then gone. */
  opened(): Promise<Opened> {
    return new Promise((resolve, reject) => {
      this.#worker.once('message', (first: FromThread) => {
        if (first.kind === 'not-opened') reject(faultOf(first.fault));
        else {
          invariant(first.kind === 'opened', 'the thread first says what it found');
          this.#worker.on('message', (message: FromThread) => this.#receive(message));
          this.#worker.on('exit', () => invariant(this.#isClosing, 'the journal thread ends only when it is told to'));
          resolve(first);
        }
      });
    });
  }

  listen(onNews: (news: News) => void): void {
    this.#onNews = onNews;
  }

  post(message: ToThread): void {
    this.#worker.postMessage(message);
  }

  /** @throws StoreFault */
  ask<Kind extends QuestionKind>(question: Question<Kind>): Promise<AnswerTo<Kind>> {
    invariant(this.#asked.size < questionsMax, `at most ${questionsMax} questions are open at the journal`);
    const ask = this.#nextAsk;
    this.#nextAsk += 1;
    return new Promise((resolve, reject) => {
      this.#asked.set(ask, { resolve: (value) => resolve(value as AnswerTo<Kind>), reject });
      // A question of one kind is one of all kinds; the compiler cannot see it through the parameter.
      this.post({ kind: 'ask', ask, question: question as Question });
    });
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
    await this.ask({ kind: 'close' });
    await ended;
  }

  #receive(message: FromThread): void {
    if (message.kind === 'answer' || message.kind === 'fault') {
      const asked = this.#asked.get(message.ask);
      this.#asked.delete(message.ask);
      if (message.kind === 'answer') asked?.resolve(message.value);
      else asked?.reject(faultOf(message.fault));
      return;
    }
    invariant(message.kind !== 'opened' && message.kind !== 'not-opened', 'the thread opens once');
    this.#onNews(message);
  }
}

const faultOf = ({ code, path, message }: FaultMessage): StoreFault => new StoreFault(code, path, message);
