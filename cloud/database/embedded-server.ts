/**
 * A PostgreSQL server of our own, for the embedded default, the demo and tests: one data folder, one server.
 *
 * Guarantees: it listens on 127.0.0.1 only, with passwords (SCRAM), and on no socket; a server that outlived us on the
 * same folder is adopted; what it says goes to `server.log` in its folder.
 * Not promised: replication, backups, tuning. Production sets DATABASE_URL.
 */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DatabaseFault } from './database-fault.ts';
import { findPostmaster, notStarted, stopPostmaster, waitForPostmaster } from './postmaster.ts';
import { embeddedBinaries, isOpenToAll, type ServerUser, serverUser } from './server-binaries.ts';

export interface ServerOptions {
  /** Absent or empty at first; afterwards its own. */
  readonly folder: string;
  /** Where `initdb` and `postgres` are; the embedded ones by default. */
  readonly binaries?: string;
  /** 0 takes any free port; a server that is adopted keeps its own. */
  readonly port?: number;
  /** For tests only: a power cut may lose or damage everything. */
  readonly isDisposable?: boolean;
}

export interface EmbeddedServer {
  /** The connection string of the superuser, to database `postgres`. */
  readonly adminUrl: string;
  readonly pid: number;
  /** Whether it was already running. */
  readonly isAdopted: boolean;
  /** Sessions end; nothing that was committed is lost. */
  stop(): Promise<void>;
}

const startMs = 30_000;
const leftoversMs = 10_000;
const againAfterMs = 250;
const stopMs = 15_000;
const run = promisify(execFile);

/** @throws DatabaseFault DATABASE_UNAVAILABLE, with the reason. */
export async function startServer(options: ServerOptions): Promise<EmbeddedServer> {
  const { folder } = options;
  const user = serverUser();
  const binaries = options.binaries ?? embeddedBinaries(user);
  const data = join(folder, 'data');
  if (!existsSync(join(data, 'PG_VERSION'))) await createCluster(options, binaries, user);
  const { pid, port, isAdopted } = await adoptOrLaunch(data, () => launch(options, binaries, user));
  return {
    adminUrl: `postgres://kannuki_admin:${readPassword(folder)}@127.0.0.1:${port}/postgres`,
    pid,
    isAdopted,
    stop: () => stopPostmaster(data, stopMs),
  };
}

/** Where a server was killed its sessions hold its memory for a moment, and a new one ends at once: then it is tried again. */
async function adoptOrLaunch(data: string, start: () => Promise<() => boolean>) {
  const until = performance.now() + leftoversMs;
  for (;;) {
    const running = findPostmaster(data);
    const hasEnded = running ? () => findPostmaster(data) === undefined : await start();
    const found = await waitForPostmaster(data, startMs, hasEnded);
    if (found !== 'ended') return { ...found, isAdopted: running !== undefined };
    if (performance.now() > until) throw notStarted(data);
    await pause(againAfterMs);
  }
}

const readPassword = (folder: string): string => readFileSync(join(folder, 'admin.password'), 'utf8').trim();

async function createCluster(options: ServerOptions, binaries: string, user: ServerUser | undefined): Promise<void> {
  const { folder } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (user) {
    chownSync(folder, user.uid, user.gid);
    if (!isOpenToAll(dirname(folder)))
      throw new DatabaseFault('DATABASE_UNAVAILABLE', `user ${user.uid} cannot enter ${folder}: open the way with o+x`);
  }
  chmodSync(folder, 0o700);
  // A cluster is whole or not there: what an interrupted attempt left is made again.
  const part = join(folder, 'data.part');
  rmSync(part, { recursive: true, force: true });
  const passwordFile = join(folder, 'admin.password');
  writeFileSync(passwordFile, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  if (user) chownSync(passwordFile, user.uid, user.gid);
  const locale = (await majorOf(binaries)) >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8'] : [];
  await runAs(user, join(binaries, 'initdb'), [
    ...['-D', part, '-U', 'kannuki_admin', '--pwfile', passwordFile, '--auth=scram-sha-256', '-E', 'UTF8'],
    ...['--locale=C.UTF-8', ...locale, '--data-checksums'],
    ...(options.isDisposable ? ['--no-sync'] : []),
  ]);
  await runAs(user, 'mv', ['-T', part, join(folder, 'data')]);
}

async function majorOf(binaries: string): Promise<number> {
  const { stdout } = await run(join(binaries, 'postgres'), ['--version']);
  return Number(/ (\d+)/.exec(stdout)?.[1]);
}

async function runAs(user: ServerUser | undefined, command: string, parameters: string[]): Promise<void> {
  try {
    await run(command, parameters, { cwd: '/', env: environment(), timeout: 60_000, ...user });
  } catch (error) {
    throw unavailable(error);
  }
}

const unavailable = (error: unknown): DatabaseFault =>
  new DatabaseFault('DATABASE_UNAVAILABLE', error instanceof Error ? error.message : String(error), { cause: error });

/** Nothing of ours reaches the server: no PG* setting, no secret. */
const environment = (): Record<string, string> => ({ PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8', TZ: 'UTC' });

/** @returns whether the process that was started has ended. */
async function launch(options: ServerOptions, binaries: string, user: ServerUser | undefined): Promise<() => boolean> {
  const { folder } = options;
  const port = options.port || (await freePort());
  const settings: Readonly<Record<string, string | number>> = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    max_connections: 100,
    shared_buffers: '64MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    password_encryption: 'scram-sha-256',
    // Statements may hold personal data.
    log_statement: 'none',
    log_parameter_max_length_on_error: 0,
    ...(options.isDisposable ? { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' } : {}),
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const log = openSync(join(folder, 'server.log'), 'a', 0o600);
  const server = spawn(join(binaries, 'postgres'), ['-D', join(folder, 'data'), ...flags], {
    cwd: '/',
    env: environment(),
    detached: true,
    stdio: ['ignore', log, log],
    ...user,
  });
  closeSync(log);
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(unavailable(error)));
    server.once('spawn', () => resolve(() => server.exitCode !== null || server.signalCode !== null));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
