/** A real gateway process: started, watched through its own sockets, killed or asked to stop. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ControlClient, ControlLost, connectControl } from '#gateway/control/edge-side.ts';
import { ControlRefusal } from '#gateway/control/messages.ts';
import type { DoorStatus, FollowItem, StatusReport } from '#gateway/control/replies.ts';
import type { Entry } from '#gateway/journal/entry.ts';

const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const program = join(project, 'gateway', 'main.ts');
const exitWithParent = join(project, 'tools', 'demo-exit-with-parent.ts');
/** A bound against hanging, on a machine that does much else. */
const answersWithinMs = 60_000;

export interface GatewayPlace {
  readonly configFile: string;
  readonly adminSocket: string;
  readonly logFile: string;
  /** Compiled code is kept here, so that the hundredth start costs less than the first. */
  readonly compileCache: string;
}

export interface GatewayProcess {
  readonly pid: number;
  readonly ended: Promise<string>;
  isGone(): boolean;
  /** What it wrote, log and errors, over all starts in this place. */
  log(): string;
  /** Ends it without a word, and waits until it is gone. */
  kill(): Promise<void>;
  /** Asks it to stop. @returns how it ended. */
  stop(): Promise<string>;
  /** A connection to its admin socket, as soon as that answers. @throws Error if it ends before. */
  connect(): Promise<ControlClient>;
  /** Waits until it works, and watches it from then on. @throws Error if it ends before. */
  open(): Promise<OpenGateway>;
}

export interface OpenGateway {
  readonly client: ControlClient;
  /** Entries that it told as durable, oldest first. */
  readonly seen: readonly Entry[];
  readonly doors: ReadonlyMap<string, DoorStatus>;
  /** Resolves when its connection is lost; by then `seen` holds everything it said. */
  readonly lost: Promise<void>;
  status(): Promise<StatusReport>;
}

export function startGateway(place: GatewayPlace): GatewayProcess {
  const log = openSync(place.logFile, 'a', 0o600);
  const child = spawn(process.execPath, ['--import', exitWithParent, program, 'door', '--config', place.configFile], {
    cwd: project,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, NODE_COMPILE_CACHE: place.compileCache },
  });
  closeSync(log);
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? `exit code ${code}`));
  const isGone = () => child.exitCode !== null || child.signalCode !== null;
  const readLog = () => readFileSync(place.logFile, 'utf8');
  const end = async (signal: NodeJS.Signals) => {
    if (!isGone()) child.kill(signal);
    return await ended;
  };
  const connect = () => connectTo(child, place, readLog);
  return {
    pid: child.pid ?? 0,
    ended,
    isGone,
    log: readLog,
    kill: async () => void (await end('SIGKILL')),
    stop: () => end('SIGTERM'),
    connect,
    open: async () => watch(await openClient(child, connect, readLog)),
  };
}

/** Runs the command line to its end. */
export async function runCommand(...words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [program, ...words], { cwd: project, env: { ...process.env, LANG: 'C' } });
  const text = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    text.out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    text.err += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, ...text };
}

async function connectTo(child: ChildProcess, place: GatewayPlace, log: () => string): Promise<ControlClient> {
  const end = performance.now() + answersWithinMs;
  while (child.exitCode === null && child.signalCode === null) {
    try {
      return await connectControl(place.adminSocket);
    } catch (error) {
      if (!(error instanceof ControlLost) || performance.now() > end) throw error;
      await pause(10);
    }
  }
  throw new Error(`the gateway ended with ${child.signalCode ?? child.exitCode}:\n${log().slice(-2_000)}`);
}

async function openClient(
  child: ChildProcess,
  connect: () => Promise<ControlClient>,
  log: () => string,
): Promise<ControlClient> {
  const client = await connect();
  const end = performance.now() + answersWithinMs;
  for (;;) {
    try {
      await client.call('status', {}, { deadlineMs: answersWithinMs });
      return client;
    } catch (error) {
      const isWaiting = error instanceof ControlRefusal && child.exitCode === null && performance.now() < end;
      if (!isWaiting) throw new Error(`the gateway does not open:\n${log().slice(-2_000)}`, { cause: error });
      await pause(10);
    }
  }
}

function watch(client: ControlClient): OpenGateway {
  const seen: Entry[] = [];
  const doors = new Map<string, DoorStatus>();
  const onItem = (item: unknown) => {
    const news = item as FollowItem;
    if (news.kind === 'entry') seen.push(news.view.entry);
    else doors.set(news.door.id, news.door);
  };
  const lost = client.call('follow', { newest: 100 }, { onItem }).then(
    () => {},
    () => {},
  );
  return {
    client,
    seen,
    doors,
    lost,
    status: async () => (await client.call('status', {}, { deadlineMs: answersWithinMs })) as StatusReport,
  };
}
