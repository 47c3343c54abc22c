/**
 * A migrated database for one test file, on a real server that all files of a run share.
 *
 * The first file that asks starts the server and makes the template; every file gets a clone. The server lives in
 * /dev/shm as long as the run does: a watchdog stops it and removes its folder when the run is gone, however it ended.
 * KANNUKI_TEST_POSTGRES=15 takes Debian's server instead of the embedded one.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { startServer } from '#cloud/database/embedded-server.ts';
import { type LoginRole, loginUrl } from '#cloud/database/login.ts';
import { migrate } from '#cloud/database/migrate.ts';
import { type Database, openPool } from '#cloud/database/pool.ts';
import { readSql } from '#cloud/database/read-sql.ts';
import { machines } from '#cloud/machines.ts';

/** Which server: the embedded one, or Debian's. */
export type ServerName = 'embedded' | '15';

export interface TestDatabase {
  /** The superuser: sees every row of every tenant. For what a test prepares and inspects, not for what it tests. */
  readonly admin: Database;
  readonly app: Database;
  readonly worker: Database;
  readonly gateway: Database;
  readonly adminUrl: string;
  readonly loginSecret: Uint8Array;
  /** The connection string of a role's own login. */
  url(role: LoginRole): string;
  close(): Promise<void>;
}

interface SharedServer {
  readonly adminUrl: string;
  readonly loginSecret: string;
}

const debianBinaries = '/usr/lib/postgresql/15/bin';
const wantedServer: ServerName = process.env['KANNUKI_TEST_POSTGRES'] === '15' ? '15' : 'embedded';
/** For `describe.each`: tests of the database itself run against both. */
export const servers: readonly ServerName[] = ['embedded', '15'];
/** For tests in which the server's version matters less: both in a full run only. */
export const someServers: readonly ServerName[] = process.env['KANNUKI_FULL'] === '1' ? servers : [wantedServer];

/** A clone of the migrated template, or an empty database. Close it in `afterAll`. */
export async function openTestDatabase(
  options: { readonly server?: ServerName; readonly isEmpty?: boolean } = {},
): Promise<TestDatabase> {
  const server = await sharedServer(options.server ?? wantedServer);
  const name = `test_${randomBytes(6).toString('hex')}`;
  await statement(
    server.adminUrl,
    `create database ${name} template ${options.isEmpty ? 'template0' : 'kannuki_template'}`,
  );
  const adminUrl = databaseUrl(server.adminUrl, name);
  // A clone has the template's content, but not the rights on the template as a database.
  if (!options.isEmpty) await statement(adminUrl, readSql('prepare-database'));
  const loginSecret = Buffer.from(server.loginSecret, 'hex');
  const url = (role: LoginRole): string => loginUrl(adminUrl, role, loginSecret);
  const pool = (role: LoginRole): Database => openPool({ url: url(role), size: 8, name: `test-${role}` });
  const pools = {
    admin: openPool({ url: adminUrl, size: 4, name: 'test-admin' }),
    app: pool('app'),
    worker: pool('worker'),
    gateway: pool('gateway'),
  };
  return {
    ...pools,
    adminUrl,
    loginSecret,
    url,
    async close() {
      for (const open of Object.values(pools)) await open.destroy();
      await statement(server.adminUrl, `drop database ${name} with (force)`);
    },
  };
}

function databaseUrl(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

async function statement(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

/** One server for all files of a run: files run in children of one process. */
async function sharedServer(name: ServerName): Promise<SharedServer> {
  const folder = `/dev/shm/kannuki-test-${process.ppid}-${name}`;
  const ready = join(folder, 'ready.json');
  const turn = `${folder}.turn`;
  for (let tries = 0; tries < 6000; tries += 1) {
    if (existsSync(ready)) return JSON.parse(readFileSync(ready, 'utf8')) as SharedServer;
    try {
      mkdirSync(turn);
    } catch {
      await pause(20);
      continue;
    }
    try {
      if (!existsSync(ready)) await prepareServer(name, folder, ready);
    } finally {
      rmdirSync(turn);
    }
  }
  throw new Error(`no test server at ${folder}: remove it and ${turn}`);
}

async function prepareServer(name: ServerName, folder: string, ready: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  watch(folder);
  const server = await startServer({
    folder,
    isDisposable: true,
    ...(name === '15' ? { binaries: debianBinaries } : {}),
  });
  const loginSecret = randomBytes(32);
  await statement(server.adminUrl, 'create database kannuki_template');
  await migrate({ adminUrl: databaseUrl(server.adminUrl, 'kannuki_template'), machines, loginSecret });
  writeFileSync(ready, JSON.stringify({ adminUrl: server.adminUrl, loginSecret: loginSecret.toString('hex') }));
}

/** Outlives us: waits for the run to end, then clears up. */
function watch(folder: string): void {
  const script = `while kill -0 "$1" 2>/dev/null; do sleep 1; done
    kill -QUIT $(head -n 1 "$2/data/postmaster.pid" 2>/dev/null) 2>/dev/null; sleep 1; rm -rf "$2" "$2.turn"`;
  spawn('sh', ['-c', script, 'sh', String(process.ppid), folder], { detached: true, stdio: 'ignore' }).unref();
}
