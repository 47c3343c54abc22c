/**
 * From the start of the shipped program to its first decision, with a small and a large facility.
 *
 * The bundle runs as an installation runs it. It is asked through its own control socket, as soon as that answers, to decide
 * a card by the very rules and rows of a card at the door: what is timed therefore holds everything that a card would wait
 * for but the reader's own start on its line, and the question's way through the socket besides.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ControlClient, connectControl } from '#gateway/control/edge-side.ts';
import type { ExplainReport } from '#gateway/control/replies.ts';
import { environmentWith } from '#gateway/environment.ts';
import { leanAllocator } from '#gateway/system/lean-allocator.ts';
import { identifier } from '#shared/identifier.ts';
import { bundleGateway } from '../../tools/bundle.ts';
import { openPtyPair } from '../fakes/pty-pair.ts';
import { sampleCard } from '../fakes/sample-facility.ts';
import { type GatewayFolder, prepareGatewayFolder } from './b5-folder.ts';
import type { BenchRow } from './bench-row.ts';

const large = 240_000;
const small = 1_000;
const doors = 64;
const rounds = 41;
/** Of which the first are not counted: they fill the compile cache and the kernel's. */
const warmRounds = 3;
const bareBar = 6;
const sizeBar = 1.1;
const askEveryMs = 2;
const answersWithinMs = 60_000;

/** Of one round, ms: one after another, so that what else the machine does falls on all alike. */
interface Round {
  readonly bare: number;
  readonly small: number;
  readonly large: number;
}

export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-b5-'));
  const cable = await openPtyPair();
  try {
    const program = await bundleGateway(join(folder, 'program'));
    const place = (name: string, credentials: number) =>
      prepareGatewayFolder({ folder: join(folder, name), credentials, doors, port: cable.near });
    const [few, many] = [await place('small', small), await place('large', large)];
    const timed: Round[] = [];
    for (let round = 0; round < rounds + warmRounds; round += 1) {
      const times = {
        bare: await timeBare(),
        small: await timeStart(program, few),
        large: await timeStart(program, many),
      };
      if (round >= warmRounds) timed.push(times);
    }
    return rowsOf(timed);
  } finally {
    await cable.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Figures are medians, and so are the ratios: each of a round of its own. */
function rowsOf(timed: readonly Round[]): BenchRow[] {
  const medianOf = (pick: (round: Round) => number): number => median(timed.map(pick));
  const row = (peer: 'bare' | 'small', name: string, bar: number): BenchRow => {
    const ratio = medianOf((round) => round.large / round[peer]);
    return {
      id: 'B5',
      what: `start to first decision, ${large.toLocaleString('en')} credentials, bundled`,
      figure: `${medianOf((round) => round.large).toFixed(0)} ms`,
      peer: `${name} ${medianOf((round) => round[peer]).toFixed(0)} ms`,
      ratio,
      bar: `≤ ${bar}`,
      ok: ratio <= bar,
    };
  };
  return [row('bare', 'bare node', bareBar), row('small', `${small.toLocaleString('en')} credentials`, sizeBar)];
}

async function timeBare(): Promise<number> {
  const began = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - began;
}

async function timeStart(program: string, place: GatewayFolder): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [program, 'door', '--config', place.configFile], {
    stdio: ['ignore', 'ignore', 'pipe'],
    // As `kannuki-gateway run` begins it, and a unit.
    env: environmentWith(leanAllocator),
  });
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  try {
    await firstDecision(child, place);
    return performance.now() - began;
  } catch (cause) {
    throw new Error(`the gateway said:\n${log.slice(-2_000)}`, { cause });
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
}

/** Asks until it is answered. @throws Error if the gateway ends, hangs, or decides wrongly. */
async function firstDecision(child: ChildProcess, { adminSocket }: GatewayFolder): Promise<void> {
  const giveUpAt = performance.now() + answersWithinMs;
  const { bitCount, bytes } = sampleCard(1);
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  let client: ControlClient | undefined;
  while (performance.now() < giveUpAt && child.exitCode === null) {
    try {
      client ??= await connectControl(adminSocket);
      const call = { door: identifier<'door'>('d1'), presented: { card: { bits: bits.slice(0, bitCount) } } };
      const { code } = (await client.call('simulate', call)) as ExplainReport;
      client.close();
      // The card of this credential may enter; its lock is not on line yet, which is the last rule.
      if (code !== 'GRANTED' && code !== 'LOCK_UNREACHABLE') throw new Error(`decided ${code}`);
      return;
    } catch (error) {
      if (!isWaiting(error)) throw error;
      await pause(askEveryMs);
    }
  }
  throw new Error('the gateway did not decide');
}

const isWaiting = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['GATEWAY_NOT_RUNNING', 'UNAVAILABLE'].includes(String(error.code));

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

if (import.meta.main) console.table(await run());
