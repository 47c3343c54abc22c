/**
 * B6: what a gateway at rest takes of a small machine's memory, beside homebridge, which many such machines run.
 *
 * The shipped bundle as an installation runs it: a door process that holds 100 000 credentials and belongs to a cloud, and
 * its edge process, which waits in a long poll; each has said that it is well, has done what it does after a start
 * (the checks of its files among it), and nobody is at a door. homebridge runs with an empty configuration. All run at the
 * same time; what is read is the kernel's count of resident memory, the median over a few seconds.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ControlClient, connectControl } from '#gateway/control/edge-side.ts';
import type { StatusReport } from '#gateway/control/replies.ts';
import { startIsOverAfterMs } from '#gateway/system/after-start.ts';
import { bundleGateway } from '../../tools/bundle.ts';
import { openPtyPair } from '../fakes/pty-pair.ts';
import { SigningCloud } from '../fakes/signing-cloud.ts';
import { openBenchCloud } from './b3-cloud.ts';
import type { GatewayFolder } from './b5-folder.ts';
import { prepareEnrolledFolder } from './b6-folder.ts';
import type { BenchRow } from './bench-row.ts';

const many = 100_000;
const few = 1_000;
const doors = 64;
/** journal, site, replica. */
const databases = 3;
const withinMs = 60_000;
/** Until what only the start needed was given back, ms. */
const settleMs = startIsOverAfterMs + 5_000;
const samples = 9;
const sampleEveryMs = 500;
const creditedMiB = 10;
const mebibyte = 1024 * 1024;

interface Sizes {
  readonly homebridge: number;
  readonly bare: number;
  readonly door: number;
  readonly edge: number;
  readonly small: number;
}

export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-b6-'));
  const [cable, otherCable] = [await openPtyPair(), await openPtyPair()];
  const signing = new SigningCloud();
  const cloud = await openBenchCloud(signing);
  const children: ChildProcess[] = [];
  const begin = (words: readonly string[]) => {
    const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] });
    child.stderr.resume();
    children.push(child);
    return child;
  };
  try {
    const program = await bundleGateway(join(folder, 'program'));
    const place = (name: string, credentials: number, port: string) =>
      prepareEnrolledFolder({
        folder: join(folder, name),
        cloud: signing,
        url: cloud.url,
        credentials,
        doors,
        isCurrent: true,
        port,
      });
    const [large, small] = [await place('large', many, cable.near), await place('small', few, otherCable.near)];
    const running = {
      homebridge: await beginHomebridge(join(folder, 'homebridge'), children),
      bare: begin(['-e', 'setInterval(() => {}, 1_000)']),
      door: begin([program, 'door', '--config', large.configFile]),
      edge: begin([program, 'edge', '--config', large.configFile]),
      small: begin([program, 'door', '--config', small.configFile]),
    };
    await Promise.all([isAtRest(large, true), isAtRest(small, false)]);
    await pause(settleMs);
    return rowsOf(await sizesOf(running));
  } finally {
    for (const child of children) child.kill('SIGKILL');
    await cloud.close();
    await Promise.all([cable.close(), otherCable.close()]);
    rmSync(folder, { recursive: true, force: true });
  }
}

function rowsOf({ homebridge, bare, door, edge, small }: Sizes): BenchRow[] {
  const peer = `homebridge ${mib(homebridge)} (bare node ${mib(bare)})`;
  const added = door - small;
  const row = (what: string, size: number, limit: number): Omit<BenchRow, 'bar'> => ({
    id: 'B6',
    what,
    figure: mib(size),
    peer,
    ratio: size / homebridge,
    ok: size <= limit,
  });
  return [
    { ...row(`door process at rest, ${counted(many)} credentials`, door, homebridge), bar: '≤ 1.0' },
    {
      ...row('door and edge process at rest', door + edge, 2 * homebridge),
      figure: `${mib(door)} + ${mib(edge)}`,
      bar: '≤ 2.0',
    },
    {
      ...row(`what ${counted(many)} credentials add to ${counted(few)}`, added, creditedMiB * mebibyte),
      peer: `${creditedMiB} MiB`,
      ratio: added / (creditedMiB * mebibyte),
      bar: '≤ 1',
    },
  ];
}

const counted = (count: number): string => count.toLocaleString('en');

async function beginHomebridge(folder: string, children: ChildProcess[]): Promise<ChildProcess> {
  mkdirSync(folder, { recursive: true });
  const bridge = { name: 'Bench', username: 'CC:22:3D:E3:CE:31', port: 51_899, pin: '031-45-154' };
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ bridge, accessories: [], platforms: [] }));
  const package_ = createRequire(import.meta.url).resolve('homebridge/package.json');
  const words = [join(dirname(package_), 'bin', 'homebridge'), '-U', folder, '--no-qrcode', '--no-timestamp'];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const giveUpAt = performance.now() + withinMs;
  while (!said.includes('is running on port')) {
    if (performance.now() > giveUpAt || child.exitCode !== null) throw new Error(`homebridge does not run:\n${said}`);
    await pause(100);
  }
  return child;
}

/** Open, online where it has an edge, and through with the checks of its files. */
async function isAtRest({ adminSocket }: GatewayFolder, hasEdge: boolean): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  let last: unknown;
  while (performance.now() < giveUpAt) {
    try {
      const client: ControlClient = await connectControl(adminSocket);
      const status = (await client.call('status', {})) as StatusReport;
      client.close();
      last = status;
      const isChecked = status.storage.files.length >= databases;
      if (isChecked && (!hasEdge || status.cloud?.uplink === 'online')) return;
    } catch (error) {
      last = error;
    }
    await pause(500);
  }
  throw new Error(`a gateway is not at rest: ${JSON.stringify(last)}`);
}

async function sizesOf(running: Readonly<Record<keyof Sizes, ChildProcess>>): Promise<Sizes> {
  const read: Record<keyof Sizes, number[]> = { homebridge: [], bare: [], door: [], edge: [], small: [] };
  const names = Object.keys(read) as (keyof Sizes)[];
  for (let sample = 0; sample < samples; sample += 1) {
    for (const name of names) read[name].push(residentBytes(running[name]));
    await pause(sampleEveryMs);
  }
  return Object.fromEntries(names.map((name) => [name, median(read[name])])) as unknown as Sizes;
}

/** @throws Error for a process that has ended. */
function residentBytes({ pid }: ChildProcess): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  if (kib === undefined) throw new Error(`process ${pid} is gone`);
  return Number(kib) * 1024;
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const mib = (bytes: number): string => `${(bytes / mebibyte).toFixed(1)} MiB`;

if (import.meta.main) console.table(await run());
