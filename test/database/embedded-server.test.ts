import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { databaseFault } from '#cloud/database/database-fault.ts';
import { type EmbeddedServer, type ServerOptions, startServer } from '#cloud/database/embedded-server.ts';
import { loginUrl } from '#cloud/database/login.ts';
import { migrate } from '#cloud/database/migrate.ts';
import { findPostmaster } from '#cloud/database/postmaster.ts';
import { machines } from '#cloud/machines.ts';

describe('the embedded server', () => {
  let folder: string;
  const started: EmbeddedServer[] = [];
  beforeEach(() => {
    folder = mkdtempSync('/dev/shm/kannuki-server-');
    // Whoever runs the server goes through here.
    chmodSync(folder, 0o711);
  });
  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(options: Partial<ServerOptions> = {}): Promise<EmbeddedServer> {
    const server = await startServer({ folder: join(folder, 'db'), isDisposable: true, ...options });
    started.push(server);
    return server;
  }

  async function ask(url: string, text: string): Promise<unknown> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      return Object.values((await client.query(text)).rows[0] ?? {})[0];
    } finally {
      await client.end();
    }
  }

  it('keeps what was written over a stop and a start, and its password in a file of its own', async () => {
    const first = await start();
    await ask(first.adminUrl, 'create table kept as select 42 as value');
    await first.stop();
    expect(findPostmaster(join(folder, 'db', 'data'))).toBeUndefined();
    const second = await start();
    expect(second.isAdopted).toBe(false);
    expect(await ask(second.adminUrl, 'select value from kept')).toBe(42);
    expect(statSync(join(folder, 'db', 'admin.password')).mode & 0o077).toBe(0);
    expect(readFileSync(`/proc/${second.pid}/cmdline`, 'utf8')).not.toContain(new URL(second.adminUrl).password);
  });

  it('is adopted by the next process when the one that started it was killed', async () => {
    const script = `import { startServer } from '#cloud/database/embedded-server.ts';
      await startServer({ folder: ${JSON.stringify(join(folder, 'db'))}, isDisposable: true });
      console.log('started'); setInterval(() => undefined, 1000);`;
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    const orphan = findPostmaster(join(folder, 'db', 'data'));
    const adopted = await start();
    expect(adopted.isAdopted).toBe(true);
    expect(adopted.pid).toBe(orphan?.pid);
    expect(await ask(adopted.adminUrl, 'select 1')).toBe(1);
  });

  it('starts again where it was killed itself, and where its pid belongs to another program now', async () => {
    const first = await start();
    await ask(first.adminUrl, 'create table kept as select 7 as value');
    await ask(first.adminUrl, 'checkpoint');
    process.kill(first.pid, 'SIGKILL');
    const path = join(folder, 'db', 'data', 'postmaster.pid');
    const left = readFileSync(path, 'utf8');
    await expect.poll(() => findPostmaster(join(folder, 'db', 'data'))).toBeUndefined();
    writeFileSync(path, left.replace(/^\d+/, String(process.pid)));
    expect(findPostmaster(join(folder, 'db', 'data'))).toBeUndefined();
    writeFileSync(path, left);
    const second = await start();
    expect(second.isAdopted).toBe(false);
    expect(await ask(second.adminUrl, 'select value from kept')).toBe(7);
  });

  it('makes anew what an interrupted beginning left', async () => {
    mkdirSync(join(folder, 'db', 'data.part'), { recursive: true });
    writeFileSync(join(folder, 'db', 'data.part', 'PG_VERSION'), '18\n');
    expect(await ask((await start()).adminUrl, 'select 1')).toBe(1);
  });

  it('listens on 127.0.0.1 only, on no socket, and lets nobody in without the password', async () => {
    const server = await start();
    const url = new URL(server.adminUrl);
    expect(existsSync(`/tmp/.s.PGSQL.${url.port}`)).toBe(false);
    expect(await ask(server.adminUrl, 'show unix_socket_directories')).toBe('');
    const elsewhere = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .filter(({ family, internal }) => family === 'IPv4' && !internal);
    for (const { address } of elsewhere) {
      const refused = new Promise((resolve) => {
        const socket = connect(Number(url.port), address);
        socket.once('error', () => resolve('refused'));
        socket.once('connect', () => resolve('connected'));
      });
      expect(await refused).toBe('refused');
    }
    for (const password of ['', 'wrong']) {
      url.password = password;
      const error = await ask(url.href, 'select 1').catch((thrown: unknown) => thrown);
      expect(String(error)).toMatch(/password/);
    }
  });

  it('takes new passwords for its logins when the secret changes', async () => {
    const { adminUrl } = await start();
    const [before, after] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    await migrate({ adminUrl, machines, loginSecret: before });
    expect(await ask(loginUrl(adminUrl, 'app', before), 'select current_user')).toBe('kannuki_app_login');
    await migrate({ adminUrl, machines, loginSecret: after });
    expect(await ask(loginUrl(adminUrl, 'app', after), 'select current_user')).toBe('kannuki_app_login');
    const old = await ask(loginUrl(adminUrl, 'app', before), 'select 1').catch(databaseFault);
    expect(old).toMatchObject({ code: 'DATABASE_UNAVAILABLE' });
  });

  it.runIf(process.getuid?.() === 0)('says so where its user cannot enter the folder', async () => {
    const closed = mkdtempSync(join(tmpdir(), 'kannuki-closed-'));
    try {
      await expect(start({ folder: join(closed, 'db') })).rejects.toMatchObject({
        code: 'DATABASE_UNAVAILABLE',
        message: expect.stringContaining('cannot enter'),
      });
    } finally {
      rmSync(closed, { recursive: true });
    }
  });

  it('says where to look when it does not start', async () => {
    await (await start()).stop();
    writeFileSync(join(folder, 'db', 'data', 'postgresql.conf'), 'no_such_setting = 1\n');
    await expect(start()).rejects.toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringContaining('server.log'),
    });
  });
});
