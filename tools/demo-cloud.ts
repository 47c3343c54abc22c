/**
 * The cloud of the demonstration: its own process with its own embedded database, started, waited for and stopped.
 *
 * Its log goes to a file; when it does not start, the end of that file says why. It never outlives the demonstration.
 */
import { execFile, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { invariant } from '#shared/invariant.ts';
import type { Operator } from './demo-api.ts';
import { type DemoHome, withCompileCache, withParent } from './demo-home.ts';
import { UsageProblem } from './demo-options.ts';

const cloudProgram = fileURLToPath(new URL('../cloud/main.ts', import.meta.url));
/** The first start of a busy machine takes long: a database is made. */
const startsWithinMs = 150_000;
const stopsWithinMs = 10_000;
const email = 'owner@kannuki.example';

export interface DemoCloud {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

const configFile = (home: DemoHome): string => join(home.dir, 'cloud.yaml');
export const operatorFile = (home: DemoHome): string => join(home.dir, 'operator.json');

/** @throws UsageProblem with the end of its log if it ends or does not answer in time. */
export async function startCloud(home: DemoHome, program: string): Promise<DemoCloud> {
  mkdirSync(home.dir, { recursive: true });
  const config = {
    dataDir: 'cloud',
    listen: { host: '127.0.0.1', port: 0 },
    operations: { host: '127.0.0.1', port: 0 },
    ...(isOpenToAll(home.dir) ? {} : { database: { embeddedDir: farDatabase(home) } }),
  };
  // Not the folder itself: that it is not there says that this cloud is new.
  if ('database' in config) mkdirSync(dirname(farDatabase(home)), { recursive: true, mode: 0o711 });
  // JSON is YAML, and nothing need be loaded to write it.
  writeFileSync(
    configFile(home),
    `# Written by the demonstration at every start.\n${JSON.stringify(config, null, 2)}\n`,
  );
  const log = openSync(home.cloudLogFile, 'a', 0o600);
  const child = spawn(process.execPath, [...withParent, program, 'run', '--config', configFile(home)], {
    stdio: ['ignore', 'pipe', log, 'ipc'],
    env: withCompileCache(home),
  });
  closeSync(log);
  invariant(child.stdout !== null, 'its output is piped');
  const ended = once(child, 'exit').then(([code, signal]) => String(signal ?? `exit code ${code}`));
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const impatience = setTimeout(() => child.kill('SIGKILL'), stopsWithinMs);
    await ended;
    clearTimeout(impatience);
  };
  const said = servingAt(child.stdout);
  const late = new Promise<undefined>((done) => setTimeout(done, startsWithinMs, undefined).unref());
  const port = await Promise.race([said, late, ended.then(() => undefined)]);
  if (port === undefined) {
    await stop();
    const tail = readFileSync(home.cloudLogFile, 'utf8').trimEnd().split('\n').slice(-12);
    throw new UsageProblem(`The cloud does not start. The end of ${home.cloudLogFile}:\n${tail.join('\n')}`);
  }
  return { url: `http://127.0.0.1:${port}`, port, pid: child.pid ?? 0, ended, stop };
}

/** The database server runs as a user of its own where we are root, and that user may not come through to our folder. */
export const farDatabase = (home: DemoHome): string =>
  join('/var/tmp', `kannuki-demo-${createHash('sha256').update(home.dir).digest('hex').slice(0, 16)}`, 'database');

function isOpenToAll(folder: string): boolean {
  if (process.getuid?.() !== 0) return true;
  const isOpen = (statSync(folder).mode & 0o001) !== 0;
  return isOpen && (dirname(folder) === folder || isOpenToAll(dirname(folder)));
}

/** Its first line names where it serves. */
async function servingAt(out: NodeJS.ReadableStream): Promise<number> {
  let text = '';
  return await new Promise((done) => {
    out.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (port !== undefined) done(Number(port));
    });
  });
}

/** Who runs the facility: made at the first start, with a password that only the demonstration's folder knows. */
export async function demoOperator(home: DemoHome, facility: { name: string; zone: string }): Promise<Operator> {
  const file = operatorFile(home);
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Operator;
  const password = randomBytes(18).toString('base64url');
  const passwordFile = `${file}.password`;
  writeFileSync(passwordFile, password, { mode: 0o600 });
  const words = ['--email', email, '--organization', facility.name, '--facility', facility.name];
  const options = ['--zone', facility.zone, '--password-file', passwordFile, '--json', '--config', configFile(home)];
  const { stdout } = await promisify(execFile)(process.execPath, [cloudProgram, 'create-owner', ...words, ...options], {
    env: withCompileCache(home),
  });
  const made = JSON.parse(stdout) as { facility: string };
  const operator: Operator = { facility: made.facility, email, password };
  writeFileSync(`${file}.next`, `${JSON.stringify(operator)}\n`, { mode: 0o600 });
  renameSync(`${file}.next`, file);
  rmSync(passwordFile);
  return operator;
}
