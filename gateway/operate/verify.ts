/** Proves the history of the running gateway, without stopping it and without its keys leaving the process. */
import { Worker } from 'node:worker_threads';
import { ControlRefusal } from '../control/messages.ts';
import { journalPath, journalsSetAside } from '../journal/open-stores.ts';
import { type JournalVerdict, withAside } from '../journal/verify-journal.ts';
import type { DoorProcess } from './door-process.ts';
import type { VerifyAnswer, VerifyTask } from './verify-thread.ts';

export async function verifyHistory(process: DoorProcess, masterKey: Uint8Array, thread: URL): Promise<JournalVerdict> {
  const { archive, dataDir } = process;
  await archive.signHead();
  const task: VerifyTask = { path: journalPath(dataDir), firstKey: archive.report.firstKey, masterKey };
  const answer = await ask(new Worker(thread, { workerData: task }));
  if ('fault' in answer) throw new ControlRefusal('UNAVAILABLE', answer.fault);
  return withAside(answer.verdict, journalsSetAside(task.path));
}

function ask(worker: Worker): Promise<VerifyAnswer> {
  return new Promise((done, fail) => {
    worker.once('message', done);
    worker.once('error', fail);
    worker.once('exit', () => fail(new Error('the verifying thread ended without an answer')));
  });
}
