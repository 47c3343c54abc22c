/**
 * The demonstration (`npm start`): Kannuki House, its readers, locks and doors as processes of their own, the gateway that
 * decides for them, and the cloud from which it knows people. A live log in plain words, and the doors' states below it.
 *
 * Everything it starts ends with it, also when it is killed. Its data stays in its folder for the next start.
 */
import { readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { facilityTime } from '#gateway/cli/facility-time.ts';
import type { ControlClient } from '#gateway/control/edge-side.ts';
import { entryWords } from '#gateway/control/entry-words.ts';
import { ControlRefusal } from '#gateway/control/messages.ts';
import type { DoorStatus, FollowItem, StatusReport } from '#gateway/control/replies.ts';
import { type Operator, openApi } from './demo-api.ts';
import { type DemoCloud, demoOperator, farDatabase, operatorFile, startCloud } from './demo-cloud.ts';
import { enrolGateway } from './demo-enrol.ts';
import { type DemoGateway, startEdge, startGateway } from './demo-gateway.ts';
import { claimHome, type DemoHome, demoHome, prepareKeys, writeConfig } from './demo-home.ts';
import { openLink } from './demo-link.ts';
import { type DemoArguments, demoArguments, runDemoCommand } from './demo-options.ts';
import { drawDoors } from './demo-picture.ts';
import { openScreen, type Screen } from './demo-screen.ts';
import { finishSetUp, hasSetUp, readDemoFacility, setUpFacility } from './demo-set-up.ts';
import { openDemoSite, readDemoSite } from './demo-site.ts';
import { type DemoWords, demoWords } from './demo-words.ts';

const usage = `npm start -- [options]

  --dir DIR         where the demonstration keeps its state (default: .demo)
  --fresh           forget everything and start anew
  --language en|ja  (default: from LANG)
  --json            one JSON object a line, for programs`;

const readersWithinMs = 15_000;

interface Demo {
  readonly options: DemoArguments;
  readonly words: DemoWords;
  readonly home: DemoHome;
  readonly ended: AbortController;
}

/** The lock is this process's own and stays. */
function forget(home: DemoHome): void {
  for (const name of readdirSync(home.dir)) {
    if (name !== 'lock' && name !== 'compiled') rmSync(join(home.dir, name), { recursive: true, force: true });
  }
  rmSync(dirname(farDatabase(home)), { recursive: true, force: true });
}

async function runDemo(demo: Demo): Promise<number> {
  const { words } = demo;
  const screen = openScreen(process.stdout);
  const parts = new AsyncDisposableStack();
  try {
    const house = await openHouse(demo, screen, parts);
    const how = await untilOver(demo, screen, house);
    screen.picture([]);
    if (!demo.ended.signal.aborted) console.error(how);
    else if (!demo.options.isJson) screen.line(words.stopping);
    return demo.ended.signal.aborted ? 0 : 1;
  } finally {
    await parts.disposeAsync();
  }
}

/** Shows what happens until somebody ends it, or a part of it ends by itself. @returns which. */
function untilOver(demo: Demo, screen: Screen, { gateway, cloud, status }: House): Promise<string> {
  const { words, home } = demo;
  return Promise.race([
    gateway.ended.then((how) => words.partEnded('gateway', how, home.logFile)),
    cloud.ended.then((how) => words.partEnded('cloud', how, home.cloudLogFile)),
    aborted(demo.ended.signal),
    followDoors(demo, screen, gateway.client, status),
  ]);
}

type Progress = (step: string) => void;

interface House {
  readonly cloud: DemoCloud;
  readonly gateway: DemoGateway;
  readonly status: StatusReport;
}

/** The cloud and the house beside each other: neither needs the other. */
async function openParts({ home, words }: Demo, progress: Progress, parts: AsyncDisposableStack) {
  const site = readDemoSite();
  prepareKeys(home, site);
  progress(words.progress.cloud);
  const starting = startCloud(home);
  progress(words.progress.site);
  const [running, cloud] = await Promise.allSettled([openDemoSite(home, site), starting]);
  // What did open is closed, also where the other did not.
  if (running.status === 'fulfilled') parts.defer(() => running.value.close());
  if (cloud.status === 'fulfilled') parts.defer(() => cloud.value.stop());
  if (running.status === 'rejected') throw running.reason;
  if (cloud.status === 'rejected') throw cloud.reason;
  return { site, running: running.value, cloud: cloud.value };
}

/** Opens everything, says how far it is, and leaves it to `parts` to close in the reverse order. */
async function openHouse(demo: Demo, screen: Screen, parts: AsyncDisposableStack): Promise<House> {
  const { words, home, options } = demo;
  const progress = progressOf(demo, screen);
  const began = performance.now();
  progress(words.progress.keys);
  const { site, running, cloud } = await openParts(demo, progress, parts);
  const link = await openLink(home, cloud.port, (isCut) => sayLink(demo, screen, isCut));
  parts.defer(() => link.close());
  writeConfig(home, site, { lines: running.ports, cloud: link.port }, options.language);
  progress(words.progress.gateway);
  const gateway = await startGateway(home);
  parts.defer(() => gateway.stop());
  await started(gateway, demo.ended.signal);
  const operator = await enrolled(demo, { cloud, gateway, progress });
  const edge = startEdge(home);
  parts.defer(() => edge.stop());
  progress(words.progress.replica);
  const status = await readersOnLine(gateway.client, demo.ended.signal);
  const seconds = Number(((performance.now() - began) / 1000).toFixed(1));
  const pids = [gateway.pid, edge.pid, cloud.pid, ...running.pids()];
  sayReady(demo, screen, { status, seconds, pids, cloudUrl: cloud.url, operator });
  return { cloud, gateway, status };
}

interface Joining {
  readonly cloud: DemoCloud;
  readonly gateway: DemoGateway;
  readonly progress: Progress;
}

/** At the first start: the facility is put into the cloud, and the gateway into the facility. */
async function enrolled({ home, words }: Demo, { cloud, gateway, progress }: Joining): Promise<Operator> {
  const isSetUp = hasSetUp(home);
  if (!isSetUp) progress(words.progress.people);
  const operator = await demoOperator(home, readDemoFacility().facility);
  if (isSetUp) return operator;
  const api = await openApi(cloud.url, operator);
  await setUpFacility(home, api);
  progress(words.progress.enrolment);
  await enrolGateway(home, api, gateway.client);
  finishSetUp(home);
  return operator;
}

function sayLink({ options, words }: Demo, screen: Screen, isCut: boolean): void {
  screen.line(options.isJson ? JSON.stringify({ kind: 'link', isCut }) : words.link(isCut));
}

function progressOf(demo: Demo, screen: Screen): Progress {
  const began = performance.now();
  return (step) => {
    const ms = Math.round(performance.now() - began);
    if (demo.options.isJson) screen.line(JSON.stringify({ kind: 'progress', step, ms }));
    else screen.line(`${String((ms / 1000).toFixed(1)).padStart(5)} s  ${step}`);
  };
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
    await new Promise((done) => setTimeout(done, 50));
  }
}

