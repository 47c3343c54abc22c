/** `run`: two processes under one, each begun again without the other, both ended together. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { connectControl } from '#gateway/control/edge-side.ts';

const program = fileURLToPath(new URL('../../../gateway/main.ts', import.meta.url));

/** The processes whose parent it is, with the word that says which they are. */
function childrenOf(pid: number): ReadonlyMap<string, number> {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const wordOf = (child: number) => readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0')[2] ?? '';
  return new Map(pids.filter((child) => child > 0).map((child) => [wordOf(child), child]));
}

async function answers(socket: string): Promise<boolean> {
  try {
    const client = await connectControl(socket);
    const isAnswered = await client.call('enrolment', {}).then(
      () => true,
      () => false,
    );
    client.close();
    return isAnswered;
  } catch {
    return false;
  }
}

it('keeps both running, begins one again without the other, and ends both', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'kannuki-run-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const configFile = join(dir, 'gateway.yaml');
  writeFileSync(configFile, 'dataDir: data\nrunDir: run\nclock: { ntp: assume }\njournal: { budgetMiB: 16 }\n');
  const run = spawn(process.execPath, [program, 'run', '--config', configFile], { stdio: 'ignore' });
  onTestFinished(() => void run.kill('SIGKILL'));
  const socket = join(dir, 'run', 'edge.sock');
  await expect.poll(() => answers(socket), { timeout: 60_000 }).toBe(true);
  const before = childrenOf(run.pid ?? 0);
  expect([...before.keys()].sort()).toEqual(['door', 'edge']);
  process.kill(before.get('door') ?? 0, 'SIGKILL');
  await expect.poll(() => childrenOf(run.pid ?? 0).get('door'), { timeout: 60_000 }).not.toBe(before.get('door'));
  await expect.poll(() => answers(socket), { timeout: 60_000 }).toBe(true);
  expect(childrenOf(run.pid ?? 0).get('edge')).toBe(before.get('edge'));
  run.kill('SIGTERM');
  expect(await once(run, 'exit')).toEqual([0, null]);
  for (const pid of before.values()) expect(() => process.kill(pid, 0)).toThrow();
}, 180_000);

it('leaves neither behind when it is killed itself', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'kannuki-run-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const configFile = join(dir, 'gateway.yaml');
  writeFileSync(configFile, 'dataDir: data\nrunDir: run\nclock: { ntp: assume }\njournal: { budgetMiB: 16 }\n');
  const run = spawn(process.execPath, [program, 'run', '--config', configFile], { stdio: 'ignore' });
  await expect.poll(() => answers(join(dir, 'run', 'edge.sock')), { timeout: 60_000 }).toBe(true);
  const children = [...childrenOf(run.pid ?? 0).values()];
  run.kill('SIGKILL');
  const isGone = (pid: number) => !existsSync(`/proc/${pid}`);
  await expect.poll(() => children.every(isGone), { timeout: 60_000 }).toBe(true);
}, 180_000);
