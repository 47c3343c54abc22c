/**
 * PINs through the slow hash, in a thread of their own, in order, at most so many at once.
 *
 * Guarantees: a bounded queue (`busy` beyond it) and a deadline; a thread that ended or hangs fails what waits for it,
 * and the next PIN begins a new one.
 * Not promised: that a PIN is kept nowhere; it passes through this process's memory.
 */
import { Worker } from 'node:worker_threads';
import type { PinAnswer, PinJob } from './pin-thread.ts';

export interface PinHasher {
  /**
   * @param salt of the facility, hexadecimal.
   * @returns the 32-byte slow hash; rejects with `PinHashFault`.
   */
  hash(digits: string, salt: string): Promise<Uint8Array> | 'busy';
  /** Starts the thread before the first PIN, which would otherwise wait for it. */
  warm(): void;
  close(): Promise<void>;
}

export class PinHashFault extends Error {
  override readonly name = 'PinHashFault';
  readonly code = 'PIN_HASH_FAILED';
}

/** Waiting behind the one that is being hashed. */
export const pinQueueMax = 8;
/** A request is stale after 2 s; a thread that takes longer is not coming back. */
const hashDeadlineMs = 5_000;

interface Waiting {
  readonly resolve: (slowHash: Uint8Array) => void;
  readonly reject: (fault: PinHashFault) => void;
  readonly timer: NodeJS.Timeout;
}

/** @param thread where `pin-thread` is: a source file, or an entry of the bundle. */
export function createPinHasher(thread: URL): PinHasher {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let lastId = 0;

  const fail = (what: string, cause?: unknown) => {
    const ended = worker;
    worker = undefined;
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer);
      reject(new PinHashFault(what, { cause }));
    }
    waiting.clear();
    void ended?.terminate();
  };
  const start = (): Worker => {
    const started = new Worker(thread);
    started.unref();
    started.on('message', ({ id, slowHash }: PinAnswer) => {
      const done = waiting.get(id);
      waiting.delete(id);
      clearTimeout(done?.timer);
      done?.resolve(slowHash);
    });
    started.on('error', (error) => started === worker && fail('the PIN thread failed', error));
    started.on('exit', () => started === worker && fail('the PIN thread ended'));
    return started;
  };
  return {
    hash: (digits, salt) => {
      if (waiting.size > pinQueueMax) return 'busy';
      worker ??= start();
      lastId += 1;
      const job: PinJob = { id: lastId, digits, salt };
      const answer = new Promise<Uint8Array>((resolve, reject) => {
        const timer = setTimeout(() => fail('the PIN thread does not answer'), hashDeadlineMs);
        waiting.set(job.id, { resolve, reject, timer });
      });
      worker.postMessage(job);
      return answer;
    },
    warm: () => {
      worker ??= start();
    },
    close: async () => {
      const ended = worker;
      fail('closing');
      await ended?.terminate();
    },
  };
}