interface Ready {
  readonly status: StatusReport;
  /** Since the start. */
  readonly seconds: number;
  /** Of everything that was started. */
  readonly pids: readonly number[];
  readonly cloudUrl: string;
  readonly operator: Operator;
}

function sayReady(demo: Demo, screen: Screen, ready: Ready): void {
  const { operator, ...shown } = ready;
  if (demo.options.isJson) {
    const { facility } = operator;
    screen.line(JSON.stringify({ kind: 'ready', dir: demo.home.dir, facility, ...shown }));
    return;
  }
  screen.line('');
  screen.line(demo.words.ready(ready.status.facility?.name ?? '', ready.seconds));
  screen.line('');
  const width = Math.max(...demo.words.tryNext.map(([command]) => command.length));
  for (const [command, what] of demo.words.tryNext) screen.line(`  ${command.padEnd(width)}   ${what}`);
  screen.line('');
  for (const line of demo.words.cloudAt(ready.cloudUrl, operator.email, operatorFile(demo.home)))
    screen.line(`  ${line}`);
  screen.line('');
}

/** Shows what happens until the stream ends; resolves with why it did. */
function followDoors(demo: Demo, screen: Screen, client: ControlClient, status: StatusReport): Promise<string> {
  const { language, isJson } = demo.options;
  const doors = new Map<string, DoorStatus>(inSiteOrder(status.doors).map((door) => [door.id, door]));
  const redraw = () => {
    if (isJson) return;
    const style = { language, hasColour: screen.isTty, width: screen.width() };
    screen.picture(drawDoors([...doors.values()], style));
  };
  redraw();
  process.stdout.on('resize', redraw);
  const onItem = (raw: unknown) => {
    const item = raw as FollowItem;
    if (item.kind === 'door') doors.set(item.door.id, item.door);
    if (isJson) screen.line(JSON.stringify(item));
    else if (item.kind === 'door') redraw();
    else screen.line(`${facilityTime(item.view.entry.at, status.facility?.zone)}  ${entryWords(item.view, language)}`);
  };
  return client.call('follow', { newest: 0 }, { onItem }).then(
    () => 'the stream ended',
    (error: Error) => error.message,
  );
}

function inSiteOrder(doors: readonly DoorStatus[]): readonly DoorStatus[] {
  const order = readDemoSite().doors.map((door): string => door.id);
  return doors.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

const aborted = (signal: AbortSignal): Promise<string> =>
  new Promise((done) => {
    if (signal.aborted) done('stopped');
    signal.addEventListener('abort', () => done('stopped'), { once: true });
  });

await runDemoCommand(async () => {
  const options = demoArguments(usage, { fresh: { type: 'boolean' } });
  const words = demoWords(options.language);
  const home = demoHome(options.dir);
  const claim = claimHome(home);
  if ('heldBy' in claim) {
    console.error(words.running(claim.heldBy, home.dir));
    return 1;
  }
  const ended = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended.abort());
  try {
    if (options.flags['fresh'] === true) forget(home);
    return await runDemo({ options, words, home, ended });
  } finally {
    claim.release();
  }
});
