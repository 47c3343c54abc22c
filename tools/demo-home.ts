/**
 * The folder of one demonstration: its lock, its keys, and where everything else is.
 *
 * One demonstration at a time in a folder; the lock of one that was killed is taken over. Keys are made at first start,
 * differ on every machine, and are never in the project.
 */
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Site } from '#gateway/simulator/site-file.ts';

const project = dirname(dirname(fileURLToPath(import.meta.url)));

export interface DemoHome {
  readonly dir: string;
  readonly configFile: string;
  readonly adminSocket: string;
  /** The simulated site's records, installed keys and socket. */
  readonly siteDir: string;
  readonly logFile: string;
  readonly cloudLogFile: string;
  /** Milliseconds by which the demonstration's clock stands off the machine's; absent = 0. */
  readonly clockFile: string;
}

export const demoFacilityDir = join(project, 'tools', 'demo-facility');
export const gatewayProgram = join(project, 'gateway', 'main.ts');

/** @param dir as given on the command line; `.demo` of the project otherwise. */
export function demoHome(dir: string | undefined): DemoHome {
  const home = dir === undefined ? join(project, '.demo') : resolve(dir);
  return {
    dir: home,
    configFile: join(home, 'gateway.yaml'),
    adminSocket: join(home, 'run', 'admin.sock'),
    siteDir: join(home, 'site'),
    logFile: join(home, 'gateway.log'),
    cloudLogFile: join(home, 'cloud.log'),
    clockFile: join(home, 'clock-step'),
  };
}

/** @returns the process that holds the folder already, or the function that gives it back. */
export function claimHome(home: DemoHome): { readonly heldBy: number } | { readonly release: () => void } {
  mkdirSync(home.dir, { recursive: true });
  const file = join(home.dir, 'lock');
  for (;;) {
    try {
      const lock = openSync(file, 'wx');
      writeSync(lock, `${process.pid} ${startOf(process.pid)}`);
      closeSync(lock);
      return { release: () => rmSync(file, { force: true }) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const [pid = '0', start] = readFileSync(file, 'utf8').split(' ');
    if (start !== undefined && startOf(Number(pid)) === start) return { heldBy: Number(pid) };
    rmSync(file, { force: true });
  }
}

/** When a process began, in the kernel's ticks; numbers are reused, the pair is not. Empty if it is gone. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** What Node is given so that a process ends when its parent is gone; it needs a channel to it. */
export const withParent: readonly string[] = [
  '--import',
  fileURLToPath(new URL('./demo-exit-with-parent.ts', import.meta.url)),
];

/** What was compiled, for the next start: it is run as it is, so the folder is its owner's alone. */
export function compiledFolder(home: DemoHome): string {
  const folder = join(home.dir, 'compiled');
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  return folder;
}

/** The environment of what the demonstration starts: programs are compiled once, at the first start. */
export function withCompileCache(home: DemoHome): NodeJS.ProcessEnv {
  return { NODE_COMPILE_CACHE: compiledFolder(home), ...process.env };
}

/** Makes the keys that are missing. */
export function prepareKeys(home: DemoHome, site: Site): void {
  mkdirSync(join(home.dir, 'keys'), { recursive: true, mode: 0o700 });
  for (const { key } of site.peripherals) {
    if (typeof key === 'string' || 'hex' in key) continue;
    const file = join(home.dir, key.file);
    if (!existsSync(file)) writeFileSync(file, `${randomBytes(16).toString('hex')}\n`, { mode: 0o600 });
  }
}
