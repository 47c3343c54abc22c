/** The demonstration as a user runs it: a process of its own, in a folder of its own, read through its own output. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connectControl } from '#gateway/control/edge-side.ts';
import type { EntryView } from '#gateway/control/entry-view.ts';
import type { DoorStatus, StatusReport } from '#gateway/control/replies.ts';
import { type CloudApi, type Operator, openApi } from '../../tools/demo-api.ts';
import { farDatabase } from '../../tools/demo-cloud.ts';
import { demoHome } from '../../tools/demo-home.ts';
import { swipe } from '../../tools/demo-swipe.ts';
import { waitUntil } from '../fakes/wait-until.ts';

const project = process.cwd();
const startsWithinMs = 200_000;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunningDemo {
  readonly dir: string;
  readonly process: ChildProcess;
  readonly ready: {
    readonly seconds: number;
    readonly pids: readonly number[];
    readonly status: StatusReport;
    readonly cloudUrl: string;
  };
  /** Entries of the live log, oldest first. */
  readonly entries: () => readonly EntryView[];
  readonly doors: () => ReadonlyMap<string, DoorStatus>;
  /** Whether the live log said that the link to the cloud is cut. */
  readonly isCut: () => boolean;
  /** The gateway's, asked at its socket. */
  status(): Promise<StatusReport>;
  /** As the program of that name does. */
  swipe(door: string, ...things: readonly string[]): Promise<readonly EntryView[]>;
  cut(...words: readonly string[]): Promise<Ended>;
  partition(...words: readonly string[]): Promise<Ended>;
  /** The cloud, as its operator. */
  api(): Promise<CloudApi>;
  gateway(...words: readonly string[]): Promise<Ended>;
  stop(): Promise<number | null>;
}

export const demoFolder = (): string => mkdtempSync(join(tmpdir(), 'kannuki-demo-'));
/** With the database that stood elsewhere, where the folder was closed to it. */
export const removeFolder = (dir: string): void => {
  rmSync(dirname(farDatabase(demoHome(dir))), { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
};

const quiet = {
  refused: () => {},
  silence: (reader: string) => {
    throw new Error(`nothing was heard of ${reader}`);
  },
};

/** Runs a program of the project to its end. */
export async function runProgram(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = spawn(process.execPath, words, {
    cwd: project,
    env: { ...process.env, LANG: 'C', LC_ALL: '', ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (text: Buffer) => {
    out += text.toString();
  });
  child.stderr.on('data', (text: Buffer) => {
    err += text.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

/** Resolves when the demonstration says that it is ready. */
export async function startDemo(dir: string): Promise<RunningDemo> {
  const child = spawn(process.execPath, ['tools/demo.ts', '--json', '--dir', dir], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const entries: EntryView[] = [];
  const doors = new Map<string, DoorStatus>();
  let ready: RunningDemo['ready'] | undefined;
  let isCut = false;
  let pending = '';
  child.stdout.on('data', (text: Buffer) => {
    pending += text.toString();
    const lines = pending.split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines) {
      const item = JSON.parse(line) as { kind: string };
      if (item.kind === 'ready') ready = item as unknown as RunningDemo['ready'];
      if (item.kind === 'link') isCut = (item as unknown as { isCut: boolean }).isCut;
      if (item.kind === 'entry') entries.push((item as unknown as { view: EntryView }).view);
      if (item.kind === 'door') {
        const { door } = item as unknown as { door: DoorStatus };
        doors.set(door.id, door);
      }
    }
  });
  await waitUntil(
    'the demonstration to be ready',
    () => ready !== undefined || child.exitCode !== null,
    startsWithinMs,
  );
  if (ready === undefined) throw new Error(`the demonstration ended with ${child.exitCode}`);
  const running = ready;
  const home = demoHome(dir);
  for (const door of ready.status.doors) doors.set(door.id, door);
  const tool = (name: string, words: readonly string[]) =>
    runProgram([`tools/${name}.ts`, '--dir', dir, ...words], { NODE_COMPILE_CACHE: join(dir, 'compiled') });
  return {
    dir,
    process: child,
    ready,
    entries: () => entries,
    doors: () => doors,
    isCut: () => isCut,
    status: async () => {
      const client = await connectControl(home.adminSocket);
      const status = (await client.call('status', {})) as StatusReport;
      client.close();
      return status;
    },
    swipe: async (door, ...things) => {
      const views: EntryView[] = [];
      await swipe(home, { door, things, isOut: false }, { ...quiet, entry: (view) => views.push(view) });
      return views;
    },
    cut: (...words) => tool('cut', words),
    partition: (...words) => tool('partition', words),
    api: () => openApi(running.cloudUrl, readOperator(dir)),
    gateway: (...words) => runProgram(['gateway/main.ts', ...words, '--config', join(dir, 'gateway.yaml')]),
    stop: async () => {
      if (child.exitCode !== null) return child.exitCode;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const [code] = (await ended) as [number | null];
      return code;
    },
  };
}

const readOperator = (dir: string): Operator =>
  JSON.parse(readFileSync(join(dir, 'operator.json'), 'utf8')) as Operator;

/** Whether a process is there and not a corpse. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
