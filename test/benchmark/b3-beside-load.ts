/**
 * B3: whether anything that comes from the cloud, or happens to the edge process, holds up a card.
 *
 * A door process as it runs, in a process of its own; the shipped edge process at its socket, and a cloud that hands out a
 * snapshot of 100 000 credentials. A card is due every 10 ms throughout. Idle and under load are measured in the same run.
 * The peer of the snapshot is the same apply, chunk by chunk and by the same code, in the thread that decides.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { rawPublicKey, toBase64url } from '#shared/signed-statement.ts';
import { bundleGateway } from '../../tools/bundle.ts';
import { SigningCloud } from '../fakes/signing-cloud.ts';
import { benchCursor, openBenchCloud } from './b3-cloud.ts';
import type { FromDoor, ToDoor } from './b3-door.ts';
import { snapshotRows } from './b3-rows.ts';
import { prepareEnrolledFolder } from './b6-folder.ts';
import type { BenchRow } from './bench-row.ts';
import { createBenchFolder } from './journal-bench.ts';

const credentials = 100_000;
const before = 1_000;
const doors = 64;
const eachMs = 4_000;
/** Beyond the checks that follow a start. */
const settleMs = 9_000;
/** Cards before any is counted: what idle is compared with has run the same code as often. */
const warmMs = 5_000;
const killEveryMs = 500;
const snapshotWithinMs = 120_000;
/** An edge process whose heap fills until the engine ends it. */
const hog = `data:text/javascript,${encodeURIComponent('const all=[];setInterval(()=>{all.push(Array.from({length:20000},(_,i)=>({i})))},5)')}`;

export async function run(): Promise<BenchRow[]> {
  const folder = createBenchFolder();
  const signing = new SigningCloud();
  const cloud = await openBenchCloud(signing);
  const chunks = await signing.snapshot(snapshotRows(credentials, doors), { cursor: benchCursor });
  cloud.serve(chunks);
  const program = await bundleGateway(join(folder.path, 'program'));
  const place = { folder: join(folder.path, 'gateway'), cloud: signing, url: cloud.url, doors };
  const { configFile } = await prepareEnrolledFolder({ ...place, credentials: before, isCurrent: false });
  const door = new Door(configFile);
  const edge = new Edge(program, configFile);
  try {
    await door.hears('open');
    await pause(settleMs);
    await door.during(() => pause(warmMs));
    const idle = await door.during(() => pause(eachMs));
    const snapshot = await door.during(async () => {
      edge.begin();
      await Promise.race([door.reaches(2), late('the snapshot is not in force')]);
    });
    const killed = await door.during(() => edge.kill());
    const blocked = await door.during(() => edge.block());
    const full = await door.during(() => edge.fill());
    await edge.end();
    const here = join(folder.path, 'here');
    mkdirSync(here);
    const file = join(folder.path, 'chunks.json');
    writeFileSync(file, JSON.stringify(chunks));
    const feedKey = toBase64url(rawPublicKey(signing.feedKey));
    door.tell({ kind: 'apply-here', chunks: file, folder: here, feedKey });
    const same = p99((await door.hears('measured')).ms);
    const against = (what: string, ms: number) => rowOf(what, ms, { name: 'idle', ms: idle, most: 10 });
    const applied = `card to durable entry while ${credentials.toLocaleString('en')} credentials are applied, p99`;
    return [
      against(applied, snapshot),
      rowOf(applied, snapshot, { name: 'applied in the deciding thread', ms: same, most: 0.05 }),
      against(`… while edge is killed every ${killEveryMs} ms, p99`, killed),
      against('… while edge is stopped, p99', blocked),
      against('… while edge fills its heap, p99', full),
    ];
  } finally {
    await edge.end();
    door.end();
    await cloud.close();
    folder.remove();
  }
}

interface Peer {
  readonly name: string;
  readonly ms: number;
  readonly most: number;
}

const rowOf = (what: string, figure: number, { name, ms, most }: Peer): BenchRow => ({
  id: 'B3',
  what,
  figure: `${figure.toFixed(2)} ms`,
  peer: `${name} ${ms.toFixed(2)} ms`,
  ratio: figure / ms,
  bar: `≤ ${most}`,
  ok: figure / ms <= most,
});

type Heard<Kind> = Extract<FromDoor, { readonly kind: Kind }>;

class Door {
  readonly #child: ChildProcess;

  constructor(configFile: string) {
    this.#child = fork(new URL('./b3-door.ts', import.meta.url), [configFile]);
  }

  tell(message: ToDoor): void {
    this.#child.send(message);
  }

  hears<const Kind extends FromDoor['kind']>(kind: Kind): Promise<Heard<Kind>> {
    return new Promise((resolve, reject) => {
      const take = (message: FromDoor) => {
        if (message.kind === kind) settle(() => resolve(message as Heard<Kind>));
      };
      const fail = () => settle(() => reject(new Error('the door process ended')));
      const settle = (end: () => void) => {
        this.#child.off('message', take);
        this.#child.off('exit', fail);
        end();
      };
      this.#child.on('message', take);
      this.#child.on('exit', fail);
    });
  }

  async reaches(epoch: number): Promise<void> {
    while ((await this.hears('epoch')).epoch < epoch);
  }

  /** @returns the p99 of all cards that were due while `act` lasted, ms. */
  async during(act: () => Promise<unknown>): Promise<number> {
    this.tell({ kind: 'begin' });
    await act();
    this.tell({ kind: 'end' });
    return p99((await this.hears('measured')).ms);
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

class Edge {
  readonly #words: readonly string[];
  #child: ChildProcess | undefined;

  constructor(program: string, configFile: string) {
    this.#words = [program, 'edge', '--config', configFile];
  }

  begin(options: readonly string[] = []): ChildProcess {
    this.#child = spawn(process.execPath, [...options, ...this.#words], { stdio: 'ignore' });
    return this.#child;
  }

  async kill(): Promise<void> {
    const until = performance.now() + eachMs;
    while (performance.now() < until) {
      await this.end();
      this.begin();
      await pause(killEveryMs);
    }
  }

  /** Holds on to its connections, and takes nothing from them. */
  async block(): Promise<void> {
    await pause(eachMs / 4);
    this.#child?.kill('SIGSTOP');
    await pause(eachMs);
    this.#child?.kill('SIGCONT');
  }

  async fill(): Promise<void> {
    await this.end();
    let deaths = 0;
    const until = performance.now() + eachMs;
    while (performance.now() < until || deaths === 0) {
      const child = this.begin(['--max-old-space-size=96', '--import', hog]);
      await once(child, 'exit');
      deaths += 1;
    }
  }

  async end(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

async function late(what: string): Promise<never> {
  await pause(snapshotWithinMs, undefined, { ref: false });
  throw new Error(`${what} after ${snapshotWithinMs} ms`);
}

const p99 = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? Number.NaN;

if (import.meta.main) console.table(await run());
