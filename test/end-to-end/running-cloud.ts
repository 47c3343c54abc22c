/** A real cloud process with its own database, and an operator who works it over its HTTP API. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';

const project = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const program = join(project, 'cloud', 'main.ts');
const exitWithParent = join(project, 'tools', 'demo-exit-with-parent.ts');
const email = 'owner@example.com';
const password = 'correct horse battery staple';
/** A bound against hanging, on a machine that does much else. */
const withinMs = 180_000;

export interface CloudPlace {
  readonly dir: string;
  readonly configFile: string;
  readonly port: number;
}

export interface RunningCloud {
  readonly url: string;
  readonly pid: number;
  log(): string;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface Operator {
  readonly facility: string;
  get(path: string): Promise<Said>;
  post(path: string, body?: object): Promise<Said>;
  put(path: string, body: object): Promise<Said>;
}

/** What the cloud said; a test looks into it as far as it needs. */
// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each judged by its test.
export type Said = any;

/** @param port where it listens, so that a gateway finds it again after a restart. */
export function placeCloud(dir: string, port: number): CloudPlace {
  mkdirSync(dir, { recursive: true });
  const configFile = join(dir, 'cloud.yaml');
  const config = {
    dataDir: 'data',
    listen: { host: '127.0.0.1', port },
    operations: { host: '127.0.0.1', port: 0 },
    sessions: { accessSeconds: 3_600 },
    limits: { perAddress: 1_000_000, perCaller: 1_000_000 },
  };
  writeFileSync(configFile, stringify(config));
  writeFileSync(join(dir, 'password'), password, { mode: 0o600 });
  return { dir, configFile, port };
}

export async function startCloud({ dir, configFile, port }: CloudPlace): Promise<RunningCloud> {
  const logFile = join(dir, 'cloud.log');
  const log = openSync(logFile, 'a', 0o600);
  const words = ['--import', exitWithParent, program, 'run', '--config', configFile];
  const child = spawn(process.execPath, words, { cwd: project, stdio: ['ignore', log, log, 'ipc'] });
  closeSync(log);
  const url = `http://127.0.0.1:${port}`;
  await answers(child, url, logFile);
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  return {
    url,
    pid: child.pid ?? 0,
    log: () => readFileSync(logFile, 'utf8'),
    kill: () => end('SIGKILL'),
    stop: () => end('SIGTERM'),
  };
}

async function answers(child: ChildProcess, url: string, logFile: string): Promise<void> {
  const until = performance.now() + withinMs;
  const nonce = 'A'.repeat(22);
  for (;;) {
    const isThere = await fetch(`${url}/gateway/v1/time?nonce=${nonce}`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isThere) return;
    if (child.exitCode !== null || performance.now() > until)
      throw new Error(`the cloud does not answer:\n${readFileSync(logFile, 'utf8').slice(-3_000)}`);
    await pause(50);
  }
}

/** The first owner of a facility, signed in. */
export async function createOperator({ url }: RunningCloud, place: CloudPlace): Promise<Operator> {
  const words = ['create-owner', '--email', email, '--organization', 'Tests', '--facility', 'House', '--zone', 'UTC'];
  const rest = ['--password-file', join(place.dir, 'password'), '--json', '--config', place.configFile];
  const child = spawn(process.execPath, [program, ...words, ...rest], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  await once(child, 'close');
  const { facility } = JSON.parse(out) as { facility: string };
  return await signIn(url, facility);
}

export async function signIn(url: string, facility: string): Promise<Operator> {
  let authorization: string | undefined;
  const ask = async (method: string, path: string, body?: object): Promise<Said> => {
    const at = path.startsWith('/') ? path : `/v1/facilities/${facility}/${path}`;
    const response = await fetch(url + at, {
      method,
      headers: {
        ...(authorization === undefined ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const said: Said = await response.json();
    if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${JSON.stringify(said)}`);
    return said;
  };
  const { accessToken } = await ask('POST', '/v1/sessions', { email, password });
  authorization = `Bearer ${accessToken}`;
  return {
    facility,
    get: (path) => ask('GET', path),
    post: (path, body = {}) => ask('POST', path, body),
    put: (path, body) => ask('PUT', path, body),
  };
}
