/** The thread that reads every page. Entry point of a worker; `check-database.ts` starts it. */
import { parentPort, workerData } from 'node:worker_threads';
import type { CheckResult } from './check-database.ts';
import { openDatabase } from './open-database.ts';
import { storeFault } from './store-fault.ts';

parentPort?.postMessage(check(String(workerData)));

function check(path: string): CheckResult {
  try {
    const store = openDatabase({ path, mode: 'read', busyTimeoutMs: 1_000 });
    try {
      const findings = store.prepare<[], string>('PRAGMA quick_check(10)').pluck().all();
      return findings[0] === 'ok' ? { kind: 'sound' } : { kind: 'damaged', findings };
    } finally {
      store.close();
    }
  } catch (error) {
    const fault = storeFault(error, path);
    if (!fault) throw error;
    return { kind: 'unreadable', code: fault.code, detail: fault.message };
  }
}
