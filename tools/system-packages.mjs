// What tests need from the operating system: found, or installed where that is possible, or named clearly.
import { spawnSync } from 'node:child_process';

const wanted = [
  { command: 'socat', package: 'socat', why: 'a real serial line (a pair of pseudo-terminals)' },
  { command: '/usr/lib/postgresql/15/bin/postgres', package: 'postgresql-15', why: 'the oldest PostgreSQL we promise' },
  { command: 'cc', package: 'gcc libc6-dev', why: 'the power-cut recorder' },
];

const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`]).status === 0;
const missing = wanted.filter(({ command }) => !has(command));
if (missing.length > 0) {
  for (const part of missing) console.error(`installing ${part.package}: ${part.why}`);
  const names = missing.flatMap((part) => part.package.split(' '));
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  const run = (...args) => {
    const [command, ...rest] = [...asRoot, ...args];
    return (
      spawnSync(command, rest, {
        stdio: ['ignore', 'ignore', 'inherit'],
        env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      }).status === 0
    );
  };
  run('apt-get', 'update', '-qq');
  run('apt-get', 'install', '-y', '-qq', '--no-install-recommends', ...names);
  const still = missing.filter(({ command }) => !has(command));
  for (const part of still) console.error(`${part.command} is missing (${part.why}): install ${part.package}`);
  process.exitCode = still.length > 0 ? 1 : 0;
}
