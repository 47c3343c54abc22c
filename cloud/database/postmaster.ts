/**
 * The server that may be running on a data folder, by its postmaster.pid: found, awaited, stopped.
 *
 * Not promised: a server in another process namespace; one data folder belongs to one machine.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DatabaseFault } from './database-fault.ts';

export interface Postmaster {
  readonly pid: number;
  readonly port: number;
  readonly isReady: boolean;
}

/** The server that holds `folder`, or `undefined` where none is alive. */
export function findPostmaster(folder: string): Postmaster | undefined {
  const path = join(folder, 'postmaster.pid');
  if (!existsSync(path)) return undefined;
  const lines = readFileSync(path, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1 || !isPostgres(pid)) return undefined;
  return { pid, port: Number(lines[3]), isReady: (lines[7] ?? '').trim() === 'ready' };
}

/** A pid that was given to another program since the power failed is no server; nor is one that is dead and not yet buried. */
function isPostgres(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const state = stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
    return stat.includes('(postgres') && state !== 'Z' && state !== 'X';
  } catch {
    return false;
  }
}

/** @returns `ended` where it ended instead of starting. @throws DatabaseFault DATABASE_UNAVAILABLE after `timeoutMs`. */
export async function waitForPostmaster(
  folder: string,
  timeoutMs: number,
  hasEnded: () => boolean,
): Promise<Postmaster | 'ended'> {
  const waited = await waitFor(() => {
    const found = findPostmaster(folder);
    if (found) return found.isReady ? found : undefined;
    return hasEnded() ? 'ended' : undefined;
  }, timeoutMs);
  if (waited === undefined) throw notStarted(folder);
  return waited;
}

export const notStarted = (folder: string): DatabaseFault =>
  new DatabaseFault('DATABASE_UNAVAILABLE', `the server of ${folder} did not start: see server.log there`);

/** Ends sessions and stops: fast, then at once. Resolves when the server is gone. */
export async function stopPostmaster(folder: string, timeoutMs: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    const found = findPostmaster(folder);
    if (!found) return;
    process.kill(found.pid, signal);
    if (await waitFor(() => findPostmaster(folder) === undefined || undefined, timeoutMs)) return;
  }
  throw new DatabaseFault('DATABASE_UNAVAILABLE', `the server of ${folder} does not stop`);
}

async function waitFor<Result>(look: () => Result | undefined, timeoutMs: number): Promise<Result | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = look();
    if (seen !== undefined || performance.now() > deadline) return seen;
    await pause(10);
  }
}
