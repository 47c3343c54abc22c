// Runs under whatever Node started npm (20 or later), before any dependency exists: built-in modules only.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => join(root, ...parts);
const digest = createHash('sha256');
for (const file of ['package.json', 'package-lock.json']) digest.update(readFileSync(at(file)));
const wanted = digest.update(`${process.platform}-${process.arch}`).digest('hex');
const stamp = at('node_modules', '.installed');
const node = at('node_modules', '.bin', 'node');
const isCurrent = () => existsSync(stamp) && existsSync(node) && readFileSync(stamp, 'utf8') === wanted;
const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const pause = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** One installation at a time; a lock whose owner is gone is taken over. */
const takeLock = (path) => {
  for (let tries = 0; tries < 1200; tries += 1) {
    try {
      const fd = openSync(path, 'wx');
      writeSync(fd, String(process.pid));
      closeSync(fd);
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const owner = Number(existsSync(path) ? readFileSync(path, 'utf8') : 0);
    if (owner && !isAlive(owner)) rmSync(path, { force: true });
    if (tries === 0) console.error(`waiting for the installation of process ${owner}`);
    pause(500);
  }
  throw new Error(`${path} is held for 10 minutes`);
};

const install = () => {
  // Outer npm_config_* (omit, ignore-scripts, loglevel) and NODE_ENV must not shape this install.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$)/i.test(name)),
  );
  env.PATH = env.PATH.split(':')
    .filter((folder) => !folder.endsWith('node_modules/.bin') && !folder.endsWith('node-gyp-bin'))
    .join(':');
  console.error('installing dependencies (about 20 s)');
  const { status, error } = spawnSync('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    env,
    stdio: 'inherit',
  });
  if (error || status !== 0) throw new Error(`npm ci failed (${error?.message ?? status})`);
  if (!existsSync(node)) {
    // npm 10 makes no link where two optional packages share a bin name
    mkdirSync(dirname(node), { recursive: true });
    rmSync(node, { force: true });
    symlinkSync(`../node-${process.platform}-${process.arch}/bin/node`, node);
  }
  const version = spawnSync(node, ['-p', 'process.version'], { encoding: 'utf8' }).stdout?.trim();
  if (!version?.startsWith('v24.'))
    throw new Error(`no Node 24 for ${process.platform}-${process.arch} (found ${version})`);
  writeFileSync(stamp, wanted);
};

if (!isCurrent()) {
  const lock = at('.bootstrap.lock');
  takeLock(lock);
  try {
    if (!isCurrent()) install();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  } finally {
    rmSync(lock, { force: true });
  }
}
