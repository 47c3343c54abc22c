/** Walks the journal file in a thread of its own, so that no decision waits for it. Entry point of a worker. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { invariant } from '#shared/invariant.ts';
import { type JournalVerdict, verifyJournal } from '../journal/verify-journal.ts';
import { storeFault } from '../store/store-fault.ts';

export interface VerifyTask {
  readonly path: string;
  readonly firstKey: Uint8Array;
  readonly masterKey: Uint8Array;
}

export type VerifyAnswer = { readonly verdict: JournalVerdict } | { readonly fault: string };

function answer(port: MessagePort, task: VerifyTask): void {
  port.postMessage(verify(task));
  port.close();
}

function verify({ path, firstKey, masterKey }: VerifyTask): VerifyAnswer {
  try {
    return { verdict: verifyJournal(path, firstKey, { masterKey }) };
  } catch (error) {
    const fault = storeFault(error, path);
    if (!fault) throw error;
    return { fault: `${fault.code}: ${fault.message}` };
  }
}

invariant(parentPort, 'the verifying thread is a worker');
answer(parentPort, workerData);
