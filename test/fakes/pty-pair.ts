/**
 * Two ends of a serial cable: a pair of pseudo-terminals held together by socat, whose names are links that appear and
 * vanish like an adapter being plugged and unplugged.
 * Not promised: a baud rate. Bytes arrive at once; whoever needs a rate paces what they send.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitUntil } from './wait-until.ts';

export interface PtyPair {
  /** The gateway's end. */
  readonly near: string;
  /** The devices' end. */
  readonly far: string;
  plug(): Promise<void>;
  unplug(): Promise<void>;
  /** Unplugs and removes what is left. */
  close(): Promise<void>;
}

/** Already plugged. */
export async function openPtyPair(): Promise<PtyPair> {
  const folder = mkdtempSync(join(tmpdir(), 'kannuki-pty-'));
  const near = join(folder, 'near');
  const far = join(folder, 'far');
  let socat: ChildProcess | undefined;
  const plug = async () => {
    socat = spawn('socat', [`pty,raw,echo=0,link=${near}`, `pty,raw,echo=0,link=${far}`], { stdio: 'ignore' });
    await waitUntil('both ends of the cable', () => existsSync(near) && existsSync(far));
  };
  const unplug = async () => {
    const running = socat;
    socat = undefined;
    if (running === undefined) return;
    const ended = once(running, 'exit');
    running.kill('SIGTERM');
    await ended;
    await waitUntil('the ends to vanish', () => !existsSync(near) && !existsSync(far));
  };
  const close = async () => {
    await unplug();
    rmSync(folder, { recursive: true, force: true });
  };
  await plug();
  return { near, far, plug, unplug, close };
}
