/**
 * Everything of the demonstration, opened: the simulated site, the gateway's two processes, the cloud, and the way between.
 *
 * The cloud begins to start before anything else and is waited for last; what is opened is left to the caller to close.
 */
import type { ControlClient } from '#gateway/control/edge-side.ts';
import { ControlRefusal } from '#gateway/control/messages.ts';
import type { StatusReport } from '#gateway/control/replies.ts';
import type { Site } from '#gateway/simulator/site-file.ts';
import type { Language } from '#shared/code.ts';
import { type Operator, openApi } from './demo-api.ts';
import { type DemoCloud, demoOperator } from './demo-cloud.ts';
import { writeConfig } from './demo-config.ts';
import { enrolGateway } from './demo-enrol.ts';
import { type DemoEdge, type DemoGateway, startEdge, startGateway } from './demo-gateway.ts';
import { type DemoHome, prepareKeys } from './demo-home.ts';
import { type DemoLink, openLink } from './demo-link.ts';
import type { DemoPrograms } from './demo-programs.ts';
import { finishSetUp, hasSetUp, readDemoFacility, setUpFacility } from './demo-set-up.ts';
import { openDemoSite, readDemoSite } from './demo-site.ts';
import type { DemoWords } from './demo-words.ts';

const readersWithinMs = 15_000;
const askEveryMs = 50;

export interface HouseOrder {
  readonly home: DemoHome;
  readonly programs: DemoPrograms;
  readonly language: Language;
  readonly words: DemoWords['progress'];
  /** Starting. */
  readonly cloud: Promise<DemoCloud>;
  /** Aborted when the demonstration is to end. */
  readonly ended: AbortSignal;
}

export interface HouseNews {
  readonly progress: (step: string) => void;
  readonly link: (isCut: boolean) => void;
}

export interface House {
  readonly cloud: DemoCloud;
  readonly gateway: DemoGateway;
  readonly status: StatusReport;
  readonly operator: Operator;
  /** Of everything that was started. */
  readonly pids: readonly number[];
}

/** Opens everything, says how far it is, and leaves it to `parts` to close in the reverse order. */
export async function openHouse(order: HouseOrder, news: HouseNews, parts: AsyncDisposableStack): Promise<House> {
  const { home, words } = order;
  parts.defer(async () => (await order.cloud.catch(() => undefined))?.stop());
  news.progress(words.keys);
  const site = readDemoSite();
  prepareKeys(home, site);
  const link = await openLink(
    home,
    order.cloud.then(({ port }) => port),
    news.link,
  );
  parts.defer(() => link.close());
  const [doors, cloud] = await Promise.allSettled([openDoors(order, { site, link, news, parts }), order.cloud]);
  // What did open is closed, also where the other did not.
  if (doors.status === 'rejected') throw doors.reason;
  if (cloud.status === 'rejected') throw cloud.reason;
  const { gateway } = doors.value;
  const operator = await enrolled(order, { cloud: cloud.value, gateway, news });
  const edge = doors.value.edge ?? edgeOf(order, parts);
  news.progress(words.replica);
  const status = await readersOnLine(gateway.client, order.ended);
  const pids = [gateway.pid, edge.pid, cloud.value.pid, ...doors.value.sitePids()];
  return { cloud: cloud.value, gateway, status, operator, pids };
}

interface Opening {
  readonly site: Site;
  readonly link: DemoLink;
  readonly news: HouseNews;
  readonly parts: AsyncDisposableStack;
}

/** What needs no cloud. The edge process comes in by itself where the gateway belongs to the cloud already. */
async function openDoors(order: HouseOrder, { site, link, news, parts }: Opening) {
  const { home, programs, words, language, ended } = order;
  news.progress(words.site);
  const running = await openDemoSite(home, site, programs.line);
  parts.defer(() => running.close());
  writeConfig(home, site, { lines: running.ports, cloud: link.port }, language);
  news.progress(words.gateway);
  const gateway = await startGateway(home, programs.gateway);
  parts.defer(() => gateway.stop());
  const edge = hasSetUp(home) ? edgeOf(order, parts) : undefined;
  await started(gateway, ended);
  news.progress(words.cloud);
  return { gateway, edge, sitePids: () => running.pids() };
}

function edgeOf({ home, programs }: HouseOrder, parts: AsyncDisposableStack): DemoEdge {
  const edge = startEdge(home, programs.gateway);
  parts.defer(() => edge.stop());
  return edge;
}

interface Joining {
  readonly cloud: DemoCloud;
  readonly gateway: DemoGateway;
  readonly news: HouseNews;
}

/** At the first start: the facility is put into the cloud, and the gateway into the facility. */
async function enrolled({ home, words }: HouseOrder, { cloud, gateway, news }: Joining): Promise<Operator> {
  const isSetUp = hasSetUp(home);
  if (!isSetUp) news.progress(words.people);
  const operator = await demoOperator(home, readDemoFacility().facility);
  if (isSetUp) return operator;
  const api = await openApi(cloud.url, operator);
  await setUpFacility(home, api);
  news.progress(words.enrolment);
  await enrolGateway(home, api, gateway.client);
  finishSetUp(home);
  return operator;
}

const statusOf = async (client: ControlClient) => (await client.call('status', {})) as StatusReport;

/** Its sockets answer before its files are open. @throws UsageProblem if it ends instead. */
async function started(gateway: DemoGateway, ended: AbortSignal): Promise<StatusReport> {
  let how: string | undefined;
  void gateway.ended.then((reason) => {
    how = reason;
  });
  for (;;) {
    try {
      return await statusOf(gateway.client);
    } catch (error) {
      const isStarting = error instanceof ControlRefusal && error.code === 'UNAVAILABLE';
      if (!isStarting || ended.aborted || how !== undefined) throw error;
    }
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Waits a while for what the doors must know, for the readers, and until each door’s state is known; what is still missing then is shown by the log as it is. */
async function readersOnLine(client: ControlClient, ended: AbortSignal): Promise<StatusReport> {
  const end = performance.now() + readersWithinMs;
  for (;;) {
    const status = await statusOf(client);
    const isComplete =
      status.facility !== undefined &&
      status.cloud?.contactAgeMs !== 'unknown' &&
      status.devices.every((device) => device.state === 'online') &&
      status.doors.every((door) => door.state !== 'unknown');
    if (isComplete || ended.aborted || performance.now() > end) return status;
    await new Promise((done) => setTimeout(done, askEveryMs));
  }
}
