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
const source = new URL('./line-process.ts', import.meta.url);
/** Beside this file as source, beside the program in a bundle. */
const ownProgram = fileURLToPath(
  import.meta.url.endsWith('.ts') ? source : new URL('./line-process.js', import.meta.url),
);

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
  /** Of a line; by default this build's own. */
  readonly program: string | undefined;
}

interface Waiting {
  readonly done: (answer: LineAnswer) => void;
  readonly fail: (error: Error) => void;
}

/** @throws Error saying why the line cannot be opened. */
export async function superviseLine(assignment: LineAssignment, surroundings: Surroundings): Promise<SupervisedLine> {
  const calls: Calls = new Map();
  const first = await startLine(assignment, calls, surroundings);
  const kept = onPort(assignment, first.port);
  const line = new KeptLine(first.child, () => startLine(kept, calls, surroundings), {
    calls,
    tell: (detail) => surroundings.report(faulted(assignment.line, detail)),
    name: assignment.line,
  });
  return {
    port: first.port,
    pid: () => line.pid(),
    perform: (call) => line.perform(call),
    close: () => line.close(),
  };
}

type Calls = Map<number, Waiting>;

interface Kept {
  readonly calls: Calls;
  readonly tell: (detail: string) => void;
  readonly name: string;
}

class KeptLine {
  #child: ChildProcess;
  #isClosed = false;
  #nextId = 1;
  readonly #start: () => Promise<{ readonly child: ChildProcess }>;
  readonly #kept: Kept;
  readonly #keeping: Promise<void>;

  constructor(child: ChildProcess, start: () => Promise<{ readonly child: ChildProcess }>, kept: Kept) {
    this.#child = child;
    this.#start = start;
    this.#kept = kept;
    this.#keeping = this.#keep();
  }

  pid(): number | undefined {
    return this.#child.pid;
  }

  perform(call: SiteCall): Promise<LineAnswer> {
    const id = this.#nextId++;
    const { calls, name } = this.#kept;
    return new Promise((done, fail) => {
      const deadline = setTimeout(() => {
        calls.delete(id);
        fail(new SiteRefusal('CLOSED', `line ${name} does not answer`));
      }, callWithinMs);
      calls.set(id, {
        done: (answer) => {
          clearTimeout(deadline);
          done(answer);
        },
        fail: (error) => {
          clearTimeout(deadline);
          fail(error);
        },
      });
      tell(this.#child, { kind: 'call', id, call });
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await endChild(this.#child);
    await this.#keeping;
  }

  async #keep(): Promise<void> {
    while (!this.#isClosed) {
      await exitOf(this.#child);
      for (const call of this.#kept.calls.values())
        call.fail(new SiteRefusal('CLOSED', `line ${this.#kept.name} stopped`));
      this.#kept.calls.clear();
      if (this.#isClosed) return;
      this.#kept.tell('its process ended; starting it again');
      await this.#startAgain();
    }
  }

  /** As often as it takes. A process that came up while the line was being closed is ended. */
  async #startAgain(): Promise<void> {
    while (!this.#isClosed) {
      await new Promise((done) => setTimeout(done, restartAfterMs));
      if (this.#isClosed) return;
      try {
        ({ child: this.#child } = await this.#start());
        if (this.#isClosed) await endChild(this.#child);
        return;
      } catch (error) {
        this.#kept.tell(error instanceof Error ? error.message : String(error));
      }
    }
  }
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
  waiting: Calls,
  { report, env, program = ownProgram }: Surroundings,
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

function settle(waiting: Calls, message: Extract<FromLine, { readonly id: number }>): void {
  const call = waiting.get(message.id);
  waiting.delete(message.id);
  if (message.kind === 'answer') call?.done(message.answer);
  else call?.fail(new SiteRefusal('BAD_REQUEST', message.detail));
}

async function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function endChild(child: ChildProcess): Promise<void> {
  const ended = exitOf(child);
  if (child.connected) child.disconnect();
  const impatience = setTimeout(() => child.kill('SIGKILL'), endWithinMs);
  await ended;
  clearTimeout(impatience);
}
