/**
 * The thread that syncs, so that no other one has to. Entry point of a worker; `journal-writer.ts` starts it.
 *
 * What arrived while a commit was on its way shares the next one. Questions are answered between commits, in pieces.
 * A bug here ends the thread, and with it the process.
 */
import { type MessagePort, parentPort, receiveMessageOnPort } from 'node:worker_threads';
import { invariant } from '#shared/invariant.ts';
import { unreachable } from '#shared/unreachable.ts';
import { type StoreFault, storeFault } from '../store/store-fault.ts';
import { tidyAfterStart } from '../system/after-start.ts';
import { answerQuestion } from './answer-question.ts';
import { type Claims, take } from './claims.ts';
import { JournalService } from './journal-service.ts';
import { entryOf } from './read-entries.ts';
import type {
  FaultMessage,
  FromThread,
  JournalOrder,
  JournalThreadOptions,
  Operation,
  Question,
  ToThread,
} from './thread-message.ts';

const headEveryMs = 60_000;
const probeEveryMs = 1_000;
/** Entries in one commit; what is more waits for the next, so that the first of many does not wait for all. */
const draftsPerCommit = 512;

class JournalLoop {
  readonly #port: MessagePort;
  readonly #claims: Claims;
  readonly #service: JournalService;
  readonly #timers: readonly NodeJS.Timeout[];
  #queue: Operation[] = [];
  #isFollowed = false;
  #isResting = false;

  /** @throws StoreFault if the files must be left alone. */
  constructor(port: MessagePort, options: JournalThreadOptions, claims: Claims) {
    this.#port = port;
    this.#claims = claims;
    const listener = {
      onCommitted: (rows: Parameters<typeof entryOf>[0][]) => {
        if (this.#isFollowed) this.#post({ kind: 'entries', entries: rows.map(entryOf) });
      },
      onCondition: (condition: JournalService['condition']) => this.#post({ kind: 'condition', condition }),
      onReopened: (report: JournalService['stores']['report']) => this.#post({ kind: 'reopened', report }),
    };
    this.#service = new JournalService(options, listener, Date.now());
    this.#timers = [
      setInterval(() => this.#service.signHead(), headEveryMs),
      setInterval(() => this.#service.probe(Date.now()), probeEveryMs),
    ];
  }

  start(): void {
    this.#port.on('message', (first: ToThread) => {
      this.#receive(first);
      let next = receiveMessageOnPort(this.#port);
      while (next) {
        if (this.#queuedDrafts() >= draftsPerCommit) this.#commitQueue();
        this.#receive(next.message);
        next = receiveMessageOnPort(this.#port);
      }
      this.#commitQueue();
    });
    this.#post({ kind: 'opened', report: this.#service.stores.report, condition: this.#service.condition });
    this.#rest();
  }

  #receive(message: ToThread): void {
    switch (message.kind) {
      case 'commit':
        this.#queue.push(...message.operations);
        return;
      case 'follow':
        this.#isFollowed = message.isOn;
        return;
      case 'ask':
        // Whoever asks sees what was handed over before.
        this.#commitQueue();
        void this.#answer(message.ask, message.question);
        return;
      default:
        unreachable(message);
    }
  }

  #queuedDrafts(): number {
    return this.#queue.reduce((count, operation) => count + operation.drafts.length, 0);
  }

  #commitQueue(): void {
    if (this.#queue.length === 0) return;
    const skipped: number[] = [];
    const operations = this.#queue.filter(({ op }) => {
      const isTaken = take(this.#claims, op);
      if (!isTaken) skipped.push(op);
      return isTaken;
    });
    this.#queue = [];
    const done = operations.length > 0 ? this.#service.commit(operations) : [];
    this.#post({ kind: 'committed', done: done ?? [], skipped });
    if (!done) {
      this.#post({ kind: 'refused', ops: operations.map(({ op }) => op), state: this.#service.condition.state });
    }
    this.#rest();
  }

  async #answer(ask: number, question: Question): Promise<void> {
    try {
      const value = await answerQuestion(this.#service, question, () => new Promise((resume) => setImmediate(resume)));
      this.#post({ kind: 'answer', ask, value });
    } catch (error) {
      const fault = storeFault(error, '');
      if (!fault) throw error;
      this.#post({ kind: 'fault', ask, fault: faultMessage(fault) });
    }
    if (question.kind === 'close') this.#end();
    else this.#rest();
  }

  /** Does what can wait, a piece at a time, for as long as there is something. */
  #rest(): void {
    if (this.#isResting) return;
    this.#isResting = true;
    setImmediate(() => {
      this.#isResting = false;
      if (this.#service.rest()) this.#rest();
    });
  }

  #end(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#port.close();
  }

  #post(message: FromThread): void {
    this.#port.postMessage(message);
  }
}

const faultMessage = ({ code, path, message }: StoreFault): FaultMessage => ({ code, path, message });

function run(port: MessagePort, given: JournalOrder): void {
  try {
    new JournalLoop(port, given.options, given.claims).start();
  } catch (error) {
    const fault = storeFault(error, given.options.directory);
    if (!fault) throw error;
    port.postMessage({ kind: 'not-opened', fault: faultMessage(fault) } satisfies FromThread);
    port.close();
  }
}

invariant(parentPort, 'the journal thread is a worker');
tidyAfterStart();
const port = parentPort;
port.once('message', (order: JournalOrder) => run(port, order));
