/**
 * What the demonstration shows: how far it is, that it is ready, then a live log in plain words with the doors' states below.
 */
import { facilityTime } from '#gateway/cli/facility-time.ts';
import type { ControlClient } from '#gateway/control/edge-side.ts';
import { entryWords } from '#gateway/control/entry-words.ts';
import type { DoorStatus, FollowItem, StatusReport } from '#gateway/control/replies.ts';
import { type DemoCloud, operatorFile } from './demo-cloud.ts';
import type { DemoHome } from './demo-home.ts';
import { type House, openHouse } from './demo-house.ts';
import type { DemoArguments } from './demo-options.ts';
import { drawDoors } from './demo-picture.ts';
import { bundleInBackground, type DemoPrograms } from './demo-programs.ts';
import { openScreen, type Screen } from './demo-screen.ts';
import { readDemoSite } from './demo-site.ts';
import type { DemoWords } from './demo-words.ts';

export interface Demo {
  readonly options: DemoArguments;
  readonly words: DemoWords;
  readonly home: DemoHome;
  readonly programs: DemoPrograms;
  /** Starting. */
  readonly cloud: Promise<DemoCloud>;
  readonly ended: AbortController;
}

/** Runs until it is ended, or a part of it ends by itself. @returns the exit code. */
export async function runDemo(demo: Demo): Promise<number> {
  const { words, home, programs, options, cloud, ended } = demo;
  const screen = openScreen(process.stdout);
  const parts = new AsyncDisposableStack();
  try {
    const order = { home, programs, language: options.language, words: words.progress, cloud, ended: ended.signal };
    const news = { progress: progressOf(demo, screen), link: (isCut: boolean) => sayLink(demo, screen, isCut) };
    const house = await openHouse(order, news, parts);
    sayReady(demo, screen, house);
    if (!programs.areBundled) parts.defer(bundleInBackground());
    const how = await untilOver(demo, screen, house);
    screen.picture([]);
    if (!ended.signal.aborted) console.error(how);
    else if (!options.isJson) screen.line(words.stopping);
    return ended.signal.aborted ? 0 : 1;
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

function sayLink({ options, words }: Demo, screen: Screen, isCut: boolean): void {
  screen.line(options.isJson ? JSON.stringify({ kind: 'link', isCut }) : words.link(isCut));
}

/** Milliseconds of this process's life. */
function progressOf({ options }: Demo, screen: Screen): (step: string) => void {
  return (step) => {
    const ms = Math.round(performance.now());
    if (options.isJson) screen.line(JSON.stringify({ kind: 'progress', step, ms }));
    else screen.line(`${String((ms / 1000).toFixed(1)).padStart(5)} s  ${step}`);
  };
}

function sayReady(demo: Demo, screen: Screen, house: House): void {
  const { operator, status, cloud, pids } = house;
  const seconds = Number((performance.now() / 1000).toFixed(1));
  if (demo.options.isJson) {
    const { facility } = operator;
    const shown = { dir: demo.home.dir, facility, status, seconds, pids, cloudUrl: cloud.url };
    screen.line(JSON.stringify({ kind: 'ready', ...shown }));
    return;
  }
  screen.line('');
  screen.line(demo.words.ready(status.facility?.name ?? '', seconds));
  screen.line('');
  const width = Math.max(...demo.words.tryNext.map(([command]) => command.length));
  for (const [command, what] of demo.words.tryNext) screen.line(`  ${command.padEnd(width)}   ${what}`);
  screen.line('');
  for (const line of demo.words.cloudAt(cloud.url, operator.email, operatorFile(demo.home))) screen.line(`  ${line}`);
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
