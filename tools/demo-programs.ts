/**
 * The programs that the demonstration runs: from their sources at first, as one file each from the next start on.
 *
 * To find and compile several hundred source files takes longer than all else of a start. So what is shipped is bundled when
 * the demonstration is up and nobody waits for it. A bundle counts only while every source is as it was; where there is none,
 * or it cannot be written, the sources are run.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withParent } from './demo-home.ts';

export interface DemoPrograms {
  readonly gateway: string;
  /** Plays one simulated line. */
  readonly line: string;
  readonly cloud: string;
  readonly areBundled: boolean;
}

const project = fileURLToPath(new URL('..', import.meta.url));
/** Below the project, so that packages are found from there. */
const cache = join(project, 'node_modules', '.cache', 'kannuki-demo');
const bundledWithinMs = 600_000;
const sources = ['gateway', 'cloud', 'shared', 'firmware-protocol'];
const others = ['package.json', 'package-lock.json', 'tools/bundle.ts'];

export function findPrograms(): DemoPrograms {
  const folder = bundleFolder();
  if (existsSync(folder)) {
    const at = (name: string) => join(folder, name);
    return {
      gateway: at('gateway/main.js'),
      line: at('gateway/line-process.js'),
      cloud: at('cloud/main.js'),
      areBundled: true,
    };
  }
  const at = (name: string) => join(project, name);
  return {
    gateway: at('gateway/main.ts'),
    line: at('gateway/simulator/line-process.ts'),
    cloud: at('cloud/main.ts'),
    areBundled: false,
  };
}

/** Bundles for later starts, in a process that yields to every other and ends with this one at the latest. @returns what ends it. */
export function bundleInBackground(): () => void {
  const child = spawn(process.execPath, [...withParent, fileURLToPath(import.meta.url)], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // A start without bundles is only slower.
  child.on('error', () => undefined);
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  child.unref();
  child.channel?.unref();
  return () => child.kill();
}

/** Makes the bundles of the sources as they are now; former ones go. */
async function bundlePrograms(): Promise<void> {
  const folder = bundleFolder();
  mkdirSync(cache, { recursive: true });
  const part = mkdtempSync(join(cache, 'part-'));
  try {
    const { bundleCloud, bundleGateway } = await import('./bundle.ts');
    await bundleGateway(join(part, 'gateway'));
    await bundleCloud(join(part, 'cloud'));
    // What changed meanwhile is in some of it, perhaps.
    if (bundleFolder() !== folder || existsSync(folder)) return;
    for (const name of readdirSync(cache))
      if (!isUnderWay(name)) rmSync(join(cache, name), { recursive: true, force: true });
    renameSync(part, folder);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
}

/** Another demonstration's, unless it is so old that its process was ended. */
const isUnderWay = (name: string): boolean =>
  name.startsWith('part-') && statSync(join(cache, name)).mtimeMs > Date.now() - bundledWithinMs;

/** Named after every source's path, size and time of change. */
function bundleFolder(): string {
  const digest = createHash('sha256').update(process.version);
  for (const folder of sources) {
    const names = readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.toSorted()) digest.update(stamp(join(folder, name)));
  }
  for (const name of others) digest.update(stamp(name));
  return join(cache, digest.digest('hex').slice(0, 32));
}

function stamp(name: string): string {
  const { size, mtimeMs } = statSync(join(project, name));
  return `${name} ${size} ${mtimeMs}\n`;
}

if (import.meta.main) await bundlePrograms();
