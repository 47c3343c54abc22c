/**
 * A running simulated site: one process a line, a control socket, and a record for each lock.
 *
 * Guarantees: everything it started ends with it, also when it is killed; ports stay the same while it runs.
 * Not promised: that what a fault does to the gateway is undone by healing the fault.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { LineId } from '#shared/identifier.ts';
import { type SupervisedLine, superviseLine } from './line-supervisor.ts';
import type { SiteCall } from './site-call.ts';
import type { Site, SitePeripheral } from './site-file.ts';
import { SiteRefusal } from './site-refusal.ts';
import type { SiteEvent, SiteStatus } from './site-report.ts';
import { serveSite } from './site-socket.ts';

export interface SiteOptions {
  readonly site: Site;
  /** Records, installed keys and the socket go here. */
  readonly stateDir: string;
  /** Relative key files are meant from here. */
  readonly baseDir: string;
  /** Of the line processes; by default this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** That plays a line; by default this build's own. */
  readonly lineProgram?: string;
  readonly onEvent?: (event: SiteEvent) => void;
}

export interface RunningSite {
  /** Port by line; serial lines are absent. */
  readonly ports: ReadonlyMap<LineId, number>;
  readonly socketPath: string;
  /** Of the line processes. */
  readonly pids: () => readonly number[];
  perform(call: SiteCall): Promise<unknown>;
  close(): Promise<void>;
}

export const siteSocketFile = (stateDir: string): string => join(stateDir, 'site.sock');

/** @throws Error saying which key file, line or socket cannot be used. */
export async function openSite(options: SiteOptions): Promise<RunningSite> {
  mkdirSync(options.stateDir, { recursive: true, mode: 0o700 });
  const site = withKeys(options.site, options.baseDir);
  const followers = new Set<(event: SiteEvent) => void>();
  const report = (event: SiteEvent) => {
    options.onEvent?.(event);
    for (const follower of followers) follower(event);
  };
  const lines = await openLines({ ...options, site }, report);
  const perform = (call: SiteCall) => performCall(site, lines, call);
  const closeLines = () => Promise.all([...lines.values()].map((line) => line.close()));
  const socketPath = siteSocketFile(options.stateDir);
  try {
    const socket = await serveSite(socketPath, async (call, emit, gone) => {
      if (call.verb !== 'follow') return await perform(call);
      followers.add(emit);
      await new Promise<void>((done) => gone.addEventListener('abort', () => done(), { once: true }));
      followers.delete(emit);
      return null;
    });
    return {
      ports: new Map([...lines].flatMap(([id, { port }]) => (port === null ? [] : [[id, port] as const]))),
      socketPath,
      pids: () => [...lines.values()].flatMap((line) => line.pid() ?? []),
      perform,
      close: async () => {
        await socket.close();
        await closeLines();
      },
    };
  } catch (error) {
    await closeLines();
    throw error;
  }
}

type Lines = ReadonlyMap<LineId, SupervisedLine>;

async function openLines(options: SiteOptions, report: (event: SiteEvent) => void): Promise<Lines> {
  const { site, stateDir, env, lineProgram: program } = options;
  const opening = site.lines.map(({ id }) => superviseLine({ site, line: id, stateDir }, { report, env, program }));
  const opened = await Promise.allSettled(opening);
  const failed = opened.find((line) => line.status === 'rejected');
  const running = opened.flatMap((line) => (line.status === 'fulfilled' ? [line.value] : []));
  if (failed !== undefined) {
    await Promise.all(running.map((line) => line.close()));
    throw failed.reason;
  }
  return new Map(site.lines.flatMap(({ id }, index) => (running[index] ? [[id, running[index]] as const] : [])));
}

function withKeys(site: Site, baseDir: string): Site {
  const read = (peripheral: SitePeripheral): SitePeripheral => {
    if (typeof peripheral.key === 'string' || 'hex' in peripheral.key) return peripheral;
    const { file } = peripheral.key;
    const hex = readFileSync(isAbsolute(file) ? file : join(baseDir, file), 'utf8').trim();
    if (!/^[0-9a-f]{32}$/i.test(hex)) throw new Error(`${file}: must hold 16 bytes in hexadecimal`);
    return { ...peripheral, key: { hex } };
  };
  return { ...site, peripherals: site.peripherals.map(read) };
}

async function performCall(site: Site, lines: Lines, call: SiteCall): Promise<unknown> {
  if (call.verb === 'status') return await statusOf(lines, call);
  if (call.verb === 'present') {
    await walkUp(site, lines, call);
    return await on(lines, lineOfPeripheral(site, call.arguments.reader)).perform(call);
  }
  return await on(lines, lineOf(site, call)).perform(call);
}

async function statusOf(lines: Lines, call: SiteCall): Promise<SiteStatus> {
  const answers = await Promise.all([...lines.values()].map((line) => line.perform(call)));
  const statuses = answers.filter((answer) => answer !== null);
  return {
    lines: statuses.flatMap((status) => status.lines),
    peripherals: statuses.flatMap((status) => status.peripherals),
    doors: statuses.flatMap((status) => status.doors),
  };
}

/** Who presents at a reader stands at its door before the reader has said a word. */
async function walkUp(site: Site, lines: Lines, call: Extract<SiteCall, { verb: 'present' }>): Promise<void> {
  const { reader, walks, patienceMs } = call.arguments;
  const door = site.doors.find((candidate) => candidate.readers.includes(reader));
  if (!walks || door === undefined) return;
  const line = on(lines, lineOfPeripheral(site, door.strike.peripheral));
  await line.perform({ verb: 'arrive', arguments: { door: door.id, patienceMs } });
}

function lineOf(site: Site, call: Exclude<SiteCall, { verb: 'status' | 'present' | 'follow' }> | SiteCall): LineId {
  if ('door' in call.arguments) {
    const { door: id } = call.arguments;
    const door = site.doors.find((candidate) => candidate.id === id);
    if (door === undefined) throw notFound('door', id, site.doors);
    return lineOfPeripheral(site, door.strike.peripheral);
  }
  if ('peripheral' in call.arguments) return lineOfPeripheral(site, call.arguments.peripheral);
  if ('line' in call.arguments) return call.arguments.line;
  throw new SiteRefusal('BAD_REQUEST', `${call.verb} names nothing of this site`);
}

function lineOfPeripheral(site: Site, id: SitePeripheral['id']): LineId {
  const peripheral = site.peripherals.find((candidate) => candidate.id === id);
  if (peripheral === undefined) throw notFound('peripheral', id, site.peripherals);
  return peripheral.line;
}

function on(lines: Lines, id: LineId): SupervisedLine {
  const line = lines.get(id);
  if (line === undefined)
    throw notFound(
      'line',
      id,
      [...lines.keys()].map((known) => ({ id: known })),
    );
  return line;
}

function notFound(what: string, id: string, known: readonly { readonly id: string }[]): SiteRefusal {
  return new SiteRefusal('NOT_FOUND', `no ${what} '${id}'; ${what}s: ${known.map((one) => one.id).join(', ')}`);
}
