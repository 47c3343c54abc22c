/**
 * The gateway of the demonstration: its two processes, started, waited for and stopped like any others.
 *
 * Their log goes to a file; when it does not start, the end of that file says why. It never outlives the demonstration.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type ControlClient, connectControl } from '#gateway/control/edge-side.ts';
import { leanAllocator } from '#gateway/system/lean-allocator.ts';
import { type DemoHome, withCompileCache, withParent } from './demo-home.ts';
import { UsageProblem } from './demo-options.ts';

const answersWithinMs = 60_000;
const stopsWithinMs = 8_000;
const withSteppedClock = ['--import', fileURLToPath(new URL('./demo-stepped-clock.ts', import.meta.url))];

export interface DemoGateway {
  readonly client: ControlClient;
  readonly pid: number;
  /** Resolves when its process has ended, with how. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** @throws UsageProblem with the end of the gateway's log if it ends or does not answer in time. */
export async function startGateway(home: DemoHome, program: string): Promise<DemoGateway> {
  const other = await connectControl(home.adminSocket).catch(() => undefined);
  if (other !== undefined) {
    other.close();
    throw new UsageProblem(
      `Another gateway already answers at ${home.adminSocket}. Stop it, or give --dir <another folder>.`,
    );
  }
  rmSync(home.clockFile, { force: true });
  const log = openSync(home.logFile, 'a', 0o600);
  const child = spawn(
    process.execPath,
    [...withParent, ...withSteppedClock, program, 'door', '--config', home.configFile],
    {
      stdio: ['ignore', log, log, 'ipc'],
      env: { ...leanAllocator, ...withCompileCache(home), KANNUKI_DEMO_CLOCK: home.clockFile },
    },
  );
  closeSync(log);
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? `exit code ${code}`));
  const client = await answering(home, child);
  return { client, pid: child.pid ?? 0, ended, stop: () => stop(child, client, ended) };
}

export interface DemoEdge {
  readonly pid: number;
  stop(): Promise<void>;
}

/** The process that speaks with the cloud. Doors do not need it. */
export function startEdge(home: DemoHome, program: string): DemoEdge {
  const log = openSync(home.logFile, 'a', 0o600);
  const child = spawn(process.execPath, [...withParent, program, 'edge', '--config', home.configFile], {
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...leanAllocator, ...withCompileCache(home) },
  });
  closeSync(log);
  const ended = once(child, 'exit');
  return { pid: child.pid ?? 0, stop: () => end(child, ended) };
}

async function answering(home: DemoHome, child: ChildProcess): Promise<ControlClient> {
  const end = performance.now() + answersWithinMs;
  while (child.exitCode === null && child.signalCode === null && performance.now() < end) {
    try {
      return await connectControl(home.adminSocket);
    } catch {
      await pause(25);
    }
  }
  child.kill('SIGKILL');
  const tail = readFileSync(home.logFile, 'utf8').trimEnd().split('\n').slice(-12);
  throw new UsageProblem(`The gateway does not start. The end of ${home.logFile}:\n${tail.join('\n')}`);
}

async function stop(child: ChildProcess, client: ControlClient, ended: Promise<string>): Promise<void> {
  client.close();
  await end(child, ended);
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const impatience = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs);
  await ended;
  clearTimeout(impatience);
}
