/**
 * The edge process, wired: the internet on one side, the door process's socket on the other, nothing of its own between.
 *
 * It waits for whatever is not there yet (the door process, an enrolment, an address) and begins again when one goes away.
 */
import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from './config.ts';
import { type ControlClient, ControlLost, connectControl } from './control/edge-side.ts';
import { ControlRefusal } from './control/messages.ts';
import type { EnrolmentReply } from './control/sync-replies.ts';
import { createEdgeClock, type EdgeClock } from './sync/edge-clock.ts';
import { readCloudAddress, takeEdgeKey } from './sync/edge-folder.ts';
import { watchLink } from './sync/link-watch.ts';
import type { RelayPorts } from './sync/relay.ts';
import { runSync } from './sync/run-sync.ts';
import { transportToken } from './sync/transport-token.ts';
import { type CloudAddress, Uplink } from './sync/uplink.ts';
import type { Logger } from './system/logger.ts';
import { monotonicNow } from './system/monotonic.ts';
import { newsFilter } from './system/news-filter.ts';

export interface EdgeRun {
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** For what is not there yet: soon at first, since both processes of a gateway start together. */
const waitMs = { first: 50, longest: 1_000 };
const sameNewsEveryMs = 3_600_000;

/** Runs until the signal. @throws a fault of edge's own folder. */
export async function runEdge(config: Config, { log, signal }: EdgeRun): Promise<void> {
  const key = takeEdgeKey(config.edgeDir);
  const clock = createEdgeClock(Date.now);
  const isNews = newsFilter(monotonicNow, sameNewsEveryMs);
  const say = (what: string) => {
    if (isNews(what)) log.info(what);
  };
  let wait = waitMs.first;
  while (!signal.aborted) {
    const door = await openDoor(config, say);
    const hasServed = door !== undefined && (await serve({ config, key, clock, log, signal }, door, say));
    await pause(wait, undefined, { signal }).catch(() => {});
    wait = hasServed ? waitMs.first : Math.min(2 * wait, waitMs.longest);
  }
}

async function openDoor(config: Config, say: (what: string) => void): Promise<ControlClient | undefined> {
  try {
    return await connectControl(join(config.runDir, 'edge.sock'));
  } catch (error) {
    if (!(error instanceof ControlLost)) throw error;
    say(`waiting for the door process: ${error.message}`);
    return undefined;
  }
}

interface EdgeParts extends EdgeRun {
  readonly config: Config;
  readonly key: KeyObject;
  readonly clock: EdgeClock;
}

/** As long as this connection to the door process lasts. @returns whether there was something to relay. */
async function serve(parts: EdgeParts, door: ControlClient, say: (what: string) => void): Promise<boolean> {
  const { config, log, signal } = parts;
  const end = () => door.close();
  signal.addEventListener('abort', end, { once: true });
  try {
    const { gateway } = (await door.call('enrolment', {})) as EnrolmentReply;
    const address = config.cloud ?? readCloudAddress(config.edgeDir);
    if (gateway === undefined) say('this gateway belongs to no cloud');
    else if (address === undefined) say('nothing says where the cloud is: set cloud.url in the configuration');
    else {
      await relayFor({ ...parts, gateway, address }, door);
      return true;
    }
  } catch (error) {
    if (!(error instanceof ControlLost || error instanceof ControlRefusal)) throw error;
    log.debug({ err: error }, 'the door process went away');
  } finally {
    signal.removeEventListener('abort', end);
    door.close();
  }
  return false;
}

interface Address extends EdgeParts {
  readonly gateway: string;
  readonly address: CloudAddress;
}

async function relayFor(parts: Address, door: ControlClient): Promise<void> {
  const { key, clock, gateway, address, log, signal } = parts;
  const uplink = new Uplink(address);
  const send: RelayPorts['send'] = async (request) => {
    const { method, path, body } = request;
    const authorization = await transportToken(key, { gateway, method, path, body, at: clock.now() });
    return await uplink.call({ ...request, authorization });
  };
  const cloud = { send, heardTime: (at: number) => clock.heard(at) };
  try {
    await runSync({ door, cloud, now: monotonicNow, log, onLinkUp: watchLink, signal });
  } finally {
    await uplink.close();
  }
}
