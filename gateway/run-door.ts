/**
 * The door process from its start to its end: answers on its sockets from the first moment, and opens when it can.
 *
 * What it stands on may be missing for a while (a key file, a disk that is full or read-only). Until it is there, no
 * device is opened, `status` names the cause, and it is tried again, without a restart.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { GatewayNews } from './access/gateway-news.ts';
import type { DoorGateway } from './compose-door.ts';
import type { Config } from './config.ts';
import { type Handlers, serveControl } from './control/door-side.ts';
import { ControlRefusal, calls, type Verb } from './control/messages.ts';
import { type HistoryOptions, openHistory } from './open-history.ts';
import { MasterKeyFault } from './site/master-key.ts';
import { StoreFault } from './store/store-fault.ts';
import { readKernelSynchronization } from './system/kernel-time.ts';
import type { Logger } from './system/logger.ts';
import { monotonicNow } from './system/monotonic.ts';
import { newsFilter } from './system/news-filter.ts';
import type { Threads } from './threads.ts';

export interface DoorRun {
  readonly log: Logger;
  readonly threads: Threads;
  readonly signal: AbortSignal;
  /** Begun already, for the first try; see `startJournalThread`. */
  readonly journalThread?: Worker;
}

const ownerOnly = 0o077;
const retryMs = 2_000;
/** What is waited for is said once, and then as often as this. */
const sameNewsEveryMs = 3_600_000;

/** @throws with code CONTROL_SOCKET_IN_USE or DATA_FOLDER_IN_USE where another gateway runs, which does not notice. */
export async function runDoor(config: Config, run: DoorRun): Promise<void> {
  const { log, signal } = run;
  mkdirSync(config.runDir, { recursive: true, mode: 0o755 });
  // Everything made from here on is for the gateway's user alone; the sockets are given their modes one by one.
  process.umask(ownerOnly);
  let handlers = waitingHandlers('starting', 'the gateway is starting');
  const current = currentHandlers(() => handlers);
  const admin = await serveControl(join(config.runDir, 'admin.sock'), 'act', current, log);
  const edge = await serveControl(join(config.runDir, 'edge.sock'), 'look', current, log);
  const isNews = newsFilter(monotonicNow, sameNewsEveryMs);
  const onFault = ({ code, path, message }: MasterKeyFault | StoreFault) => {
    if (isNews(`${code} ${message}`)) log.error({ code, path }, message);
    handlers = waitingHandlers(code, message);
  };
  let gateway: DoorGateway | undefined;
  try {
    gateway = await openGateway(composer(config, run), onFault, signal);
    if (gateway !== undefined) {
      handlers = gateway.handlers;
      log.info('the gateway is open');
      await ended(signal);
    }
  } finally {
    await admin.close();
    await edge.close();
    await gateway?.close();
  }
}

/** The journal and the kernel take their time to answer; most of the program is loaded meanwhile. */
function composer(config: Config, { log, threads, journalThread }: DoorRun): () => Promise<DoorGateway> {
  let thread = journalThread;
  return async () => {
    const news = new GatewayNews(log);
    const onChange: HistoryOptions['onChange'] = (change) => news.takeJournal(change);
    const opening = openHistory(config, { entry: threads.journal, thread, onChange });
    thread = undefined;
    const kernel = config.clock.ntp === 'kernel' ? readKernelSynchronization() : undefined;
    const [history, { composeDoor }] = await Promise.all([opening, import('./compose-door.ts')]);
    return await composeDoor({ config, log, threads, news, history, kernel });
  };
}

/** Tries until it opens or the signal ends it; what cannot pass by waiting is thrown. */
async function openGateway(
  compose: () => Promise<DoorGateway>,
  onFault: (fault: MasterKeyFault | StoreFault) => void,
  signal: AbortSignal,
): Promise<DoorGateway | undefined> {
  while (!signal.aborted) {
    try {
      return await compose();
    } catch (error) {
      if (!(error instanceof MasterKeyFault || error instanceof StoreFault)) throw error;
      onFault(error);
      await pause(retryMs, undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}

/** Each call goes to the handlers of that moment. */
function currentHandlers(now: () => Handlers): Handlers {
  const verbs = Object.keys(calls) as Verb[];
  const entries = verbs.map((verb) => [
    verb,
    (call: never, context: never) => (now()[verb] as (call: never, context: never) => unknown)(call, context),
  ]);
  return Object.fromEntries(entries) as Handlers;
}

/** Every call is refused with the cause, which is also what `doctor` shows. */
function waitingHandlers(code: string, detail: string): Handlers {
  const refuse = () => {
    throw new ControlRefusal(code === 'starting' ? 'UNAVAILABLE' : code, detail);
  };
  return Object.fromEntries(Object.keys(calls).map((verb) => [verb, refuse])) as unknown as Handlers;
}

function ended(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal.aborted) done();
    signal.addEventListener('abort', () => done(), { once: true });
  });
}
