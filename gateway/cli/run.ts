/**
 * `run`: both processes of the gateway, each begun again when it ends, without the other.
 *
 * For development, demonstrations and containers; systemd runs the two as units of their own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Call, type Command, textFlag } from '#shared/command-line/command.ts';
import { defaultConfigFile, environmentWith } from '../environment.ts';
import { leanAllocator } from '../system/lean-allocator.ts';

/** Beside this file's folder as source, beside the program in a bundle. */
const main = import.meta.url.endsWith('.ts') ? '../main.ts' : './main.js';
const program = fileURLToPath(new URL(main, import.meta.url));
/** A process that ends again and again is begun again at most so often. */
const againAfterMs = 1_000;
/** After this both are ended whatever they do. */
const stopWithinMs = 10_000;

export const command: Command = {
  usage: 'kannuki-gateway run [--config FILE]',
  options: {},
  wordsMax: 0,
  run: async (call) => {
    const { configOf } = await import('./gateway-call.ts');
    // A mistake in the file is said once, here, and not by two processes for ever.
    configOf(call);
    await Promise.all([keep('door', call), keep('edge', call)]);
    return 0;
  },
};

async function keep(name: 'door' | 'edge', { flags, terminal }: Call): Promise<void> {
  const config = textFlag({ words: [], flags, terminal }, 'config') ?? defaultConfigFile();
  const { signal } = terminal;
  while (!signal.aborted) {
    const child = spawn(process.execPath, [program, name, '--config', config], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      env: environmentWith(leanAllocator),
    });
    const stop = () => void end(child);
    signal.addEventListener('abort', stop, { once: true });
    const [code, by] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    signal.removeEventListener('abort', stop);
    if (signal.aborted) return;
    terminal.err(`${name} ended (${by ?? code}); it is begun again`);
    await pause(againAfterMs, undefined, { signal }).catch(() => {});
  }
}

async function end(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  await once(child, 'exit');
  clearTimeout(patience);
}
