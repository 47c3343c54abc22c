/**
 * The program as an operator runs it, with its own database, key and configuration: the server as a process of its own, the
 * commands beside it by their entrance, since starting a process for each takes longer than what it does.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCommand } from '#cloud/cli/run-command.ts';
import { openPool } from '#cloud/database/pool.ts';

const folder = mkdtempSync('/dev/shm/kannuki-cli-');
chmodSync(folder, 0o711);
const config = join(folder, 'cloud.yaml');
const program = join(import.meta.dirname, '../../../cloud/main.ts');
let server: Running | undefined;

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly pid: number;
  readonly said: (words: string) => Promise<string>;
  readonly end: (signal: NodeJS.Signals) => Promise<Ended>;
}

function start(...args: readonly string[]): Running {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env['PATH'], KANNUKI_CLOUD_CONFIG: config, LANG: 'C' },
  });
  let [out, err] = ['', ''];
  const waiting: (() => void)[] = [];
  const hear = () => {
    for (const look of waiting) look();
  };
  child.stdout.on('data', (chunk) => {
    out += chunk;
    hear();
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on('close', (code) => {
      resolve({ code, out, err });
      hear();
    });
  });
  const said = (words: string) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const line = out.split('\n').find((one) => one.includes(words));
        if (line !== undefined) resolve(line);
        else if (child.exitCode !== null) reject(new Error(`it ended without saying "${words}": ${err}`));
      };
      waiting.push(look);
      look();
    });
  return {
    pid: child.pid ?? 0,
    said,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}

async function run(...args: readonly string[]): Promise<Ended> {
  const said = { out: '', err: '' };
  const code = await runCommand([...args, '--config', config], {
    out: (line) => {
      said.out += `${line}\n`;
    },
    err: (line) => {
      said.err += `${line}\n`;
    },
    isTty: false,
    language: 'en',
    signal: new AbortController().signal,
  });
  return { code, ...said };
}

beforeAll(() => {
  writeFileSync(config, 'dataDir: data\nlisten: { port: 0 }\noperations: { port: 0 }\n');
});
afterAll(async () => {
  await server?.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

interface Owned {
  readonly facility: string;
  readonly password: string;
}
let owned: Owned;

it('explains itself in the operator’s language, and says what it does not know', async () => {
  const help = await run('help');
  expect(help).toMatchObject({ code: 0, err: '' });
  for (const word of ['run', 'migrate', 'create-owner', 'enroll-code', 'verify-audit', 'gateways', 'doctor']) {
    expect(help.out).toContain(`  ${word} `);
  }
  expect((await run('doctor', '--help', '--language', 'ja')).out).toContain('点検');
  expect(await run('fly')).toMatchObject({ code: 2, err: expect.stringContaining('there is no command "fly"') });
  expect(await run('create-owner')).toMatchObject({ code: 2, err: expect.stringContaining('--email is needed') });
  expect(await run('migrate', 'twice')).toMatchObject({ code: 2, err: expect.stringContaining('one word too many') });
});

it('says what is missing before there is anything', async () => {
  const { code, out } = await run('doctor', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ check: 'key file', state: 'fail' }));
  expect(await run('gateways')).toMatchObject({ code: 1, err: expect.stringContaining('[MASTER_KEY_MISSING]') });
});

it('makes an owner with a password that is told this once, and without a word of it anywhere else', async () => {
  const args = ['--email', 'Owner@example.test', '--organization', 'Org', '--facility', 'House', '--json'];
  const { code, out } = await run('create-owner', ...args);
  expect(code).toBe(0);
  owned = JSON.parse(out);
  expect(owned.password.length).toBeGreaterThan(15);
  expect(await run('create-owner', ...args, '--zone', 'Mars/Olympus')).toMatchObject({ code: 2 });
  const weak = join(folder, 'weak');
  writeFileSync(weak, 'password1234');
  expect(await run('create-owner', ...args, '--password-file', weak)).toMatchObject({ code: 2 });
});

it('serves, lets the owner in, is found ready, and commands work beside it', { timeout: 120_000 }, async () => {
  const running = start('run');
  server = running;
  const url = (await running.said('serving on ')).split(' ').at(-1) ?? '';
  const login = await fetch(`${url}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@example.test', password: owned.password }),
  });
  expect(login.status).toBe(201);
  const { accessToken } = (await login.json()) as { readonly accessToken: string };
  const me = await fetch(`${url}/v1/me`, { headers: { authorization: `Bearer ${accessToken}` } });
  expect(await me.json()).toMatchObject({ facilities: [{ id: owned.facility, role: 'owner' }] });
  const code = await run('enroll-code', 'Front gateway', '--json');
  expect(JSON.parse(code.out)).toMatchObject({
    facility: owned.facility,
    code: expect.stringMatching(/^[0-9A-Z-]{20,}$/),
  });
  expect(await run('enroll-code', 'Other', '--facility', 'fac_none')).toMatchObject({ code: 2 });
  expect(await run('gateways')).toMatchObject({ code: 0, out: expect.stringContaining('no gateway yet') });
  const doctor = JSON.parse((await run('doctor', '--json')).out) as readonly { check: string; state: string }[];
  expect(doctor.filter(({ state }) => state === 'fail')).toEqual([]);
  const migrated = await run('migrate', '--json');
  expect(JSON.parse(migrated.out)).toMatchObject({ applied: [] });
});

it('shows no secret in its arguments, its environment or its log', () => {
  const key = readFileSync(join(folder, 'data/cloud.key'));
  const database = readFileSync(join(folder, 'data/database/admin.password'), 'utf8').trim();
  const secrets = [key.toString('hex'), key.toString('base64'), database, owned.password];
  for (const file of ['cmdline', 'environ']) {
    const text = readFileSync(`/proc/${server?.pid}/${file}`, 'utf8');
    expect(text.length).toBeGreaterThan(0);
    for (const secret of secrets) expect(text).not.toContain(secret);
  }
});

it('proves that what was done was not rewritten, and finds where it was', { timeout: 120_000 }, async () => {
  expect(await run('verify-audit')).toMatchObject({ code: 0, out: expect.stringContaining(`✓ ${owned.facility}`) });
  const database = join(folder, 'data/database');
  const port = readFileSync(join(database, 'data/postmaster.pid'), 'utf8').split('\n')[3];
  const password = readFileSync(join(database, 'admin.password'), 'utf8').trim();
  const admin = openPool({
    url: `postgres://kannuki_admin:${password}@127.0.0.1:${port}/postgres`,
    size: 1,
    name: 'x',
  });
  await sql`set session_replication_role = replica`.execute(admin);
  await sql`update audit_event set actor = 'somebody else' where facility_id = ${owned.facility}`.execute(admin);
  await admin.destroy();
  expect(await run('verify-audit')).toMatchObject({ code: 1, out: expect.stringContaining('event 1 changed') });
});

it('goes down when told, and takes its database with it', { timeout: 60_000 }, async () => {
  const ended = await server?.end('SIGTERM');
  server = undefined;
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining('going down') });
  const key = readFileSync(join(folder, 'data/cloud.key'));
  expect(ended?.err).toContain('"msg":"answered"');
  for (const secret of [owned.password, key.toString('hex'), key.toString('base64'), 'Bearer ', 'example.test']) {
    expect(ended?.err).not.toContain(secret);
  }
  expect(() => readFileSync(join(folder, 'data/database/data/postmaster.pid'))).toThrow('ENOENT');
});

it('does not start on a key that is not the database’s', { timeout: 60_000 }, async () => {
  const file = join(folder, 'data/cloud.key');
  const key = readFileSync(file);
  chmodSync(file, 0o600);
  writeFileSync(file, Buffer.alloc(32, 1));
  expect(await run('run')).toMatchObject({ code: 1, err: expect.stringContaining('[SEAL_BROKEN]') });
  rmSync(file);
  expect(await run('run')).toMatchObject({ code: 1, err: expect.stringContaining('[MASTER_KEY_MISSING]') });
  writeFileSync(file, key, { mode: 0o400 });
  expect((await run('verify-audit', '--json')).code).toBe(1);
});
