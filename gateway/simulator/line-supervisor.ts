/**
 * Keeps the process of one simulated line running, on the same port, until it is closed.
 *
 * A line process that dies is started again; calls that waited for it are refused, none is repeated.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { FromLine, LineAnswer, LineAssignment, ToLine } from './line-message.ts';
import type { SiteCall } from './site-call.ts';
import type { Site } from './site-file.ts';
import { SiteRefusal } from './site-refusal.ts';
import type { SiteEvent } from './site-report.ts';

const restartAfterMs = 500;
const callWithinMs = 5_000;
const endWithinMs = 2_000;
const program = fileURLToPath(new URL('./line-process.ts', import.meta.url));

export interface SupervisedLine {
  readonly port: number | null;
  readonly pid: () => number | undefined;
  /** @throws SiteRefusal */
  perform(call: SiteCall): Promise<LineAnswer>;
  close(): Promise<void>;
}

export interface Surroundings {
  readonly report: (event: SiteEvent) => void;
  /** Environment of the line's process; by default this process's. */
  readonly env: NodeJS.ProcessEnv | undefined;
}

interface Waiting {
  readonly done: (answer: LineAnswer) => void;
  readonly fail: (error: Error) => void;
}

/** @throws Error saying why the line cannot be opened. */
export async function superviseLine(assignment: LineAssignment, surroundings: Surroundings): Promise<SupervisedLine> {
  const { report } = surroundings;
  const waiting = new Map<number, Waiting>();
  let isClosed = false;
  let nextId = 1;
  const start = (assigned: LineAssignment) => startLine(assigned, waiting, surroundings);
  const first = await start(assignment);
  let child = first.child;
  const kept = onPort(assignment, first.port);
  const revive = async () => {
    for (const call of waiting.values()) call.fail(new SiteRefusal('CLOSED', `line ${assignment.line} stopped`));
    waiting.clear();
    if (isClosed) return;
    report(faulted(assignment.line, 'its process ended; starting it again'));
    await new Promise((done) => setTimeout(done, restartAfterMs));
    if (isClosed) return;
    try {
      ({ child } = await start(kept));
    } catch (error) {
      report(faulted(assignment.line, error instanceof Error ? error.message : String(error)));
    }
    child.once('exit', () => void revive());
  };
  child.once('exit', () => void revive());
  return {
    port: first.port,
    pid: () => child.pid,
    perform: (call) =>
      new Promise((done, fail) => {
        const id = nextId++;
        const deadline = setTimeout(() => {
          waiting.delete(id);
          fail(new SiteRefusal('CLOSED', `line ${assignment.line} does not answer`));
        }, callWithinMs);
        const settle =
          <Value>(with_: (value: Value) => void) =>
          (value: Value) => {
            clearTimeout(deadline);
            with_(value);
          };
        waiting.set(id, { done: settle(done), fail: settle(fail) });
        tell(child, { kind: 'call', id, call });
      }),
    close: async () => {
      isClosed = true;
      await endChild(child);
    },
  };
}

function faulted(subject: string, detail: string): SiteEvent {
  return { at: new Date().toISOString(), subject, what: 'faulted', detail };
}

function onPort(assignment: LineAssignment, port: number | null): LineAssignment {
  const withPort = (line: Site['lines'][number]) =>
    line.id === assignment.line && port !== null ? { ...line, wire: { port } } : line;
  return { ...assignment, site: { ...assignment.site, lines: assignment.site.lines.map(withPort) } };
}

function tell(child: ChildProcess, message: ToLine): void {
  if (child.connected) child.send(message);
}

function startLine(
  assignment: LineAssignment,
  waiting: Map<number, Waiting>,
  { report, env }: Surroundings,
): Promise<{ readonly child: ChildProcess; readonly port: number | null }> {
  const child = fork(program, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
    ...(env === undefined ? {} : { env }),
  });
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('exit', (code) => fail(new Error(`line ${assignment.line}: its process ended with ${code}`)));
    child.on('message', (raw) => {
      const message = raw as FromLine;
      if (message.kind === 'opened') done({ child, port: message.port });
      else if (message.kind === 'failed') {
        fail(new Error(`line ${assignment.line}: ${message.detail}`));
        child.disconnect();
      } else if (message.kind === 'event') report(message.event);
      else settle(waiting, message);
    });
    tell(child, { kind: 'open', assignment });
  });
}

function settle(waiting: Map<number, Waiting>, message: Extract<FromLine, { readonly id: number }>): void {
  const call = waiting.get(message.id);
  waiting.delete(message.id);
  if (message.kind === 'answer') call?.done(message.answer);
  else call?.fail(new SiteRefusal('BAD_REQUEST', message.detail));
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  const impatience = setTimeout(() => child.kill('SIGKILL'), endWithinMs);
  await ended;
  clearTimeout(impatience);
}
