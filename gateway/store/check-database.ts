/**
 * Reads every page of a database in the background and says whether it is sound.
 *
 * In a thread of its own with its own connection: neither the door nor the journal waits. It takes as long as it takes
 * (about a second per gigabyte on an SSD, minutes on a card), during which the write-ahead log cannot start over.
 */
import { Worker } from 'node:worker_threads';
import type { StoreFaultCode } from './store-fault.ts';

export type CheckResult =
  | { readonly kind: 'sound' }
  /** What SQLite found, at most ten findings. */
  | { readonly kind: 'damaged'; readonly findings: readonly string[] }
  | { readonly kind: 'unreadable'; readonly code: StoreFaultCode; readonly detail: string };

export interface CheckOptions {
  readonly path: string;
  /** The worker's entry; in a bundle, the file that was built from `check-thread.ts`. */
  readonly entry?: URL;
  readonly signal?: AbortSignal;
}

/** @returns the result; rejects only if `signal` ends it. */
export function checkDatabase(options: CheckOptions): Promise<CheckResult> {
  const entry = options.entry ?? new URL('./check-thread.ts', import.meta.url);
  const { signal, path } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const worker = new Worker(entry, { workerData: path, name: 'check' });
    const abort = (): void => {
      void worker.terminate();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    worker.once('message', resolve);
    worker.once('error', (error) => {
      throw error;
    });
    worker.once('exit', () => signal?.removeEventListener('abort', abort));
  });
}
